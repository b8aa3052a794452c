import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openStore, requireFormat } from '../../src/redis/store.ts';
import { capturedLog } from '../support/captured-log.ts';
import { configOf } from '../support/config-text.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

it('the log says when redis back, once for each outage', async () => {
  await using server = await startTestRedis();
  const { config } = configOf(`environment: staging
environments:
  staging: { baseUrl: 'https://api.example.com/api/v1', authUrl: 'https://auth.example.com' }
sources:
  - { name: inbox, type: inbox, path: inbox }
redis: { url: '${server.url}' }
`);
  const { log, lines } = capturedLog();
  await using store = await openStore(config, { clock: systemClock, log });
  const back = () => lines.filter(({ event }) => event === 'redis-back');
  await store.redis.set(store.keys.readiness, '1');
  expect(back()).toEqual([]);
  await server.kill();
  await until('the trouble', () => lines.some(({ event }) => event === 'redis-trouble'));
  await server.restart();
  await until('the return', () => back().length > 0);
  expect(lines.map(({ event }) => event)).toEqual(
    expect.arrayContaining(['redis-trouble', 'redis-back']),
  );
  expect(lines.findIndex(({ event }) => event === 'redis-trouble')).toBeLessThan(
    lines.findIndex(({ event }) => event === 'redis-back'),
  );
  expect(back()).toMatchObject([{ level: 'info', durationMs: expect.any(Number) }]);
});

it('a ledger is for one address and one way to compare numbers, until a person keeps or empties it', async () => {
  await using server = await startTestRedis();
  const { log } = capturedLog();
  const at = (host: string, numbers: string, change?: 'sameApi' | 'newLedger') => {
    const { config } = configOf(`environment: staging
environments:
  staging: { baseUrl: 'https://${host}/api/v1', authUrl: 'https://${host}', numbers: ${numbers} }
sources:
  - { name: inbox, type: inbox, path: inbox }
redis: { url: '${server.url}' }
`);
    const opening = openStore(config, { clock: systemClock, log, change });
    return opening.then((store) => Object.assign(store, { config }));
  };
  const refused = { code: 'ledger-of-another-api' };
  await using first = await at('a.example.com', 'canonical');
  await first.redis.hset(first.keys.settled('PO-1'), 'PO-1', 'x');
  await expect(at('b.example.com', 'canonical')).rejects.toMatchObject(refused);
  await expect(at('a.example.com', 'exact')).rejects.toMatchObject(refused);
  await using moved = await at('b.example.com', 'canonical', 'sameApi');
  expect(await moved.redis.hexists(moved.keys.settled('PO-1'), 'PO-1')).toBe(1);
  // A daemon that still runs with the former address.
  await expect(requireFormat(first)).rejects.toMatchObject(refused);
  await expect(at('b.example.com', 'exact', 'sameApi')).rejects.toMatchObject(refused);
  await using empty = await at('b.example.com', 'exact', 'newLedger');
  expect(await empty.redis.exists(empty.keys.settled('PO-1'))).toBe(0);
  expect(empty.keys.open('po-007')).toContain('po-007');
});
