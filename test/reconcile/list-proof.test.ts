import { expect, it } from 'vitest';
import type { ListedOrder, ListQuery, ReadList } from '../../src/api/list.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { PauseCause } from '../../src/ledger/pause-cause.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { Verdict } from '../../src/ledger/state-machine/step.ts';
import { asText } from '../../src/order/sentence.ts';
import { createCanaries } from '../../src/reconcile/canaries.ts';
import { createListProof, expectOrders } from '../../src/reconcile/list-proof.ts';
import { createRebuildRequest } from '../../src/reconcile/rebuild-request.ts';
import { pauseText } from '../../src/wording/pause.ts';
import { confirm, entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

const { settle } = policy;
const DAY = 86_400_000;
const ANSWER = { code: 'x', message: 'x' };

/** A proof over a real Redis: what the list shows, and how late it is, are the test's. */
async function openProof(shown: string[]) {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openTestRedis());
  const { redis, keys, identity } = store;
  const rig = {
    shown,
    late: 0,
    failure: 0,
    isOffered: true,
    pageSize: 0,
    calls: [] as ListQuery[],
    takenIn: new Set<string>(),
  };
  const time = { ...store.time, now: () => store.time.now() + rig.late };
  const list: ReadList = async (onOrder: (order: ListedOrder) => void, query = {}) => {
    rig.calls.push(query);
    if (!rig.isOffered) return { kind: 'unavailable', said: ANSWER };
    if (rig.failure > 0 && Object.keys(query).length > 0)
      return { kind: 'failed', said: { ...ANSWER, httpStatus: rig.failure } };
    const { limit = rig.pageSize, offset = 0 } = query;
    const page = [offset, offset + Math.min(limit, rig.pageSize)];
    const rows = rig.pageSize === 0 ? rig.shown : rig.shown.slice(...page);
    for (const purchaseOrderNumber of rows) onOrder({ purchaseOrderNumber });
    return { kind: 'complete', orders: rows.length };
  };
  await identity.establish();
  const ledger = createLedger({ redis, keys, identity });
  const nothing = () => undefined;
  const proof = createListProof({
    store: { redis, keys, time },
    ledger,
    list,
    rules: { mode: 'prove', isProtected: false, settle },
    owner: 'rig',
    takeIn: async (listed) => {
      for (const { purchaseOrderNumber } of listed) rig.takenIn.add(purchaseOrderNumber);
      return 0;
    },
    canaries: createCanaries({ redis, keys, clock: systemClock, time, settle }),
    on: { refresh: async () => undefined, watch: (read) => read, kind: nothing, cut: nothing },
  });
  const first = await proof.readFirst({ isIntact: true });
  await createRebuildRequest({ redis, keys, time }).finish(identity.known().epoch, {
    shown: first.listed.length,
  });

  /** Whether an attempt of the order may begin. */
  async function mayBegin(number: string): Promise<boolean> {
    const at = store.time.now();
    const [known] = await ledger.lookup([number]);
    const entry: Entry =
      known?.kind === 'open'
        ? known.entry
        : entryOf({ order: orderOf(number), ordinal: Number(number.slice(2)), version: at });
    if (known?.kind !== 'open') await ledger.enter(entry, undefined, at);
    const step = next(entry, { kind: 'begin', at, deadline: at + 1_000 }, policy);
    return ledger.take(entry, step).catch((error: { code: string }) => {
      expect(error.code).toBe('delivery-paused');
      return false;
    });
  }

  async function answer(number: string, verdict: Verdict): Promise<void> {
    const [known] = await ledger.lookup([number]);
    if (known?.kind !== 'open') throw new Error('it is not sent');
    const { attempt } = known.entry;
    const at = store.time.now();
    const answered = { kind: 'answered', at, attempt, verdict } as const;
    expect(await ledger.take(known.entry, next(known.entry, answered, policy))).toBe(true);
  }

  /** Why delivery waits for the list, as `status` shows it. */
  const hold = async () => JSON.parse((await redis.hget(keys.breaker, 'hold:list')) ?? '{}');

  async function tickAfter(span: number): Promise<void> {
    rig.late += span;
    await proof.tick();
  }

  const kept = stack.move();
  return {
    rig,
    proof,
    ledger,
    expected: (orders: number) => expectOrders({ redis, keys }, orders),
    mayBegin,
    answer,
    hold,
    tickAfter,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const ASKED = [{ limit: 1 }, { offset: 3 }];

it('a list with as many orders as a person expects is not asked for pages', async () => {
  await using opened = await openProof(['A', 'B', 'C']);
  await opened.expected(3);
  opened.rig.calls.length = 0;
  expect(await opened.proof.readFirst({ isIntact: true })).toMatchObject({ gone: 0 });
  expect(opened.rig.calls).toEqual([{}]);
});

it('a list that the API offered, and takes back, counts as one that cannot be read', async () => {
  await using opened = await openProof(['A']);
  opened.rig.isOffered = false;
  expect(await opened.proof.read(() => undefined)).toEqual({ kind: 'failed', said: ANSWER });
});

it('a list is asked for pages before the first order and once a day, and read without parameters otherwise', async () => {
  await using opened = await openProof(['A', 'B', 'C']);
  const { rig, proof, tickAfter } = opened;
  expect(rig.calls).toEqual([{}, ...ASKED]);
  await proof.read(() => undefined);
  await tickAfter(DAY - 60_000);
  expect(rig.calls.splice(0)).toEqual([{}, ...ASKED, {}]);
  await tickAfter(60_000);
  await tickAfter(1_000);
  expect(rig.calls).toEqual([{}, ...ASKED]);
});

it.each([0, 1, 2, 40])(
  'a complete list of %i orders is read at most three times more than where it is trusted',
  async (orders) => {
    await using opened = await openProof(Array.from({ length: orders }, (_, i) => `A-${i}`));
    const { rig, mayBegin, answer, tickAfter } = opened;
    expect(await mayBegin('N-1')).toBe(true);
    await tickAfter(0);
    await answer('N-1', { kind: 'accepted' });
    rig.shown.push('N-1');
    await tickAfter(0);
    expect(await mayBegin('N-2')).toBe(true);
    await tickAfter(settle);
    // One read is that of a list that is trusted.
    expect(rig.calls.length - 1).toBeLessThanOrEqual(3);
  },
);

it('a list that turns out to have pages proves nothing before they are read', async () => {
  await using opened = await openProof(['A']);
  const { rig, mayBegin, answer, tickAfter } = opened;
  rig.pageSize = 2;
  expect(await mayBegin('N-1')).toBe(true);
  await answer('N-1', { kind: 'accepted' });
  rig.shown.push('N-1', 'B', 'C');
  await tickAfter(0);
  expect(await mayBegin('N-2')).toBe(false);
  await tickAfter(settle);
  expect(await mayBegin('N-2')).toBe(true);
});

it('an API that refuses the question is not asked again on that day', async () => {
  await using opened = await openProof(['A', 'B', 'C']);
  const { rig, tickAfter } = opened;
  rig.failure = 400;
  await tickAfter(DAY);
  for (let hours = 0; hours < 23; hours += 1) await tickAfter(DAY / 24);
  expect(rig.calls.slice(3)).toEqual([{}, { limit: 1 }]);
});

it('an API that fails when it is asked is asked again each hour', async () => {
  await using opened = await openProof(['A', 'B', 'C']);
  const { rig, tickAfter } = opened;
  rig.failure = 500;
  await tickAfter(DAY);
  for (let minutes = 0; minutes < 59; minutes += 1) await tickAfter(60_000);
  const asked = () => rig.calls.filter(({ limit }) => limit === 1).length;
  expect(asked()).toBe(7);
  for (let minutes = 0; minutes < 10; minutes += 1) await tickAfter(60_000);
  expect(asked()).toBe(12);
});

it('what a list shows while the first order waits counts, and a later one that lacks it proves nothing', async () => {
  await using opened = await openProof(['A', 'B']);
  const { rig, mayBegin, answer, tickAfter } = opened;
  expect(await mayBegin('N-1')).toBe(true);
  expect(await mayBegin('N-2')).toBe(false);
  await answer('N-1', { kind: 'accepted' });
  rig.shown = ['A', 'B', 'C'];
  await tickAfter(settle);
  rig.shown = ['A', 'B', 'N-1'];
  await tickAfter(settle);
  expect([...rig.takenIn]).toEqual(['A', 'B', 'C', 'N-1']);
  expect(await mayBegin('N-2')).toBe(false);
  rig.shown = ['A', 'B', 'C', 'N-1'];
  await tickAfter(settle);
  expect(await mayBegin('N-2')).toBe(true);
});

it.each<[string, Verdict]>([
  ['refused', { kind: 'refused', answer: ANSWER }],
  ['not sent', { kind: 'postponed', answer: ANSWER, until: 0, isUnsent: true }],
])(
  'one order of a new ledger may begin, and passes its turn on when it is %s',
  async (_, verdict) => {
    await using opened = await openProof(['A']);
    const { mayBegin, answer } = opened;
    expect(await mayBegin('N-1')).toBe(true);
    expect(await mayBegin('N-2')).toBe(false);
    await answer('N-1', verdict);
    expect(await mayBegin('N-2')).toBe(true);
    expect(await mayBegin('N-3')).toBe(false);
  },
);

it('an order of a new ledger that is held while it waits for its place passes its turn on', async () => {
  await using opened = await openProof(['A']);
  const { ledger, mayBegin } = opened;
  expect(await mayBegin('N-1')).toBe(true);
  const [known] = await ledger.lookup(['N-1']);
  if (known?.kind !== 'open') throw new Error('it is not sent');
  const before = entryOf({ order: orderOf('N-1') });
  const back = next(known.entry, { kind: 'giveBack', at: Date.now(), before }, policy);
  expect(await ledger.take(known.entry, back)).toBe(true);
  expect(await mayBegin('N-2')).toBe(true);
});

it('an order of a new ledger that is in conflict passes its turn on', async () => {
  await using opened = await openProof(['A']);
  const { ledger, mayBegin, answer } = opened;
  expect(await mayBegin('N-1')).toBe(true);
  expect(await mayBegin('N-2')).toBe(false);
  await answer('N-1', { kind: 'unknown', answer: ANSWER });
  const [known] = await ledger.lookup(['N-1']);
  if (known?.kind !== 'open') throw new Error('it is not in doubt');
  const found = { kind: 'found', at: Date.now(), listed: { digest: 'other' } } as const;
  expect(await ledger.take(known.entry, next(known.entry, found, policy))).toBe(true);
  expect(await mayBegin('N-2')).toBe(true);
});

it('where an archive took what the list showed before, a person says how many orders there are', async () => {
  await using opened = await openProof(['A', 'B']);
  const { rig, expected, mayBegin, answer, hold, tickAfter } = opened;
  expect(await mayBegin('N-1')).toBe(true);
  expect(await mayBegin('N-2')).toBe(false);
  await answer('N-1', { kind: 'accepted' });
  rig.shown = ['B', 'N-1', 'N-1'];
  // An order that the list shows twice is one order.
  for (const orders of [3, 2]) {
    await tickAfter(2 * settle);
    expect(await hold()).toMatchObject({ code: 'list-incomplete' });
    await expected(orders);
  }
  await tickAfter(2 * settle);
  expect(await hold()).toEqual({});
  expect(await mayBegin('N-2')).toBe(true);
});

it.each([
  ['a person says that the API has the order', true],
  ['the API said that it created the order', false],
])(
  'where %s, a list of as many orders as a person expects is complete without it: %s',
  async (_, isTold) => {
    await using opened = await openProof(['A', 'B']);
    const { ledger, expected, mayBegin, answer, hold, tickAfter } = opened;
    expect(await mayBegin('N-1')).toBe(true);
    expect(await mayBegin('N-2')).toBe(false);
    await answer('N-1', isTold ? { kind: 'unknown', answer: ANSWER } : { kind: 'accepted' });
    if (isTold) await confirm(ledger, 'N-1');
    for (const orders of [3, 2]) {
      await tickAfter(2 * settle);
      expect(await hold()).toMatchObject({ code: 'list-incomplete' });
      expect(await mayBegin('N-2')).toBe(false);
      await expected(orders);
    }
    await tickAfter(2 * settle);
    expect(await mayBegin('N-2')).toBe(isTold);
  },
);

it('an order in doubt keeps its turn until the list shows it, and has grown, and lacks nothing that it showed', async () => {
  await using opened = await openProof(['A', 'B']);
  const { rig, mayBegin, answer, hold, tickAfter } = opened;
  expect(await mayBegin('N-1')).toBe(true);
  await answer('N-1', { kind: 'unknown', answer: ANSWER });
  for (const shown of [
    ['A', 'B'],
    ['A', 'N-1'],
    ['A', 'C', 'N-1'],
  ]) {
    rig.shown = shown;
    await tickAfter(2 * settle);
    expect(await hold()).toMatchObject({ code: 'list-incomplete' });
    expect(await mayBegin('N-2')).toBe(false);
  }
  rig.shown = ['C', 'B', 'A', 'N-1'];
  await tickAfter(settle);
  expect(await hold()).toEqual({});
  expect(await mayBegin('N-2')).toBe(true);
});

it('after two settles delivery says what is missing, with both counts and the order', async () => {
  await using opened = await openProof(['A', 'B']);
  const { rig, mayBegin, answer, hold, tickAfter } = opened;
  await mayBegin('N-1');
  await answer('N-1', { kind: 'accepted' });
  rig.calls = [];
  for (let steps = 0; steps < 19; steps += 1) await tickAfter(settle / 10);
  const said = pauseText((await hold()) as PauseCause);
  expect(asText(said)).toContain('order N-1 of a new ledger is sent first');
  await tickAfter(settle);
  expect(await hold()).toMatchObject({
    code: 'list-incomplete',
    facts: { shown: 2, before: 2, order: 'N-1' },
  });
  for (let steps = 0; steps < 100; steps += 1) await tickAfter(settle / 10);
  // Growing waits up to a settle.
  expect(rig.calls.length).toBeLessThan(20);
});
