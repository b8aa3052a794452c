import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openConnectProxy } from '../support/connect-proxy.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const HOST = 'api.example.test';
const PASSWORD = 'canary-7c2e91';

test('a proxy that is silent, refuses, and dies in the middle of calls costs no order and doubles none', async () => {
  const faults = { faults: [{ kind: 'delay', when: 'after', by: '20ms' }] };
  // The silence of the proxy lasts as long as a call may take.
  const pace =
    'settle: 1s, timeout: 2s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 200ms, max: 1s }';
  await using place = await openWorkplace({ faults, pace });
  const { port } = new URL(place.api.baseUrl);
  await using proxy = await openConnectProxy({
    credentials: `erp:${PASSWORD}`,
    hosts: { [HOST]: Number(port) },
  });
  const text = await readFile(place.config, 'utf8');
  const addressed = text
    .replaceAll(`http://127.0.0.1:${port}`, `http://${HOST}`)
    .replace(/(authUrl: '[^']+')/, '$1, plainHttp: true');
  await writeFile(place.config, addressed);
  await writeFile(path.join(place.folder, 'password'), PASSWORD, { mode: 0o600 });
  const env = {
    HTTP_PROXY: proxy.url,
    PO_SYNC_STAGING_PROXY_USER: 'erp',
    PO_SYNC_STAGING_PROXY_PASSWORD_FILE: path.join(place.folder, 'password'),
  };
  const status = async () => (await place.run(['status', '--json'], env)).out;

  // The daemon starts without a token and waits.
  proxy.mood = 'bad gateway';
  const { child, ended, out } = place.spawn(['start'], env);
  await place.drop('orders.csv', csvOf(600));
  await until('the refusal of the proxy is shown', async () =>
    (await status()).includes('refuses a tunnel'),
  );
  expect(place.stored().size).toBe(0);

  proxy.mood = 'tunnel';
  await until('some orders', () => place.stored().size > 50);
  for (let time = 1; time <= 3; time += 1) {
    const before = place.stored().size;
    proxy.dropAll();
    await until('more orders', () => place.stored().size > before + 50);
  }
  proxy.mood = 'silent';
  proxy.dropAll();
  await until('the silence of the proxy is shown', async () =>
    (await status()).includes('did not open a tunnel'),
  );
  proxy.mood = 'tunnel';
  await until(
    'the batch is finished',
    async () => (await place.reportsNow())[0]?.state === 'finished',
  );

  expect(place.stored().size).toBe(600);
  expect([...place.stored()].filter(([, times]) => times !== 1)).toEqual([]);
  const [report] = await place.reportsNow();
  expect(report?.counts).toMatchObject({ orders: 600, accepted: 600 });
  // Every request came through a tunnel, and nobody shows the password.
  expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${HOST}:80 HTTP/1.1`]));
  const shown = (await place.run(['doctor'], env)).out;
  const config = (await place.run(['config', 'show'], env)).out;
  child.kill('SIGTERM');
  await ended;
  for (const printed of [out(), shown, config]) {
    expect(printed).not.toContain(PASSWORD);
    expect(printed).not.toContain(Buffer.from(`erp:${PASSWORD}`).toString('base64'));
  }
});
