import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Batches, createBatches } from '../../src/ledger/batches/batches.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { createLedger, type Ledger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { LedgerEvent } from '../../src/ledger/state-machine/step.ts';
import { entryOf, orderOf, policy } from '../support/entry.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

const FILE = {
  source: 'inbox',
  kind: 'inbox',
  name: 'orders.csv',
  path: '/tmp/orders.csv',
} as const;

describe('ledger', () => {
  let store: OpenRedis;
  let ledger: Ledger;
  let batches: Batches;

  beforeAll(async () => {
    store = await openTestRedis();
    ledger = createLedger(store);
    batches = createBatches({ ...store, owner: 'daemon-1' });
  });
  beforeEach(async () => {
    await store.redis.flushall();
    await store.identity.establish();
    // As when the API's list was read.
    await store.redis.del(store.keys.rebuild, store.keys.breaker);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function enter(batch = 'b1', ordinal = 0, number = '4711'): Promise<Entry> {
    const { no } = await batches.begin({ ...FILE, batch }, 1000);
    const entry = entryOf({ batch, batchNo: no, ordinal, order: orderOf(number) });
    expect(await ledger.enter(entry, undefined, 5000)).toBe(true);
    return entry;
  }

  async function go(entry: Entry, event: LedgerEvent): Promise<Entry> {
    const step = next(entry, event, policy);
    expect(await ledger.take(entry, step)).toBe(true);
    return step.kind === 'move' || step.kind === 'dead' ? step.entry : entry;
  }

  // Redis uses its own clock: an old intent does not count.
  const NOW = Date.now();
  const BEGIN: LedgerEvent = { kind: 'begin', at: NOW + 60_000, deadline: NOW + 92_000 };
  const ACCEPTED: LedgerEvent = {
    kind: 'answered',
    at: 2000,
    attempt: 1,
    verdict: { kind: 'accepted' },
  };
  const REFUSED: LedgerEvent = {
    kind: 'answered',
    at: 2000,
    attempt: 1,
    verdict: {
      kind: 'refused',
      answer: { code: '400', message: 'no such article', httpStatus: 400 },
    },
  };

  it('returns what was entered, and nothing else', async () => {
    const entry = await enter();
    expect(await ledger.lookup(['4711', '4712'])).toEqual([
      { kind: 'open', entry },
      { kind: 'nothing' },
    ]);
  });

  it('dates the result of an order in doubt by the decision, not by its attempt', async () => {
    const sending = await go(await enter(), BEGIN);
    const lost = { kind: 'unknown', answer: { code: 'no-answer', message: 'lost' } } as const;
    const unknown = await go(sending, {
      kind: 'answered',
      at: NOW + 61_000,
      attempt: 1,
      verdict: lost,
    });
    const answer = { code: 'unavailable', message: 'no list' };
    await go(unknown, { kind: 'unlistable', at: NOW + 700_000, answer });
    const [result] = await batches.results('b1', [0]);
    expect(result).toMatchObject({ outcome: 'inDoubt', firstAt: NOW + 60_000, at: NOW + 700_000 });
    expect(await batches.find('b1')).toMatchObject({ lastAt: NOW + 700_000 });
  });

  it('enters an order once, also when two daemons try', async () => {
    const entry = await enter();
    expect(await ledger.enter(entryOf({ batch: 'b2', batchNo: 2 }), undefined, 5000)).toBe(false);
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'open', entry }]);
  });

  it('refuses an intent that comes late, or from a clock that is behind', async () => {
    const entry = await enter();
    const at = store.time.now() - 3000;
    const begin = next(entry, { kind: 'begin', at, deadline: at + 33_000 }, policy);
    await expect(ledger.take(entry, begin)).rejects.toMatchObject({ code: 'intent-late' });
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'open', entry }]);
  });

  it('refuses an intent while delivery is paused', async () => {
    const entry = await enter();
    const at = store.time.now();
    const begin = next(entry, { kind: 'begin', at, deadline: at + 34_000 }, policy);
    await store.redis.hset(store.keys.breaker, 'hold:operator', '{}');
    await expect(ledger.take(entry, begin)).rejects.toMatchObject({ code: 'delivery-paused' });
    await store.redis.hdel(store.keys.breaker, 'hold:operator');
    expect(await ledger.take(entry, begin)).toBe(true);
  });

  it('does not enter an order again that is settled', async () => {
    await go(await go(await enter(), BEGIN), ACCEPTED);
    expect(await ledger.enter(entryOf(), undefined, 5000)).toBe(false);
  });

  it('accepts one of two decisions about the same version', async () => {
    const entry = await enter();
    const step = next(entry, BEGIN, policy);
    expect(await Promise.all([ledger.take(entry, step), ledger.take(entry, step)])).toEqual([
      true,
      false,
    ]);
  });

  it('keeps only a compact entry of a settled order', async () => {
    const entry = await go(await enter(), BEGIN);
    await go(entry, ACCEPTED);
    const compact = {
      number: '4711',
      digest: entry.digest,
      attempts: 1,
      at: 2000,
      batchNo: 1,
      since: 2000,
    };
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'accepted', compact }]);
    expect(await ledger.unsettled()).toBe(0);
  });

  it('keeps for the report which attempt had no clear answer, when the list settles an order', async () => {
    const sending = await go(await enter(), BEGIN);
    const answer = { code: 'connection', message: 'read ECONNRESET' };
    const unknown = await go(sending, {
      kind: 'answered',
      at: 2000,
      attempt: 1,
      verdict: { kind: 'unknown', answer },
    });
    await go(unknown, { kind: 'found', at: 70_000, listed: { digest: unknown.digest } });
    expect(await batches.results('b1', [0])).toEqual([
      {
        outcome: 'accepted',
        attempts: 1,
        at: 70_000,
        code: 'listed',
        facts: { attempt: 1, lost: 'read ECONNRESET' },
      },
    ]);
  });

  it('keeps a refused order completely, for its dead letter', async () => {
    await go(await go(await enter(), BEGIN), REFUSED);
    const [known] = await ledger.lookup(['4711']);
    expect(known).toMatchObject({
      kind: 'open',
      entry: { state: 'refused', order: orderOf('4711') },
    });
    expect(await ledger.unsettled()).toBe(0);
  });

  it('counts outcome and batch in one step, and the batch is finished with its last order', async () => {
    const one = await go(await enter('b1', 0, '1'), BEGIN);
    const two = await go(await enter('b1', 1, '2'), BEGIN);
    await batches.admitted('b1', 2, '');
    await go(one, ACCEPTED);
    expect(await batches.finished()).toEqual([]);
    await go(two, REFUSED);
    expect(await batches.finished()).toEqual(['b1']);
    expect(await batches.find('b1')).toMatchObject({
      total: 2,
      open: 1,
      counts: { accepted: 1, refused: 1 },
    });
    expect(await batches.results('b1', [0, 1])).toMatchObject([
      undefined,
      { outcome: 'refused', facts: { says: 'no such article' } },
    ]);
  });

  it('finishes a batch whose last order was counted before the total was known', async () => {
    await go(await go(await enter(), BEGIN), ACCEPTED);
    await batches.admitted('b1', 1, '');
    expect(await batches.finished()).toEqual(['b1']);
  });

  describe('a reader whose Redis forgot something', () => {
    const own = () => store.keys.own(store.identity.own().daemon);
    const losses: [what: string, lose: () => Promise<unknown>][] = [
      ['flushed', () => store.redis.flushall()],
      [
        'flushed, and noticed',
        async () => [await store.redis.flushall(), await store.identity.establish()],
      ],
      [
        'restored from an older file',
        () => store.redis.hincrby(store.keys.identity, 'sequence', -1),
      ],
      ['restored, and others brought it up again', () => store.redis.decr(own())],
    ];

    it.each(losses)('does not end the reading of its batch: %s', async (_, lose) => {
      const since = batches.epoch();
      await enter();
      await lose();
      await batches.begin({ ...FILE, batch: 'b1' }, 1000);
      expect(await batches.admitted('b1', 1, since)).toBe(false);
      expect(await batches.find('b1')).toMatchObject({ state: 'reading' });
      expect(await batches.find('b1')).not.toHaveProperty('total');
    });

    it('ends it once the file was read again', async () => {
      await enter();
      await store.redis.flushall();
      await store.identity.establish();
      const since = batches.epoch();
      await enter();
      expect(await batches.admitted('b1', 1, since)).toBe(true);
      expect(await batches.find('b1')).toMatchObject({ state: 'open', total: 1 });
    });
  });

  it('finishes a batch without orders', async () => {
    await batches.begin({ ...FILE, batch: 'b1' }, 1000);
    await batches.admitted('b1', 0, '');
    expect(await batches.finished()).toEqual(['b1']);
  });

  it('counts an order that ends at admission once, however often it is reported', async () => {
    await batches.begin({ ...FILE, batch: 'b1' }, 1000);
    const result = { outcome: 'invalid', attempts: 0, at: 1, code: 'invalid', facts: {} } as const;
    await ledger.count('b1', 1000, [{ ordinal: 3, number: '9', result }]);
    await ledger.count('b1', 1000, [{ ordinal: 3, number: '9', result }]);
    expect(await batches.find('b1')).toMatchObject({ open: 1, counts: { invalid: 1 } });
    expect((await batches.counted('b1'))(3)).toBe(true);
    expect((await batches.counted('b1'))(2)).toBe(false);
  });

  it('counts an order once, also when a person sends it again before its batch is finished', async () => {
    const refused = await go(await go(await enter('b1', 0, '1'), BEGIN), REFUSED);
    await enter('b1', 1, '2');
    await batches.admitted('b1', 2, '');
    const step = next(refused, { kind: 'retry', at: NOW, job: 'c-2', delay: 0 }, policy);
    if (step.kind !== 'move') throw new Error('the order is not queued again');
    expect(await ledger.take(refused, step)).toBe(true);
    const sending = await go(step.entry, BEGIN);
    await go(sending, { ...ACCEPTED, attempt: sending.attempt });
    expect(await batches.finished()).toEqual([]);
    expect(await batches.find('b1')).toMatchObject({ counts: { refused: 1, accepted: 0 } });
  });

  it('closes the dead letters of a number when it is accepted, and names the batch that did it', async () => {
    const refused = await go(await go(await enter('b1'), BEGIN), REFUSED);
    const { no } = await batches.begin({ ...FILE, batch: 'b2' }, 3000);
    const fixed = entryOf({
      version: refused.version + 1,
      batch: 'b2',
      batchNo: no,
      order: orderOf('4711', 2),
      attempt: 1,
    });
    expect(await ledger.enter(fixed, refused, 5000)).toBe(true);
    const sending = await go(fixed, BEGIN);
    await go(sending, { ...ACCEPTED, attempt: sending.attempt });
    expect(await batches.find('b1')).toMatchObject({ open: 0, counts: { refused: 1 } });
    expect(JSON.parse((await store.redis.hget(store.keys.closed('b1'), '0')) ?? '')).toMatchObject({
      batch: 'b2',
    });
  });

  it('keeps a conflict with an order open when that order is accepted, in whichever sequence the batches began', async () => {
    const open = [];
    for (const [first, second] of [
      ['b1', 'b2'],
      ['b4', 'b3'],
    ] as const) {
      for (const batch of [first, second].sort()) await batches.begin({ ...FILE, batch }, 1000);
      const entry = await enter(first, 0, first);
      const words = {
        code: 'other-content',
        facts: { state: 'inProgress' },
        against: entry.batchNo,
      } as const;
      const result = { outcome: 'conflict', attempts: 0, at: 6000, ...words } as const;
      await ledger.count(second, 6000, [{ ordinal: 0, number: first, result }]);
      await go(await go(entry, BEGIN), ACCEPTED);
      open.push((await batches.find(second))?.open);
    }
    expect(open).toEqual([1, 1]);
  });

  it('returns the orders that are due, oldest first', async () => {
    await enter('b1', 0, '1');
    const two = await enter('b1', 1, '2');
    await go(two, BEGIN);
    expect(await ledger.numbersDue('due', 4999, 10)).toEqual([]);
    expect(await ledger.numbersDue('due', NOW + 92_000, 10)).toEqual(['1', '2']);
    expect(await ledger.nextDue('due')).toBe(5000);
    await ledger.postpone('1', NOW + 99_000);
    expect(await ledger.numbersDue('due', NOW + 92_000, 10)).toEqual(['2']);
  });

  it('keeps every confirmed change after kill -9 of Redis', async () => {
    const entry = await go(await enter(), BEGIN);
    await store.server.restart();
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'open', entry }]);
  });
});
