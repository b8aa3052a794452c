import { expect, it } from 'vitest';
import type { Seen } from '../../src/api/classify.ts';
import type { TokenSource } from '../../src/api/token.ts';
import type { CircuitBreaker } from '../../src/deliver/circuit-breaker.ts';
import { createPauseRules } from '../../src/deliver/pause-rules.ts';
import type { PauseCause } from '../../src/ledger/pause-cause.ts';
import { asText } from '../../src/order/sentence.ts';
import type { RedisTime } from '../../src/redis/time.ts';
import { pauseText } from '../../src/wording/pause.ts';
import { policy } from '../support/entry.ts';

/** Rules while other orders are accepted, and what they do to the breaker. */
function rules() {
  const trips: [reason: string, wait: number | undefined][] = [];
  const breaker = {
    acceptedSince: async () => true,
    accepted: async () => undefined,
    reset: async () => undefined,
    trip: async (cause: PauseCause, wait?: number) => trips.push([asText(pauseText(cause)), wait]),
  } as unknown as CircuitBreaker;
  const time = { now: () => 1_000_000 } as RedisTime;
  const tokens = { accepted: () => undefined } as unknown as TokenSource;
  const { note } = createPauseRules({
    breaker,
    tokens,
    time,
    policy: { ...policy, attempts: 6 },
    firstTry: 5_000,
    slowDown: async () => undefined,
  });
  const sign = { token: { value: '', fingerprint: '' }, began: 0 } as unknown as Omit<
    Parameters<typeof note>[0],
    'seen' | 'pass'
  >;
  return {
    trips,
    note: (seen: Seen, pass: 'closed' | 'probe' = 'closed') => note({ ...sign, seen, pass }),
  };
}

const said = { httpStatus: 503, code: '503', message: 'busy' };
const busy = (seconds?: number): Seen => ({
  kind: 'busy',
  said,
  everyone: false,
  ...(seconds === undefined ? {} : { retryAfter: seconds * 1_000 }),
});
const asked = 'busy (HTTP 503); the API asks to wait 120 s';

it('the longest wait of a burst counts, and answers that arrive later do not shorten it', async () => {
  const { note, trips } = rules();
  for (const seconds of [10, 120, undefined, 10, 30, 10]) await note(busy(seconds));
  expect(trips).toEqual([
    [asked, 120_000],
    [asked, 120_000],
  ]);
});

it('a wait from before an order was accepted does not count', async () => {
  const { note, trips } = rules();
  await note(busy(120));
  await note({ kind: 'accepted' });
  for (let failures = 0; failures < 5; failures += 1) await note(busy());
  expect(trips).toEqual([['busy (HTTP 503)', 5_000]]);
});

it('a wait that a person ended does not come back with the next failure', async () => {
  const { note, trips } = rules();
  for (let failures = 0; failures < 5; failures += 1) await note(busy(120));
  await note(busy(), 'probe');
  expect(trips).toEqual([
    [asked, 120_000],
    ['busy (HTTP 503)', 5_000],
  ]);
});
