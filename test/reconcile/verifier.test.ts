import { describe, expect, it } from 'vitest';
import type { ListEnd, ListedOrder } from '../../src/api/list.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { Verdict } from '../../src/ledger/state-machine/step.ts';
import { createCanaries } from '../../src/reconcile/canaries.ts';
import { listState } from '../../src/reconcile/list-pace.ts';
import type { ListMode } from '../../src/reconcile/list-proof.ts';
import { createVerifier } from '../../src/reconcile/verifier.ts';
import { capturedLog } from '../support/captured-log.ts';
import { confirm, entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

const { settle } = policy;
const LOST = { code: 'no-answer', message: 'no complete answer' };
const FAILED = { code: 'http-500', message: 'an HTML page', httpStatus: 500 };

/** A verifier over a real Redis; time and what the list shows are the test's. */
async function openVerifierRig(mode: ListMode = 'trust') {
  await using stack = new AsyncDisposableStack();
  const { redis, keys, identity } = stack.use(await openTestRedis());
  const { log, lines } = capturedLog();
  const onVerdict = async () => undefined;
  await redis.hset(keys.identity, { epoch: 'test' });
  const ledger = createLedger({ redis, keys, identity });
  const rig = {
    now: 1_000_000,
    shown: [] as string[],
    lists: 0,
    watched: 1e9,
    end: undefined as ListEnd | undefined,
  };
  const time = { now: () => rig.now, sync: async () => undefined, watched: () => rig.watched };
  const canaries = createCanaries({ redis, keys, clock: systemClock, time, settle });

  async function list(onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    rig.lists += 1;
    if (rig.end !== undefined) return rig.end;
    for (const purchaseOrderNumber of rig.shown) onOrder({ purchaseOrderNumber });
    return { kind: 'complete', orders: rig.shown.length };
  }

  const verifier = createVerifier({
    ledger,
    store: { redis, keys, time },
    owner: 'rig',
    policy,
    log,
    canaries,
    proof: {
      read: list,
      rules: { mode, isProtected: false, settle },
      sawCut: () => undefined,
      sawKind: () => undefined,
    },
    delivery: { onVerdict, isAway: () => false },
  });

  let ordinal = -1;

  /** Puts an order into the ledger whose attempt ended without an answer just now. */
  async function doubt(number: string, more: Partial<Entry> = {}): Promise<void> {
    ordinal += 1;
    const entry: Entry = entryOf({ order: orderOf(number), ordinal, version: rig.now });
    const unknown: Entry = {
      ...entry,
      version: rig.now + 1,
      state: 'unknown',
      maybeSentAt: rig.now,
      answer: LOST,
      ...more,
    };
    await ledger.enter(entry, undefined, rig.now);
    await ledger.take(entry, { kind: 'move', entry: unknown, doubt: rig.now + settle });
  }

  /** Reads one list so much later. */
  async function tickAfter(span: number): Promise<void> {
    rig.now += span;
    await verifier.tick();
  }

  async function stateOf(number: string): Promise<string> {
    const [known] = await ledger.lookup([number]);
    return known?.kind === 'open' ? known.entry.state : (known?.kind ?? 'nothing');
  }

  const kept = stack.move();
  return {
    rig,
    lines,
    ledger,
    redis,
    keys,
    canaries,
    doubt,
    tickAfter,
    stateOf,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe('verifier', () => {
  it('leaves an order to a person only after lists lacked a canary for ten settles', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    await tickAfter(2 * settle);
    await doubt('A');
    await tickAfter(settle);
    await tickAfter(9 * settle);
    expect(await stateOf('A')).toBe('unknown');
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('inDoubt');
  });

  it('remembers an order that the list shows twice', async () => {
    await using opened = await openVerifierRig();
    const { rig, ledger, doubt, tickAfter, stateOf } = opened;
    await doubt('A');
    rig.shown = ['A', 'A'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('accepted');
    expect(await ledger.listedTwice.timesOf(['A'])).toEqual([2]);
  });

  it('says that the failure is that of the list', async () => {
    await using opened = await openVerifierRig();
    const { rig, ledger, doubt, tickAfter } = opened;
    await doubt('A');
    rig.end = {
      kind: 'unavailable',
      said: { code: 'http-404', message: 'Not found.', httpStatus: 404 },
    };
    await tickAfter(settle);
    const [known] = await ledger.lookup(['A']);
    const answer = known?.kind === 'open' ? known.entry.answer : undefined;
    expect(answer?.message).toBe("the API's list cannot be read: Not found.");
  });

  it('says since when and why no list could be read, and warns at once, then with growing gaps', async () => {
    await using opened = await openVerifierRig();
    const { rig, lines, redis, keys, doubt, tickAfter } = opened;
    await doubt('A');
    rig.end = { kind: 'failed', said: { code: 'no-answer', message: 'no data for 30 s' } };
    await tickAfter(settle);
    const since = rig.now;
    await tickAfter(settle / 2);
    expect(rig.lists).toBe(2);
    expect((await listState({ redis, keys })).failure).toEqual({
      since,
      says: 'no data for 30 s',
      answer: 'no-answer',
    });
    const told = () =>
      lines
        .filter(({ event }) => event === 'list-read')
        .map(({ level, reason }) => [level, reason]);
    expect(told()).toEqual([
      ['warn', 'no data for 30 s'],
      ['debug', 'no data for 30 s'],
    ]);
    rig.end = undefined;
    await tickAfter(settle);
    expect((await listState({ redis, keys })).failure).toBeUndefined();
    expect(told().at(-1)).toEqual(['info', undefined]);
  });

  it('gives each order ten settles, also if lists were bad long before', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    await tickAfter(2 * settle);
    await doubt('A');
    await tickAfter(settle);
    // Found, though in a list that lacks the canary: then nobody is in doubt for long, and no list is read.
    rig.shown = ['A'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('accepted');
    await tickAfter(100 * settle);
    await doubt('B');
    await tickAfter(settle);
    expect(await stateOf('B')).toBe('unknown');
    rig.shown = ['OLD', 'A', 'B'];
    await tickAfter(settle);
    expect(await stateOf('B')).toBe('accepted');
  });

  it('sends an order again after two good lists, one settle apart, that lack it', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    await doubt('A');
    await tickAfter(settle - 1);
    expect(await stateOf('A')).toBe('unknown');
    await tickAfter(1);
    await tickAfter(settle - 1);
    expect(await stateOf('A')).toBe('unknown');
    await tickAfter(1);
    expect(await stateOf('A')).toBe('retry');
  });

  it('accepts an order that waits to be sent again when a list that is read for another one shows it', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    await doubt('A');
    await tickAfter(settle);
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('retry');
    await doubt('B');
    rig.shown = ['OLD', 'A'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('accepted');
    expect(await stateOf('B')).toBe('unknown');
  });

  it('leaves an order alone that a person sends again although the list shows it', async () => {
    await using opened = await openVerifierRig();
    const { rig, ledger, doubt, tickAfter, stateOf } = opened;
    await doubt('A');
    const [known] = await ledger.lookup(['A']);
    if (known?.kind !== 'open') throw new Error('not open');
    await ledger.take(
      known.entry,
      next(known.entry, { kind: 'resend', at: rig.now, job: 'again' }, policy),
    );
    await doubt('B');
    rig.shown = ['A'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('queued');
  });

  it.each(['po-a1', ' PO-A1', 'PO-a1 '])(
    'sends no order again that the list shows as %j',
    async (shown) => {
      await using opened = await openVerifierRig();
      const { rig, doubt, tickAfter, stateOf } = opened;
      await doubt('PO-A1');
      rig.shown = [shown];
      await tickAfter(settle);
      expect(await stateOf('PO-A1')).toBe('inDoubt');
    },
  );

  it('does not count the first lists of a process that cannot know how long the order waited', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    await doubt('A');
    rig.watched = settle - 1;
    for (let lists = 0; lists < 3; lists += 1) await tickAfter(settle);
    expect(await stateOf('A')).toBe('unknown');
    rig.watched = settle;
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('unknown');
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('retry');
  });

  it('decides nothing about an order whose call this process has in flight, unless the list shows it', async () => {
    await using opened = await openVerifierRig();
    const { rig, ledger, canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    await doubt('A');
    ledger.inFlight.add('A');
    for (let lists = 0; lists < 4; lists += 1) await tickAfter(settle);
    expect(await stateOf('A')).toBe('unknown');
    rig.shown = ['OLD', 'A'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('accepted');
  });

  it('reads no list while another daemon reads one', async () => {
    await using opened = await openVerifierRig();
    const { rig, redis, keys, doubt, tickAfter } = opened;
    await doubt('MISSING');
    await redis.set(keys.lease('verification'), 'another daemon');
    await tickAfter(settle);
    expect(rig.lists).toBe(0);
    await redis.del(keys.lease('verification'));
    await tickAfter(0);
    expect(rig.lists).toBe(1);
  });

  it('reads lists at least a tenth of a settle apart, also when they decide nothing', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter } = opened;
    await canaries.remember('CANARY', rig.now);
    rig.now += 3 * settle;
    await doubt('MISSING');
    await tickAfter(settle);
    await tickAfter(settle / 10 - 1);
    expect(rig.lists).toBe(1);
    await tickAfter(1);
    expect(rig.lists).toBe(2);
  });
});

describe('of orders in doubt that nothing was created after', () => {
  /** Three orders in doubt, of which two lists have shown nothing; which of them are sent again. */
  async function openDoubts() {
    const opened = await openVerifierRig('prove');
    const { rig, canaries, doubt, tickAfter, ledger } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    for (const number of ['A', 'B', 'C']) await doubt(number);
    const sentAgain = () => ledger.numbersDue('due', Number.MAX_SAFE_INTEGER, 10);
    const read = () => tickAfter(settle);
    for (const _ of [1, 2, 3]) await read();

    /** The order that is sent again gets its answer. */
    async function answer(verdict: Verdict): Promise<void> {
      const [number = ''] = await sentAgain();
      const [known] = await ledger.lookup([number]);
      if (known?.kind !== 'open') throw new Error('no order is sent again');
      const sending = next(known.entry, { kind: 'begin', at: rig.now, deadline: rig.now }, policy);
      if (sending.kind !== 'move') throw new Error('it is not sent');
      await ledger.take(known.entry, sending);
      const { attempt } = sending.entry;
      const step = next(sending.entry, { kind: 'answered', at: rig.now, attempt, verdict }, policy);
      await ledger.take(sending.entry, step);
    }

    return { ...opened, sentAgain, read, answer };
  }

  it('one is sent again, and the others only when the list has shown it', async () => {
    await using opened = await openDoubts();
    const { rig, sentAgain, read, answer } = opened;
    expect(await sentAgain()).toEqual(['A']);
    await answer({ kind: 'accepted' });
    await read();
    expect(await sentAgain()).toEqual([]);
    rig.shown = ['OLD', 'A'];
    await read();
    expect(await sentAgain()).toEqual(['B', 'C']);
  });

  it('that one is sent again while the API says that it failed, and the others wait for it longer than ten settles', async () => {
    await using opened = await openDoubts();
    const { rig, sentAgain, read, answer, stateOf } = opened;
    for (let losses = 0; losses < 5; losses += 1) {
      expect(await sentAgain()).toEqual(['A']);
      await answer({ kind: 'unknown', answer: FAILED, free: true });
      for (const _ of [1, 2, 3]) await read();
    }
    expect(await stateOf('B')).toBe('unknown');
    await answer({ kind: 'accepted' });
    rig.shown = ['OLD', 'A'];
    for (const _ of [1, 2, 3]) await read();
    expect(await sentAgain()).toEqual(['B', 'C']);
  });

  it('all go to a person once the attempts of that one are used up', async () => {
    await using opened = await openDoubts();
    const { sentAgain, read, answer, stateOf } = opened;
    for (let used = 0; used < policy.attempts; used += 1) {
      await answer({ kind: 'unknown', answer: FAILED });
      for (const _ of [1, 2, 3]) await read();
    }
    expect(await sentAgain()).toEqual([]);
    for (let lists = 0; lists < 25; lists += 1) await read();
    for (const number of ['A', 'B', 'C']) expect(await stateOf(number)).toBe('inDoubt');
  });

  it('that one is sent until two of its answers were lost, also while nothing else is accepted', async () => {
    await using opened = await openDoubts();
    const { sentAgain, read, answer, stateOf } = opened;
    for (const said of [FAILED, LOST, FAILED, LOST]) {
      expect(await sentAgain()).toEqual(['A']);
      await answer({ kind: 'unknown', answer: said, free: true });
      for (const _ of [1, 2, 3]) await read();
    }
    expect(await sentAgain()).toEqual([]);
    for (let lists = 0; lists < 25; lists += 1) await read();
    for (const number of ['A', 'B', 'C']) expect(await stateOf(number)).toBe('inDoubt');
  });

  it('and none can be in a new ledger, whose first one is sent again in the same way', async () => {
    await using opened = await openVerifierRig('prove');
    const { redis, keys, doubt, tickAfter, stateOf } = opened;
    await redis.hset(keys.listProof, { proof: 'due', turn: 'B' });
    for (const number of ['A', 'B']) await doubt(number);
    await tickAfter(settle);
    expect(await stateOf('B')).toBe('unknown');
    await tickAfter(settle);
    expect([await stateOf('A'), await stateOf('B')]).toEqual(['unknown', 'retry']);
  });

  it('that one is not sent once more when its answer says that it was created', async () => {
    await using opened = await openDoubts();
    const { sentAgain, read, answer, stateOf } = opened;
    await answer({ kind: 'unknown', answer: { ...LOST, httpStatus: 201 } });
    for (let lists = 0; lists < 25; lists += 1) await read();
    expect(await sentAgain()).toEqual([]);
    for (const number of ['A', 'B', 'C']) expect(await stateOf(number)).toBe('inDoubt');
  });

  it('the next one is sent when the API refuses it', async () => {
    await using opened = await openDoubts();
    const { sentAgain, read, answer } = opened;
    await answer({ kind: 'refused', answer: LOST });
    await read();
    expect(await sentAgain()).toEqual(['B']);
  });

  it('the list shows one after that one, of which only a person says that the API has it, before the next one is sent', async () => {
    await using opened = await openDoubts();
    const { rig, ledger, canaries, sentAgain, read } = opened;
    await confirm(ledger, 'A');
    await read();
    expect(await sentAgain()).toEqual([]);
    await canaries.remember('NEW', rig.now);
    rig.shown = ['OLD', 'NEW'];
    await read();
    expect(await sentAgain()).toEqual(['B', 'C']);
  });

  it('all go to a person where the list never shows it, which they name', async () => {
    await using opened = await openDoubts();
    const { read, answer, stateOf, ledger } = opened;
    await answer({ kind: 'accepted' });
    for (let lists = 0; lists < 11; lists += 1) await read();
    expect(await stateOf('B')).toBe('inDoubt');
    const [known] = await ledger.lookup(['C']);
    const answered = known?.kind === 'open' ? known.entry.answer?.message : '';
    expect(answered).toBe(
      "the API's list lacks order A, which it must contain, so it proves nothing",
    );
  });

  it('none is refused or failed for a list that does not show how far it reaches', async () => {
    await using opened = await openVerifierRig('prove');
    const { rig, canaries, tickAfter, stateOf, doubt } = opened;
    await canaries.remember('OLD', rig.now);
    rig.shown = ['OLD'];
    await tickAfter(2 * settle);
    await doubt('A', { refusal: LOST });
    for (const _ of [1, 2, 3]) await tickAfter(settle);
    expect(await stateOf('A')).toBe('unknown');
    await canaries.remember('NEW', rig.now);
    rig.shown = ['OLD', 'NEW'];
    await tickAfter(settle);
    expect(await stateOf('A')).toBe('refused');
  });
});

it('the last order of a burst becomes a canary, also where no other follows', async () => {
  await using store = await openTestRedis();
  const { redis, keys } = store;
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const time = { now: () => now, sync: async () => undefined, watched: () => now };
  const { remember, tick, all } = createCanaries({ redis, keys, clock, time, settle });
  for (const [i, number] of ['A', 'B', 'C'].entries()) await remember(number, i);
  await tick();
  expect((await all()).map(({ number }) => number)).toEqual(['A']);
  now = settle;
  await tick();
  expect((await all()).map(({ number }) => number)).toEqual(['A', 'C']);
});
