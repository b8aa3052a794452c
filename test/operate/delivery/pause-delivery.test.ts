import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Pause } from '../../../src/deliver/breaker-view.ts';
import {
  createCircuitBreaker,
  createEnvironmentBreaker,
} from '../../../src/deliver/circuit-breaker.ts';
import { endOf } from '../../../src/deliver/pause-rules.ts';
import { createBatches } from '../../../src/ledger/batches/batches.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import {
  pauseDelivery,
  pauseJson,
  resumeDelivery,
} from '../../../src/operate/delivery/pause-delivery.ts';
import { withTest } from '../../../src/operate/delivery/read-status.ts';
import { createOperator } from '../../../src/operate/operator-context.ts';
import { asText } from '../../../src/order/sentence.ts';
import type { Context } from '../../../src/redis/store.ts';
import { pauseEndText } from '../../../src/views/pause.ts';
import { pausedText } from '../../../src/wording/pause.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { entryOf, orderOf } from '../../support/entry.ts';
import { type OpenRedis, openTestRedis } from '../../support/open-redis.ts';
import { answered, byOperator } from '../../support/pause.ts';

let store: OpenRedis;
beforeAll(async () => {
  store = await openTestRedis();
});
beforeEach(async () => {
  await store.redis.flushall();
});
afterAll(() => store[Symbol.asyncDispose]());

function openContext() {
  const onChange = () => undefined;
  const { redis, keys, identity } = store;
  return {
    config: { environment: 'test', data: 'no-such-folder' },
    breaker: createCircuitBreaker({
      store,
      clock: systemClock,
      probe: { initial: 60_000, max: 60_000 },
      onPaused: onChange,
      onResumed: onChange,
    }),
    store: {
      ...store,
      plain: redis,
      private: false,
      isSteady: () => true,
      [Symbol.asyncDispose]: async () => undefined,
    },
    batches: createBatches({ redis, keys, owner: 'me' }),
    ledger: createLedger({ redis, keys, identity, onOutcome: onChange }),
    operator: createOperator({ USER: 'anna' }, store.time),
  };
}

it('the log names each new reason of a pause, with growing gaps for the same change, and the last one at its end', async () => {
  const { log, lines } = capturedLog();
  const delivery = { probe: { initial: 60_000, max: 60_000 } };
  const config = { environment: 'staging', delivery } as Context['config'];
  const context = { config, store, clock: systemClock, log } as unknown as Context;
  const breaker = createEnvironmentBreaker(context);
  const seen = () =>
    lines.splice(0).map((line) => {
      const { level: _, time: _t, msg: _m, ...facts } = line;
      return facts;
    });
  await breaker.trip(answered('token-not-accepted', 'Unauthorized.'));
  await breaker.trip(answered('token-not-accepted', 'Unauthorized again.'));
  await breaker.trip(answered('http-500', 'Internal error.'));
  await breaker.trip({
    code: 'http-429',
    facts: { says: 'Too many', answer: 'http-429', askedMs: 9_000 },
  });
  const environment = 'staging';
  expect(seen()).toEqual([
    { event: 'delivery-paused', environment, code: 'token-not-accepted', reason: 'Unauthorized' },
    {
      event: 'delivery-pause-changed',
      environment,
      code: 'http-500',
      reason: 'Internal error',
      formerCode: 'token-not-accepted',
    },
    {
      event: 'delivery-pause-changed',
      environment,
      code: 'http-429',
      reason: 'Too many; the API asks to wait 9 s',
      formerCode: 'http-500',
    },
  ]);
  for (const reason of ['one', 'two', 'three']) {
    await breaker.trip(answered('http-500', reason));
    await breaker.trip(answered('http-429', `${reason} later`));
  }
  // http-429 → http-500 is new; http-500 → http-429 was logged already.
  expect(seen()).toMatchObject([
    { event: 'delivery-pause-changed', code: 'http-500', reason: 'one' },
  ]);
  await breaker.reset();
  expect(seen()).toMatchObject([
    { event: 'delivery-resumed', code: 'http-429', reason: 'three later' },
  ]);
});

it.each(['Rehearsed status 401.', 'Try again; ', 'wait: ', 'plain', 'Slow down. …  '])(
  'a pause for the reason %j is one clause',
  (reason) => {
    const pause = { ...answered('http-401', reason), since: 0 };
    expect(`${asText(pausedText(pause, 6_000))}; more`).not.toMatch(/[.;:,]\s*;/);
    const byPerson = { ...byOperator('anna', reason), since: 0 };
    expect(`${asText(pausedText(byPerson, 6_000))}; more`).not.toMatch(/[.;:,]\s*;/);
  },
);

it("resume ends an operator's pause, whose reason names the operator", async () => {
  const context = openContext();
  expect(await pauseDelivery('stock-taking', context)).toEqual({
    cause: byOperator('anna', 'stock-taking'),
  });
  const [pause] = await context.breaker.reasons();
  expect(pause && endOf(pause)).toBe('operator');
  expect(await resumeDelivery(context)).toEqual({
    resumed: true,
    lifted: false,
    pauses: [],
    heldBatches: [],
  });
});

