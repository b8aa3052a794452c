import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { until } from '../support/until.ts';

it('an order that won a try but needs none hands it to the next one that waits, without its wait', async () => {
  await using store = await openTestRedis();
  /** Only a signal ends a sleep. */
  const sleep = (_: number, signal?: AbortSignal) =>
    new Promise<void>((end) => {
      if (signal?.aborted) end();
      signal?.addEventListener('abort', () => end(), { once: true });
    });
  const breaker = createCircuitBreaker({
    store,
    clock: { ...systemClock, sleep },
    probe: { initial: 60_000, max: 60_000 },
    onPaused: () => undefined,
    onResumed: () => undefined,
  });
  await breaker.start(true);
  const stop = new AbortController();
  expect(await breaker.pass(stop.signal)).toBe('probe');
  let won = 0;
  const cancelled = Array.from({ length: 20 }, async () => {
    const pass = await breaker.pass(stop.signal);
    if (pass === 'probe') won += 1;
    return pass;
  });
  for (let turn = 1; turn <= cancelled.length; turn += 1) {
    const next = async () => {
      if (won < turn) await breaker.passOn();
      return won >= turn;
    };
    await until(`try ${turn}`, next);
  }
  stop.abort();
  expect(await Promise.all(cancelled)).toEqual(cancelled.map(() => 'probe'));
});
