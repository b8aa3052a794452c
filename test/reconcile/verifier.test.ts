import { describe, expect, it } from 'vitest';
import type { ListEnd, ListedOrder } from '../../src/api/list.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import { createCanaries } from '../../src/reconcile/canaries.ts';
import { listState } from '../../src/reconcile/list-pace.ts';
import { createVerifier } from '../../src/reconcile/verifier.ts';
import { capturedLog } from '../support/captured-log.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { openTestRedis } from '../support/open-redis.ts';

const { settle } = policy;
const LOST = { code: 'no-answer', message: 'no complete answer' };

/** A verifier over a real Redis; time and what the list shows are the test's. */
async function openVerifierRig() {
  await using stack = new AsyncDisposableStack();
  const { redis, keys, identity } = stack.use(await openTestRedis());
  const { log, lines } = capturedLog();
  const onVerdict = async () => undefined;
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
    proof: { read: list, rules: { mode: 'trust', isProtected: false } },
    delivery: { onVerdict, isAway: () => false },
  });

  let ordinal = -1;

  /** Puts an order into the ledger whose attempt ended without an answer just now. */
  async function doubt(number: string): Promise<void> {
    ordinal += 1;
    const entry: Entry = entryOf({ order: orderOf(number), ordinal, version: rig.now });
    const unknown: Entry = {
      ...entry,
      version: rig.now + 1,
      state: 'unknown',
      maybeSentAt: rig.now,
      answer: LOST,
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
    const { canaries, doubt, tickAfter, stateOf } = opened;
    await canaries.remember('OLD');
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
      reason: 'no data for 30 s',
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
    await canaries.remember('OLD');
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
    await canaries.remember('OLD');
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
    await canaries.remember('OLD');
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
    await canaries.remember('OLD');
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
    await canaries.remember('OLD');
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
    await redis.set(keys.verificationLock, 'another daemon');
    await tickAfter(settle);
    expect(rig.lists).toBe(0);
    await redis.del(keys.verificationLock);
    await tickAfter(0);
    expect(rig.lists).toBe(1);
  });

  it('reads lists at least a tenth of a settle apart, also when they decide nothing', async () => {
    await using opened = await openVerifierRig();
    const { rig, canaries, doubt, tickAfter } = opened;
    await canaries.remember('CANARY');
    rig.now += 3 * settle;
    await doubt('MISSING');
    await tickAfter(settle);
    await tickAfter(settle / 10 - 1);
    expect(rig.lists).toBe(1);
    await tickAfter(1);
    expect(rig.lists).toBe(2);
  });
});
