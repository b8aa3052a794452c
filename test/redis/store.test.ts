import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openStore } from '../../src/redis/store.ts';
import { capturedLog } from '../support/captured-log.ts';
import { configOf } from '../support/config-text.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

it('the log says when Redis works again, once for each outage', async () => {
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
