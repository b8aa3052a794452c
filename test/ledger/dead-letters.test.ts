import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Batches, createBatches } from '../../src/ledger/batches/batches.ts';
import { createDeadLetters, type DeadLetters } from '../../src/ledger/dead-letters.ts';
import { type Entry, type OperatorAction, OTHER } from '../../src/ledger/entry.ts';
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
const ACTION: OperatorAction = { at: 5000, who: 'anna', what: 'discarded' };
const NO = { code: '400', message: 'no such article', httpStatus: 400 };

describe('closing a dead letter', () => {
  let store: OpenRedis;
  let ledger: Ledger;
  let batches: Batches;
  let letters: DeadLetters;

  beforeAll(async () => {
    store = await openTestRedis();
    ledger = createLedger(store);
    batches = createBatches({ ...store, owner: 'daemon-1' });
    letters = createDeadLetters(store);
  });
  beforeEach(async () => {
    await store.redis.flushall();
    await store.identity.establish();
    // As when the API's list was read.
    await store.redis.del(store.keys.rebuild, store.keys.breaker);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function refused(batch = 'b1', ordinal = 0): Promise<Entry> {
    const { no } = await batches.begin({ ...FILE, batch }, 1000);
    const entry = entryOf({ batch, batchNo: no, ordinal, order: orderOf('4711') });
    await ledger.enter(entry, undefined, 5000);
    const begun = await go(entry, {
      kind: 'begin',
      at: store.time.now(),
      deadline: store.time.now() + 32_000,
    });
    return go(begun, {
      kind: 'answered',
      at: 2000,
      attempt: 1,
      verdict: { kind: 'refused', answer: NO },
    });
  }

  async function go(entry: Entry, event: LedgerEvent): Promise<Entry> {
    const step = next(entry, event, policy);
    expect(await ledger.take(entry, step)).toBe(true);
    return step.kind === 'move' || step.kind === 'dead' ? step.entry : entry;
  }

  const letter = { id: 'b1-0', number: '4711' };

  it('closes it, frees the number and records who did it', async () => {
    const entry = await refused();
    expect(await letters.close({ ...letter, entry, by: ACTION })).toEqual({
      closed: 1,
    });
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'nothing' }]);
    expect(await ledger.unsettled()).toBe(0);
    expect(await batches.find('b1')).toMatchObject({ open: 0, counts: { refused: 1 } });
    expect(await batches.closings('b1')).toEqual(
      new Map([
        ['b1-0', { number: '4711', at: '1970-01-01T00:00:05.000Z', by: 'discarded', who: 'anna' }],
      ]),
    );
    expect(await ledger.operatorActions('4711')).toEqual([ACTION]);
    expect(await store.redis.hlen(store.keys.waiting)).toBe(0);
  });

  it('closes it once', async () => {
    const entry = await refused();
    await letters.close({ ...letter, entry, by: ACTION });
    expect(await letters.close({ ...letter, by: ACTION })).toEqual({
      closed: 0,
    });
    expect(await batches.find('b1')).toMatchObject({ open: 0 });
  });

  it('leaves an order that was changed meanwhile', async () => {
    const entry = await refused();
    const late = { ...entry, version: entry.version - 1 };
    expect(await letters.close({ ...letter, entry: late, by: ACTION })).toBe('late');
    expect(await batches.find('b1')).toMatchObject({ open: 1 });
    expect(await ledger.lookup(['4711'])).toMatchObject([{ kind: 'open' }]);
  });

  it('leaves a dead letter whose number came into the ledger, or changed there, since a person decided', async () => {
    const { version } = await refused();
    await batches.begin({ ...FILE, batch: 'b2' }, 1000);
    const result = {
      outcome: 'invalid',
      attempts: 0,
      at: 1,
      code: 'x',
      facts: { says: 'x' },
    } as const;
    await ledger.count('b2', 1000, [{ ordinal: 3, number: '4711', result }]);
    const request = { id: 'b2-3', number: '4711', by: ACTION };
    for (const seen of [0, version - 1])
      expect(await letters.close({ ...request, seen })).toBe('late');
    expect(await letters.close({ ...request, seen: version })).toEqual({ closed: 1 });
  });

  const CONFLICT = {
    outcome: 'conflict',
    attempts: 0,
    at: 1,
    code: 'other-content',
    facts: { state: 'accepted' },
  } as const;

  /** Another file brings the number, in any spelling, with other content. */
  async function conflicts(batch: string, number = '4711') {
    await batches.begin({ ...FILE, batch }, 1000);
    await ledger.count(batch, 1000, [{ ordinal: 3, number, result: CONFLICT }]);
  }

  const open = () => store.redis.hget(store.keys.waiting, '4711');
  const openIn = async (...names: string[]) =>
    (await Promise.all(names.map(batches.find))).map((batch) => batch?.open);

  it('replaces the open one of its number, in another spelling too, and takes what the ledger has of it', async () => {
    const entry = await refused();
    await conflicts('b2', '04711');
    expect(await open()).toBe('b2/3 04711');
    expect(await openIn('b1', 'b2')).toEqual([0, 1]);
    expect((await batches.closings('b1')).get('b1-0')).toMatchObject({
      by: 'replaced',
      successor: 'b2-3',
    });
    expect(await letters.close({ id: 'b2-3', number: '04711', entry, by: ACTION })).toEqual({
      closed: 1,
    });
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'nothing' }]);
  });

  it('waits in one in doubt, and is open again when that is settled', async () => {
    const entry = await refused();
    const doubted = { ...entry, version: entry.version + 1, state: 'inDoubt' } as const;
    await ledger.take(entry, { kind: 'move', entry: doubted });
    await conflicts('b2');
    await conflicts('b3');
    expect(await open()).toBe('b1/0 4711');
    expect(await openIn('b1', 'b2', 'b3')).toEqual([1, 0, 0]);
    expect(await letters.isOpen({ id: 'b3-3', purchaseOrderNumber: '4711' })).toBe(false);
    await go(doubted, { kind: 'confirm', at: 8000 });
    expect(await open()).toBe('b3/3 4711');
    expect(await openIn('b1', 'b2', 'b3')).toEqual([0, 0, 1]);
    expect(await batches.closings('b3')).toEqual(new Map());
  });

  it('of a later file waits in one of an earlier that comes after it', async () => {
    await batches.begin({ ...FILE, batch: 'b1' }, 1000);
    await conflicts('b2');
    await refused();
    expect(await open()).toBe('b1/0 4711');
    expect(await letters.close({ ...letter, by: ACTION })).toEqual({ closed: 1 });
    expect(await open()).toBe('b2/3 4711');
    expect(await openIn('b1', 'b2')).toEqual([0, 1]);
  });

  it('of a conflict that gets another number leaves what the API has under the old one', async () => {
    const entry = await refused();
    const conflict = {
      ...entry,
      version: entry.version + 1,
      state: 'conflict',
      known: { digest: 'content-at-api--' },
    } as const;
    await ledger.take(entry, { kind: 'move', entry: conflict });
    const { no } = await batches.begin({ ...FILE, batch: 'b2' }, 1000);
    const from = [{ id: 'b1-0', number: '4711', content: entry.digest, revision: 1 }];
    const again = entryOf({ batch: 'b2', batchNo: no, order: orderOf('4712'), from });
    expect(await ledger.enter(again, undefined, 5000)).toBe(true);
    await go(again, { kind: 'found', at: 8000, listed: { digest: again.digest } });
    expect(await openIn('b1', 'b2')).toEqual([0, 0]);
    expect(await ledger.lookup(['4711', '4712'])).toMatchObject([
      { kind: 'accepted', compact: { number: '4711', digest: 'content-at-api--', batchNo: 0 } },
      { kind: 'accepted', compact: { number: '4712', batchNo: no } },
    ]);
  });

  it('one of a number that a file has twice is open until it is closed itself', async () => {
    await batches.begin({ ...FILE, batch: 'b1' }, 1000);
    const words = { attempts: 1, at: 1, code: 'x', facts: { says: 'x' } };
    await ledger.count('b1', 1000, [
      { ordinal: 2, number: '4711', result: { ...words, outcome: 'inDoubt' } },
      { ordinal: 6, number: '4711', result: { ...words, outcome: 'conflict' } },
      { ordinal: 7, number: '', result: { ...words, outcome: 'invalid' } },
    ]);
    const areOpen = () =>
      Promise.all([
        letters.isOpen({ id: 'b1-2', purchaseOrderNumber: '4711' }),
        letters.isOpen({ id: 'b1-6', purchaseOrderNumber: '4711' }),
        letters.isOpen({ id: 'b1-7', purchaseOrderNumber: '' }),
      ]);
    expect(await areOpen()).toEqual([true, true, true]);
    await letters.close({ id: 'b1-6', number: '4711', by: ACTION });
    await letters.close({ id: 'b1-7', number: '', by: ACTION });
    expect(await areOpen()).toEqual([true, false, false]);
  });

  it('remembers that the API has the number with other content', async () => {
    const entry = await refused();
    const conflict: Entry = { ...entry, state: 'conflict' };
    await letters.close({ ...letter, entry: conflict, by: ACTION });
    expect(await ledger.lookup(['4711'])).toMatchObject([
      { kind: 'accepted', compact: { digest: OTHER, batchNo: 0 } },
    ]);
  });

  it('remembers which content the API has, where the list showed it', async () => {
    const entry: Entry = {
      ...(await refused()),
      state: 'conflict',
      known: { digest: 'content-at-api--' },
    };
    await letters.close({ ...letter, entry, by: ACTION });
    expect(await ledger.lookup(['4711'])).toMatchObject([
      { kind: 'accepted', compact: { digest: 'content-at-api--', batchNo: 0 } },
    ]);
  });

  it('a settled batch counts nothing more when one of its orders is sent again', async () => {
    const entry = await refused();
    await batches.admitted('b1', 1, '');
    await batches.done('b1');
    const again: Entry = { ...entry, version: entry.version + 1, state: 'queued' };
    await ledger.take(entry, { kind: 'move', entry: again, due: 9000 });
    const sending = await go(again, {
      kind: 'begin',
      at: store.time.now(),
      deadline: store.time.now() + 32_000,
    });
    await go(sending, { kind: 'answered', at: 7000, attempt: 2, verdict: { kind: 'accepted' } });
    expect(await batches.find('b1')).toMatchObject({
      open: 0,
      state: 'done',
      counts: { refused: 1, accepted: 0 },
    });
    expect(await batches.finished()).toEqual([]);
  });
});
