import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { decided } from '../../src/journal/decided.ts';
import type { Decision } from '../../src/journal/decision.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { discardsOf } from '../../src/ledger/batches/kept-discards.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createReplay } from '../../src/put-away/replay-decisions.ts';
import { capturedLog } from '../support/captured-log.ts';
import { configOf, LEAST } from '../support/config-text.ts';
import { entryOf } from '../support/entry.ts';
import { journalsInMemory } from '../support/journals-in-memory.ts';
import { openTestRedis } from '../support/open-redis.ts';

let store: Awaited<ReturnType<typeof openTestRedis>>;
beforeAll(async () => {
  store = await openTestRedis();
});
beforeEach(async () => {
  await store.redis.flushall();
  await store.identity.establish();
});
afterAll(() => store[Symbol.asyncDispose]());

const { batch } = entryOf();
const FILE = {
  batch,
  source: 'inbox',
  kind: 'inbox',
  name: 'orders.csv',
  path: '/orders.csv',
} as const;

/** A ledger that lost what people did since, and the step that does it again. */
function openLost() {
  const { config } = configOf(LEAST);
  const ledger = createLedger(store);
  const batches = createBatches({ ...store, owner: 'test' });
  const journals = journalsInMemory();
  const { log, lines } = capturedLog();
  const context = { config, store, log, side: { ledger, batches } };
  const replay = createReplay(context, journals);
  const deciding = { config, store, owner: 'one', clock: systemClock, journals };
  return {
    ledger,
    batches,
    /** What people decided, of which Redis knows nothing. */
    async lost(...decisions: Decision[]) {
      await decided('anna', decisions, deciding, async () => undefined);
      await store.redis.del(store.keys.journals);
    },
    replay,
    async state(number = '4711') {
      const [known] = await ledger.lookup([number]);
      return known?.kind === 'open' ? known.entry.state : known?.kind;
    },
    notRepeated: () => lines.filter(({ event }) => event === 'decision-not-repeated'),
    enter: (changes: Partial<Entry> = {}) =>
      ledger.enter(entryOf(changes), undefined, store.time.now() + 60_000),
  };
}

const orderOf = ({ order, digest }: Entry) => ({
  batch,
  number: order.purchaseOrderNumber,
  content: digest,
});
const ORDER = orderOf(entryOf());

describe('after Redis lost what people decided', () => {
  it('a cancelled file stays cancelled, also one that is read only later', async () => {
    const it = openLost();
    await it.batches.begin(FILE, 1);
    const later = FILE.batch.replace('3f2a91c0', '00000000');
    await it.lost({ decision: 'cancel', batch }, { decision: 'cancel', batch: later });
    await it.replay();
    expect((await it.batches.find(batch))?.cancelledBy).toMatchObject({ who: 'anna' });
    await it.batches.recallCancellation(later);
    expect((await it.batches.begin({ ...FILE, batch: later }, 1)).cancelled).toBe(true);
  });

  it.each(['discard', 'correct'] as const)(
    'the order of a %s is not sent as its file has it',
    async (decision) => {
      const it = openLost();
      await it.batches.begin(FILE, 1);
      await it.lost({ decision, ...ORDER, kind: 'refused' });
      await it.replay();
      const other = entryOf({ digest: 'another content' });
      const found = async (entry: Entry) => [...(await discardsOf(batch, [entry], store)).values()];
      expect([await found(entryOf()), await found(other)]).toEqual([['anna'], []]);
    },
  );

  it.each([
    ['in doubt', { state: 'inDoubt', maybeSentAt: 1 }],
    ['queued again', {}],
  ] as const)('an order that is %s is accepted where a person said so', async (_, changes) => {
    const it = openLost();
    await it.enter(changes);
    await it.lost({ decision: 'accept', ...ORDER });
    await it.replay();
    expect(await it.state()).toBe('accepted');
  });

  it('an order that this ledger no longer knows is accepted, and one of another ledger is shown', async () => {
    const it = openLost();
    await it.lost({ decision: 'accept', ...ORDER });
    await it.replay();
    expect(await it.state()).toBe('accepted');
    await it.lost({ decision: 'accept', ...ORDER, number: 'PO-2' });
    await store.redis.hset(store.keys.identity, { epoch: 'another', succeeds: '' });
    await it.replay();
    expect([await it.state('PO-2'), it.notRepeated().length]).toEqual(['nothing', 1]);
  });

  it.each([
    ['retry', { state: 'refused', refusal: { code: 'x', message: '' } }],
    ['resend', { state: 'conflict' }],
  ] as const)(
    'the order of a %s is in doubt, once, so that the list decides',
    async (decision, changes) => {
      const it = openLost();
      await it.enter(changes);
      await it.lost({ decision, ...ORDER });
      await it.replay();
      expect(await it.state()).toBe('unknown');
      const [known] = await it.ledger.lookup(['4711']);
      if (known?.kind !== 'open') throw new Error('it is gone');
      const left = { ...known.entry, version: known.entry.version + 1, state: 'refused' } as const;
      await it.ledger.take(known.entry, { kind: 'dead', entry: left, at: store.time.now() });
      await store.redis.del(store.keys.journals);
      await it.replay();
      expect(await it.state()).toBe('refused');
    },
  );

  it('a retry that no longer fits is shown, not done', async () => {
    const it = openLost();
    await it.batches.begin(FILE, 1);
    await it.enter({ state: 'refused', batch: FILE.batch.replace('3f2a91c0', '00000000') });
    await it.lost({ decision: 'retry', ...ORDER }, { decision: 'retry', ...ORDER, number: 'gone' });
    await it.replay();
    expect(await it.state()).toBe('refused');
    expect(it.notRepeated()).toMatchObject([
      {
        what: 'retry',
        on: '4711',
        who: 'anna',
        reason: 'another file brought the order meanwhile',
      },
      { what: 'retry', on: 'gone', reason: 'the ledger no longer has its content' },
    ]);
  });

  it('a file that waited is released, but not one that waits since then', async () => {
    const it = openLost();
    const wait = { code: 'ledger', facts: { claimedAt: '2026-01-01T00:00:00Z' } } as const;
    const [before, after] = [FILE.batch, FILE.batch.replace('3f2a91c0', '00000000')];
    for (const name of [before, after]) await it.batches.begin({ ...FILE, batch: name }, 1);
    await it.batches.hold(before, { wait, alike: 'ledger' }, store.time.now() - 1_000);
    await it.batches.hold(after, { wait, alike: 'ledger' }, store.time.now() + 1_000);
    await it.lost(
      { decision: 'release', batch: before, withoutRows: false },
      { decision: 'release', batch: after, withoutRows: false },
    );
    await it.replay();
    expect(await it.batches.held()).toEqual([after]);
  });

  it('nothing is done again where Redis has every byte of the journals', async () => {
    const it = openLost();
    await it.batches.begin(FILE, 1);
    await it.lost({ decision: 'cancel', batch });
    await it.replay();
    await store.redis.hdel(store.keys.batch(batch), 'cancelled', 'cancelledBy');
    await it.replay();
    expect(await it.batches.isCancelled(batch)).toBe(false);
  });
});
