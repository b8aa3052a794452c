import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openApi } from '../../src/sandbox/openapi.ts';
import { exchange } from '../support/exchange.ts';
import { openSandbox } from '../support/open-sandbox.ts';
import { settingsWith } from './conformance/conform.ts';

test('an independent validator accepts docs/openapi.yaml', async () => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const lint = await promisify(execFile)(
    'node_modules/.bin/redocly',
    ['lint', '--format=json', 'docs/openapi.yaml'],
    { env },
  );
  expect(JSON.parse(lint.stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
});

test('a running sandbox serves its own document without a token', async () => {
  const options = { listShape: 'array', listItems: false, tokenPath: '/oauth/token' } as const;
  await using sandbox = await openSandbox(options);
  const { status, json } = await exchange('GET', `${sandbox.authUrl}/openapi.json`);
  expect(status).toBe(200);
  const { baseUrl, authUrl } = sandbox;
  expect(json).toEqual(openApi({ baseUrl, authUrl }, settingsWith(options)));
  expect(json).toMatchObject({
    servers: [{ url: baseUrl }],
    paths: { '/oauth/token': { servers: [{ url: authUrl }] } },
    components: {
      schemas: { ListEnvelope: { properties: { data: { type: 'array' } } } },
      securitySchemes: {
        clientCredentials: { flows: { clientCredentials: { tokenUrl: `${authUrl}/oauth/token` } } },
      },
    },
  });
});
