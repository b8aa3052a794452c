import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNetwork } from '../../../src/config/network.ts';
import { checkNetwork } from '../../../src/operate/doctor/check-network.ts';
import { type Certificate, HAS_OPENSSL, openAuthority } from '../../support/certificates.ts';
import { configOf } from '../../support/config-text.ts';
import { openConnectProxy } from '../../support/connect-proxy.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const DAY = 86_400_000;

let stack: AsyncDisposableStack;
let folder: string;
let authority: Awaited<ReturnType<typeof openAuthority>>;
let client: Certificate;
let port: number;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  if (!HAS_OPENSSL) return;
  folder = stack.use(await makeTempFolder()).path;
  authority = await openAuthority(folder);
  client = await authority.issue('client', { names: ['po-sync'] });
  const { cert, key } = await authority.issue('server', {
    names: ['localhost', 'api.example.test'],
  });
  const server = createServer(
    { cert: await readFile(cert), key: await readFile(key) },
    (_, response) => response.end(),
  );
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
});

afterAll(() => stack.disposeAsync());

/** What is found, by check: state, message and remedy. */
async function check(
  host: string,
  tls: Record<string, string>,
  env: Record<string, string> = {},
  now = Date.now() + 1_000,
) {
  const address = `https://${host}`;
  const { config } = configOf(`environment: staging
environments:
  staging: ${JSON.stringify({ baseUrl: `${address}/api/v1`, authUrl: address, tls })}
sources:
  - { name: inbox, type: inbox, path: ../inbox }
  - { name: erp, type: export, path: '${address}/orders.csv' }
notify:
  - { on: [paused], webhook: '${address}/hook', tls: { caFile: ${authority.caFile} } }
`);
  const found = await checkNetwork(config, await loadNetwork(config, env), now);
  return found.map(({ check: name, state, message, remedy = '' }) =>
    `${state} ${name}: ${message} ${remedy}`.trim(),
  );
}

describe.skipIf(!HAS_OPENSSL)('the network', () => {
  it('is checked to the API, exports and webhooks, each with its own certificates', async () => {
    const found = await check(`localhost:${port}`, { caFile: authority.caFile });
    expect(found).toEqual([
      expect.stringMatching(
        /^warn CA certificates of API: .*ca\.pem: CN=ca; expires on \d{4}-\d\d-\d\d Replace/,
      ),
      expect.stringMatching(/^warn CA certificates of webhook: /),
      expect.stringMatching(
        new RegExp(`^warn connection to API: localhost:${port} answers, TLSv1\\.3; expires on`),
      ),
      expect.stringMatching(
        /^fail connection to export erp: .* cannot be verified: .* tls\.caFile/,
      ),
      expect.stringMatching(/^warn connection to webhook: /),
    ]);
  });

  it('is checked to a webhook without TLS too, because no other check calls it', async () => {
    const { config } = configOf(`environment: staging
environments:
  staging: { baseUrl: 'http://127.0.0.1:1/api/v1', authUrl: 'http://127.0.0.1:1' }
sources: [{ name: inbox, type: inbox, path: ../inbox }]
notify:
  - { on: [paused], webhook: 'http://127.0.0.1:1/s3cret' }
`);
    const [found, ...others] = await checkNetwork(
      config,
      await loadNetwork(config, {}),
      Date.now(),
    );
    expect(found).toMatchObject({ check: 'connection to webhook', state: 'fail' });
    expect(found?.message).toMatch(/ECONNREFUSED(?!.*s3cret)/);
    expect(others).toEqual([]);
  });

  it('is fine when certificates are valid for long, and fails when one has expired or a file is missing', async () => {
    const files = { caFile: authority.caFile, certFile: client.cert, keyFile: client.key };
    const lasting = await authority.issue('lasting', {
      names: ['po-sync'],
      until: '20990101000000Z',
    });
    const long = await check(`localhost:${port}`, {
      ...files,
      certFile: lasting.cert,
      keyFile: lasting.key,
    });
    expect(long.find((one) => one.includes('certificate for API'))).toMatch(
      /^ok .*certificate valid until 2099-01-01$/,
    );
    const late = await check(`localhost:${port}`, files, {}, Date.now() + 10 * DAY);
    expect(late.find((one) => one.includes('certificate for API'))).toMatch(
      /^fail .*CN=po-sync; expired on/,
    );
    const early = await check(`localhost:${port}`, files, {}, Date.now() - 10 * DAY);
    expect(early.find((one) => one.includes('certificate for API'))).toMatch(
      /^fail .*not valid before .*clock/,
    );
    const absent = check(`localhost:${port}`, { caFile: path.join(folder, 'absent.pem') });
    await expect(absent).rejects.toMatchObject({ code: 'tls-file-unreadable' });
  });

  it('shows the proxy, without its password, and why it opens no tunnel', async () => {
    await using proxy = await openConnectProxy({
      credentials: 'erp:s3cret',
      hosts: { 'api.example.test': port },
    });
    const env = (password: string) => ({
      HTTPS_PROXY: proxy.url.replace('//', `//erp:${password}@`),
    });
    const tls = { caFile: authority.caFile };
    const { host } = new URL(proxy.url);
    const good = await check('api.example.test', tls, env('s3cret'));
    expect(good.find((one) => one.includes('connection to API'))).toContain(
      `api.example.test answers through the proxy ${host}`,
    );
    const bad = await check('api.example.test', tls, env('wr0ng'));
    expect(bad.find((one) => one.includes('connection to API'))).toMatch(
      /^fail .*refuses the user name and the password .*_PROXY_PASSWORD/,
    );
    expect([...good, ...bad].join()).not.toMatch(/s3cret|wr0ng/);
  });
});