it('a second pause keeps the reason of the first one unless it has a new one, and names the first one', async () => {
  const first = openContext();
  const second = { ...first, operator: createOperator({ USER: 'ben' }, store.time) };
  const before = byOperator('anna', 'stock-taking');
  await pauseDelivery('stock-taking', first);
  expect(await pauseDelivery(undefined, second)).toEqual({ cause: before, before });
  expect(await first.breaker.reasons()).toMatchObject([before]);
  expect(await pauseDelivery('audit', second)).toEqual({
    cause: byOperator('ben', 'audit'),
    before,
  });
  expect(await first.breaker.reasons()).toMatchObject([byOperator('ben', 'audit')]);
});

it('resume ends the wait of an automatic pause: the next try is due', async () => {
  const context = openContext();
  await context.breaker.trip(answered('rate-limited', 'wait'), 3_600_000);
  const [before] = await context.breaker.reasons();
  expect(before?.nextTryAt).toBeGreaterThan(store.time.now() + 3_000_000);
  const { resumed, lifted, pauses } = await resumeDelivery(context);
  expect({ resumed, lifted }).toEqual({ resumed: false, lifted: true });
  expect(pauses[0]?.nextTryAt).toBeLessThanOrEqual(store.time.now());
});

it('after a resume one order tries first, the next one a quarter of a second later, and all once one got through', async () => {
  const context = openContext();
  const { breaker } = context;
  await pauseDelivery(undefined, context);
  await resumeDelivery(context);
  expect(await breaker.pass(AbortSignal.timeout(60_000))).toBe('probe');
  expect(await breaker.pass(AbortSignal.timeout(50))).toBe('stopped');
  await breaker.reset();
  expect(await breaker.pass(AbortSignal.timeout(60_000))).toBe('closed');
});

it('after a slow-down one order tries first', async () => {
  const { breaker } = openContext();
  await breaker.slowDown(1);
  expect(await breaker.pass(AbortSignal.timeout(60_000))).toBe('probe');
  expect(await breaker.stillPasses('closed')).toBe(false);
});

it('resume ends the wait of an order for its next attempt, but not the wait for the list that protects one in doubt', async () => {
  const context = openContext();
  const { ledger } = context;
  await store.identity.establish();
  await store.redis.del(store.keys.rebuild, store.keys.breaker);
  const now = store.time.now();
  const waiting = entryOf({ order: orderOf('WAITING'), state: 'retry' });
  const unclear = entryOf({
    order: orderOf('UNCLEAR'),
    state: 'sending',
    lastAt: now,
    deadline: now + 60_000,
  });
  await ledger.enter(waiting, undefined, now + 60_000);
  await ledger.enter(unclear, undefined, now + 60_000);
  expect(await resumeDelivery(context)).toMatchObject({ resumed: false, lifted: true });
  expect(await ledger.numbersDue('due', store.time.now(), 10)).toEqual(['WAITING']);
  expect(await resumeDelivery(context)).toMatchObject({ lifted: false });
});

it('an automatic pause without an order to try ends with the next order', () => {
  const pause: Pause = {
    ...answered('api-down', 'HTTP 503'),
    since: 0,
    held: false,
    nextTryAt: 1_000,
  };
  for (const waits of [
    [],
    [{ code: 'release' }],
    [{ code: 'person' }, { code: 'list' }],
  ] as const) {
    const shown = withTest(pause, waits);
    expect(pauseEndText(shown, 0)).toBe(
      'no order waits to be sent; the next order is sent as a trial',
    );
    expect(pauseJson(shown)).toMatchObject({ ends: 'automatic', waitsForOrder: true });
  }
  for (const code of ['pause', 'retry', 'unexamined'] as const)
    expect(withTest(pause, [{ code }])).toBe(pause);
  expect(withTest({ ...pause, ...byOperator('mia'), held: true }, [])).not.toHaveProperty(
    'waitsForOrder',
  );
});

it.each([
  ['operator', undefined, 'ends with po-sync resume'],
  ['ledger-rolled-back', undefined, "ends when the API's list has been read"],
  [
    'ledger-rolled-back',
    69_000,
    "ends when the API's list has been read, in 1 min 8 s at the earliest",
  ],
  ['api-down', undefined, 'ends automatically'],
  ['api-down', 13_000, 'ends automatically, next try in 12 s'],
  [
    'token-not-accepted',
    0,
    'check that authUrl and baseUrl belong to the same environment, and that their clocks agree; then it ends automatically',
  ],
  ['http-403', 0, 'check what this client may do at the API; then it ends automatically'],
  ['answers-unclear', 0, 'check that baseUrl leads to the API; then it ends automatically'],
  ['http-429', 0, 'ends automatically'],
  [
    'token-refused',
    13_000,
    'check the credentials, scope, audience and clientAuth (po-sync doctor says which), and restart the daemon after a change of them; then it ends automatically, next try in 12 s',
  ],
])('a pause %s with its next try at %s %s', (code, nextTryAt, text) => {
  expect(pauseEndText({ code, ...(nextTryAt === undefined ? {} : { nextTryAt }) }, 1_000)).toBe(
    text,
  );
});
