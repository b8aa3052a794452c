import { expect, it } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { openHttp } from '../../../src/core/http.ts';
import { checkPartner } from '../../../src/operate/doctor/check-partner.ts';
import { configOf, LEAST } from '../../support/config-text.ts';
import { envelope, granted } from '../../support/odd-api.ts';
import { openWebServer } from '../../support/web-server.ts';

const key = new Secret('key-of-the-company');

/** What doctor finds at an API whose list answers `status`; of its token endpoint, if that answers another `tokenStatus`. */
async function findingOf(status: number, path = '/api/v1', tokenStatus = 200) {
  await using server = await openWebServer(({ url = '', headers }, response) => {
    const isToken = url.startsWith('/oauth');
    response.writeHead(isToken ? tokenStatus : status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        isToken
          ? Object.assign({ error: 'x', error_description: key.reveal() }, granted('x'))
          : envelope(status, `key ${String(headers['x-key'])}`),
      ),
    );
  });
  await using http = openHttp({ connections: 1 });
  const url = `http://127.0.0.1:${server.port}`;
  const environment = configOf(LEAST).config.environments['staging'];
  if (environment === undefined) throw new Error('no environment');
  const findings = await checkPartner({
    http,
    clock: systemClock,
    name: 'staging',
    environment: { ...environment, baseUrl: `${url}${path}`, authUrl: url },
    secrets: {
      credentials: { clientId: 'id', clientSecret: 'secret' },
      headers: { sent: new Map([['X-Key', key]]), hidden: [key] },
    },
    timeout: 10_000,
  });
  return findings.find(({ check }) => check === (tokenStatus === 200 ? 'API' : 'token'));
}

it.each([
  [403, 'Check that the credentials have the scope read, then baseUrl.'],
  [404, 'Check baseUrl, and that the credentials have the scope read.'],
  [405, 'Check baseUrl, and that the credentials have the scope read.'],
])('an API whose list answers %i has the remedy of that status', async (status, remedy) => {
  expect(await findingOf(status)).toMatchObject({
    state: 'warn',
    remedy: expect.stringContaining(remedy),
  });
});

it('the list is read with the declared headers, and no finding shows their values', async () => {
  expect(await findingOf(403)).toMatchObject({
    message: expect.stringContaining('does not offer its list (key [redacted])'),
  });
});

it.each(['/api', '/api/v2', ''])(
  'an API that answers 404 at the address %j fails, because no order can be delivered',
  async (path) => {
    const finding = await findingOf(404, path);
    expect(finding).toMatchObject({
      state: 'fail',
      remedy: expect.stringMatching(/^Correct baseUrl/),
    });
    expect(finding?.message).toMatch(/HTTP 404.*does not end with \/api\/v1/);
  },
);

it.each([403, 405, 501])(
  'an address without the prefix that answers %i may be right',
  async (status) => {
    expect(await findingOf(status, '/purchasing')).toMatchObject({ state: 'warn' });
  },
);

it.each([
  [429, /^It limits requests\. The daemon tries again/],
  [503, /^It is in trouble\. The daemon tries again/],
  [302, /^Check authUrl and token\.path of the environment; /],
])(
  'a token endpoint that answers %i has the remedy of that status, and shows no header',
  async (status, remedy) => {
    const found = await findingOf(200, '/api/v1', status);
    expect(found).toMatchObject({ state: 'fail', remedy: expect.stringMatching(remedy) });
    expect(found?.message).toContain('[redacted]');
  },
);
