import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createCircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { OPERATOR } from '../../src/ledger/pause-cause.ts';
import { countedList, learnFrom } from '../../src/reconcile/reconciliation.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { entryOf } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';
import { answered, byOperator } from '../support/pause.ts';

const HOUR = 3_600_000;

/** A breaker that tripped, with the next try in an hour, and what it learns from an order sent so long after it tripped. */
async function openPaused() {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openTestRedis());
  const nothing = () => undefined;
  const probe = { initial: 250, max: HOUR };
  const open = () =>
    createCircuitBreaker({
      store,
      clock: systemClock,
      probe,
      onPaused: nothing,
      onResumed: nothing,
    });
  const [breaker, other] = [open(), open()];
  await breaker.trip(answered('api-down', 'no complete answer'), HOUR);
  const since = breaker.current()?.since ?? 0;
  const learn = learnFrom(breaker, store.time);
  const learnOfOrder = (after: number, wasCreated: boolean) =>
    learn({ ...entryOf(), state: 'unknown', maybeSentAt: since + after }, wasCreated);
  const waits = () => (breaker.current()?.nextTryAt ?? 0) > store.time.now();
  const moved = stack.move();
  return { breaker, other, learnOfOrder, waits, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

it('a list that shows an order sent during a pause lets one order try at once, and does not end the pause', async () => {
  await using paused = await openPaused();
  expect(paused.waits()).toBe(true);
  await paused.learnOfOrder(1, true);
  expect(paused.waits()).toBe(false);
  expect(paused.breaker.current()).toMatchObject({ code: 'api-down' });
  expect(await paused.breaker.pass(new AbortController().signal)).toBe('probe');
  await paused.breaker.refresh(true);
  expect(paused.waits()).toBe(true);
});

it('an order that was sent before the pause, or that the list does not show, changes no wait', async () => {
  await using paused = await openPaused();
  await paused.learnOfOrder(-1, true);
  await paused.learnOfOrder(1, false);
  expect(paused.waits()).toBe(true);
});

it('a wait that the API asked for and a pause by an operator stay', async () => {
  await using paused = await openPaused();
  await paused.breaker.slowDown(HOUR);
  await paused.learnOfOrder(1, true);
  expect(paused.waits()).toBe(true);
  expect(paused.breaker.slowUntil()).toBeGreaterThan(0);
  await paused.breaker.lift();
  await paused.breaker.hold(byOperator('mia', 'maintenance'));
  await paused.learnOfOrder(HOUR, true);
  expect(paused.breaker.current()).toMatchObject({ code: OPERATOR, held: true });
});

it('a wait that the API asked another daemon for a moment ago stays', async () => {
  await using paused = await openPaused();
  await paused.other.slowDown(HOUR);
  await paused.learnOfOrder(1, true);
  await paused.breaker.refresh(true);
  expect(paused.breaker.slowUntil()).toBeGreaterThan(0);
});

it('reads of the list come before orders that wait for their turn, and keep to the rate limit', async () => {
  await using store = await openTestRedis();
  const slept: number[] = [];
  let now = 0;
  const clock = {
    ...systemClock,
    monotonic: () => now,
    sleep: async (ms: number) => {
      slept.push(ms);
      now += ms;
    },
  };
  const { config } = configOf(LEAST.replace(' }\n', ', rateLimit: { max: 10, per: 1s } }\n'));
  const context = { store, clock, config, stopping: new AbortController().signal };
  await store.redis.hset(store.keys.rate, 'due', (store.time.now() + HOUR) * 1000);
  const list = countedList(context, { list: async () => ({ kind: 'complete', orders: 0 }) });
  for (let reads = 0; reads < 4; reads += 1) await list(() => undefined);
  expect(slept).toEqual([100, 100]);
});
