import { once } from 'node:events';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const TOKEN = 'token-of-operators';
const PAGES = [
  '/',
  '/batches',
  '/dead-letters',
  '/upload',
  '/sources',
  '/environment',
  '/for-clerks',
  '/api/v1/status',
  '/api/v1/batches',
  '/api/v1/dead-letters',
];

it('while Redis is full, every page is there for who is signed in', async () => {
  await using server = await startTestRedis();
  await using place = await openWorkplace({
    redis: server.url,
    env: { PO_SYNC_ADMIN_TOKEN: TOKEN },
  });
  await using stack = new AsyncDisposableStack();
  const redis = await connectRedis(server.adminUrl);
  stack.defer(() => redis.disconnect());
  const daemon = place.start(['start']);
  const port = Number(await until('ready', () => /"adminPort":(\d+)/.exec(daemon.out())?.[1]));

  async function call(path: string, headers: Record<string, string>, body?: string) {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer;
  }

  await place.drop('orders.csv', `${csvOf(3)}PO-9,NEW,,1\n`);
  const report = await until('the report', async () =>
    (await place.reportsNow()).find(({ state }) => state === 'finished'),
  );
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const signIn = JSON.stringify({ token: TOKEN, name: 'anna' });
  const signedIn = await call('/api/v1/session', headers, signIn);
  const cookie = String(signedIn.headers['set-cookie']).split(';', 1)[0] ?? '';

  await redis.config('SET', 'maxmemory', '1');
  const pages = [...PAGES, `/batches/${report.batch}`];
  const statuses = async () =>
    Promise.all(
      pages.map(async (to) => [to, (await call(to, { cookie, accept: 'text/html' })).statusCode]),
    );
  // A list that is being read answers 503 until it is.
  const settled = await until('the lists', async () => {
    const found = await statuses();
    return found.every(([, status]) => status !== 503) && found;
  });
  await redis.config('SET', 'maxmemory', '0');
  expect(settled).toEqual(pages.map((to) => [to, 200]));
});
