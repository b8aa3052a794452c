import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAdmitPage } from '../../src/admit/admit-page.ts';
import type { Config } from '../../src/config/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createAdoption } from '../../src/ledger/adopt.ts';
import { type Batches, createBatches } from '../../src/ledger/batches/batches.ts';
import { type Entry, UNSHOWN } from '../../src/ledger/entry.ts';
import { withdraw } from '../../src/ledger/job.ts';
import { createLedger, type Ledger } from '../../src/ledger/ledger.ts';
import { createRetention } from '../../src/ledger/retention.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { LedgerEvent } from '../../src/ledger/state-machine/step.ts';
import { cancelBatch, cancelledText } from '../../src/operate/batches/cancel-batch.ts';
import { retryDeadLetters } from '../../src/operate/dead-letters/retry-dead-letters.ts';
import { createOperator, type OperatorContext } from '../../src/operate/operator-context.ts';
import { setApart } from '../../src/operate/orders/resolve-order.ts';
import { digestOf } from '../../src/order/digest.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import type { FoundDeadLetter } from '../../src/put-away/dead-letters-in-progress.ts';
import { capturedLog } from '../support/captured-log.ts';
import { orderOf, policy } from '../support/entry.ts';
import { journalsInMemory } from '../support/journals-in-memory.ts';
import { type OpenRedis, openTestRedis } from '../support/open-redis.ts';

const FILE = { source: 'inbox', name: 'orders.csv', path: '/tmp/orders.csv' } as const;
const SIGHT = { records: 1, isFixFile: false };
type Dropped = {
  kind?: 'inbox' | 'export';
  again?: boolean;
  /** What happens while the reader is suspended, after it looked up its orders. */
  meanwhile?: () => Promise<void>;
};
/** How long the ledger keeps an order that no source shows, in milliseconds. */
const KEEP = 30 * 86_400_000;
const AT_API = { digest: 'content-at-api--', items: [{ articleCode: 'B-2', quantity: 9 }] };

/** What people's commands read of it. */
const CONFIG = {
  environment: 'staging',
  environments: { staging: {} },
  delivery: { attempts: 3, settle: 1000, onDoubt: 'verify', backoff: { initial: 1, max: 1 } },
  reports: { path: '/nowhere' },
} as unknown as Config;

describe('admission of a page', () => {
  let store: OpenRedis;
  let ledger: Ledger;
  let batches: Batches;
  let queued: string[];
  let names = 0;

  const queue = {
    nameJob: () => `c-${++names}`,
    add: async (jobs: readonly { numbers: readonly string[] }[]) => {
      for (const { numbers } of jobs) queued.push(...numbers);
    },
  };

  beforeAll(async () => {
    store = await openTestRedis();
    ledger = createLedger(store);
    batches = createBatches({ ...store, owner: 'daemon-1' });
  });
  const { log, lines } = capturedLog();

  beforeEach(async () => {
    queued = [];
    lines.length = 0;
    await store.redis.flushall();
    store.keys.apart.clear();
    await store.identity.establish();
    // As after the API's list was read.
    await store.redis.del(store.keys.rebuild, store.keys.breaker);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  /** Admits one file with these orders. `again`: it is a fix file. */
  async function drop(
    batch: string,
    orders: readonly CheckedOrder[],
    { kind = 'inbox', again = false, meanwhile }: Dropped = {},
  ): Promise<void> {
    const admitPage = createAdmitPage({
      store,
      ledger: meanwhile ? standingStill(meanwhile) : { ...ledger, enter: enteredLate },
      queue,
      batches,
      log,
      retention: createRetention({ ...store, keep: KEEP }),
    });
    const begun = await batches.begin({ ...FILE, kind, batch }, 1000);
    const facts = { ...SIGHT, isFixFile: again };
    await admitPage(begun, orders, facts);
    await batches.admitted(batch, orders.length, '');
  }

  let atEntering: (() => Promise<void>) | undefined;

  async function enteredLate(...given: Parameters<Ledger['enter']>) {
    const other = atEntering;
    atEntering = undefined;
    await other?.();
    return ledger.enter(...given);
  }

  /** The ledger of a process that is suspended once, between its first lookup and what it does next. */
  function standingStill(meanwhile: () => Promise<void>): Ledger {
    let looks = 0;
    return {
      ...ledger,
      lookup: async (numbers) => {
        const known = await ledger.lookup(numbers);
        looks += 1;
        if (looks === 1) await meanwhile();
        return known;
      },
    };
  }

  function order(number: string, ordinal = 0, quantity = 1): CheckedOrder {
    const place = { line: ordinal + 2 };
    return { ordinal, number, place, records: [], valid: true, order: orderOf(number, quantity) };
  }

  /** An order of a fix file, whose row was this line of an earlier batch, in the order `was`. */
  function fixed(number: string, line: number, ordinal = 0, of = 'b0', was = ''): CheckedOrder {
    const place = { line: ordinal + 2 };
    const from = { id: `${of}-${line - 2}`, revision: 1, number: was, content: '' };
    const records = [{ kind: 'row', place, cells: [], from }] as const;
    return { ordinal, number, place, records: [...records], valid: true, order: orderOf(number) };
  }

  async function entry(number: string): Promise<Entry> {
    const [known] = await ledger.lookup([number]);
    if (known?.kind !== 'open') throw new Error(`${number} has no entry`);
    return known.entry;
  }

  async function happens(number: string, event: LedgerEvent): Promise<void> {
    const before = await entry(number);
    expect(await ledger.take(before, next(before, event, policy))).toBe(true);
  }

  async function sent(
    number: string,
    verdict: Extract<LedgerEvent, { kind: 'answered' }>['verdict'],
  ): Promise<void> {
    const at = store.time.now();
    await happens(number, { kind: 'begin', at, deadline: at + 34_000 });
    await happens(number, { kind: 'answered', at, attempt: 1, verdict });
  }

  /** Its attempts are used up, and the API does not have it. */
  async function fails(number: string): Promise<void> {
    const at = store.time.now();
    await sent(number, { kind: 'unknown', answer: { code: '503', message: 'busy' } });
    const steps: string[] = [];
    for (const after of [200_000, 400_000]) {
      const before = await entry(number);
      const absent = { kind: 'absent', at: at + after, listedFrom: at + after } as const;
      const step = next(before, absent, { ...policy, attempts: 1 });
      if (await ledger.take(before, step)) steps.push(step.kind);
    }
    expect(steps).toEqual(['move', 'dead']);
  }

  async function cancel(batch: string): Promise<number> {
    const found = await batches.find(batch);
    const context = {
      ledger,
      batches,
      queue,
      store,
      clock: systemClock,
      journals: journalsInMemory(),
      operator: createOperator({}, store.time),
    };
    const all = {
      ...context,
      config: CONFIG,
    } as unknown as OperatorContext;
    if (found === undefined) throw new Error(`no batch ${batch}`);
    return (await cancelBatch(found, all)).cancelled;
  }

  /** A person retries the dead letter of an order. */
  async function retry(number: string, batch: string, line = 2): Promise<string[]> {
    const deadLetter = {
      id: `${batch}-${line - 2}`,
      revision: 1,
      purchaseOrderNumber: number,
      kind: 'refused',
      batch,
      location: { line },
    } as FoundDeadLetter;
    const context = {
      ledger,
      batches,
      queue,
      store,
      clock: systemClock,
      journals: journalsInMemory(),
      operator: createOperator({}, store.time),
      config: CONFIG,
    };
    return await retryDeadLetters([deadLetter], undefined, context as unknown as OperatorContext);
  }

  const counts = async (batch: string) =>
    Object.fromEntries(
      Object.entries((await batches.find(batch))?.counts ?? {}).filter(([, count]) => count > 0),
    );

  it('a duplicate of an order in progress is counted when that order has its outcome', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711')]);
    expect(await counts('b2')).toEqual({});
    await sent('4711', { kind: 'accepted' });
    expect([await counts('b1'), await counts('b2')]).toEqual([{ accepted: 1 }, { duplicate: 1 }]);
    expect((await batches.finished()).sort()).toEqual(['b1', 'b2']);
  });

  it('a duplicate of an accepted order of the same file keeps its result for the report', async () => {
    await drop('b1', [order('PO-1')]);
    await sent('PO-1', { kind: 'accepted' });
    await drop('b1', [order('PO-1', 1)]);
    expect(await batches.results('b1', [0, 1])).toEqual([
      undefined,
      expect.objectContaining({
        outcome: 'duplicate',
        facts: { from: 'here' },
      }),
    ]);
  });

  it('a batch that is done stays done, also when a suspended reader ends later', async () => {
    await drop('b1', []);
    await batches.done('b1');
    await batches.admitted('b1', 0, '');
    expect([(await batches.find('b1'))?.state, await batches.finished()]).toEqual(['done', []]);
  });

  it('a duplicate shares the fate of an order that is refused', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711')]);
    await sent('4711', { kind: 'refused', answer: { code: '400', message: 'no' } });
    expect([await counts('b1'), await counts('b2')]).toEqual([{ refused: 1 }, { duplicate: 1 }]);
  });

  it('takes the place of the order that it repeats when that one is canceled, along a chain of files', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711', 3)]);
    await drop('b3', [order('4711')]);
    expect(await cancel('b1')).toBe(1);
    expect(await entry('4711')).toMatchObject({
      batch: 'b2',
      ordinal: 3,
      place: { line: 5 },
      state: 'queued',
    });
    expect(await cancel('b2')).toBe(1);
    expect(await entry('4711')).toMatchObject({ batch: 'b3', ordinal: 0, state: 'queued' });
    await sent('4711', { kind: 'accepted' });
    expect([await counts('b1'), await counts('b2'), await counts('b3')]).toEqual([
      { cancelled: 1 },
      { cancelled: 1 },
      { accepted: 1 },
    ]);
    expect(queued).toEqual(['4711', '4711', '4711']);
  });

  it('joins an order that is on its way, whatever its sender knows of that', async () => {
    await drop('b1', [order('4711')]);
    const inHand = await entry('4711');
    await drop('b2', [order('4711')]);
    const at = store.time.now();
    const begun = next(inHand, { kind: 'begin', at, deadline: at + 34_000 }, policy);
    if (begun.kind !== 'move') throw new Error('it did not begin');
    expect(await ledger.take(inHand, begun)).toBe(true);
    const back = next(begun.entry, { kind: 'giveBack', at, before: inHand }, policy);
    expect(await ledger.take(begun.entry, back)).toBe(true);
    await drop('b3', [order('4711')]);
    expect(await ledger.take(begun.entry, back)).toBe(false);
    await sent('4711', { kind: 'refused', answer: { code: '400', message: 'no' } });
    const dead = await entry('4711');
    expect([await counts('b2'), await counts('b3'), dead.also]).toEqual([
      { duplicate: 1 },
      { duplicate: 1 },
      undefined,
    ]);
  });

  it('costs at most two commands an order, also where a later version of an export has it again', async () => {
    const orders = Array.from({ length: 100 }, (_, i) => order(`PO-${i}`, i));
    const sent = vi.spyOn(store.redis, 'sendCommand');
    for (const batch of ['e1', 'e2']) await drop(batch, orders, { kind: 'export' });
    expect(sent.mock.calls.length).toBeLessThanOrEqual(2 * 2 * orders.length);
    sent.mockRestore();
    expect(queued).toHaveLength(100);
  });

  it('of an export is final at once, and so is one more than an entry names', async () => {
    await drop('b1', [order('4711')]);
    await drop('e1', [order('4711')], { kind: 'export' });
    expect(await counts('e1')).toEqual({ duplicate: 1 });
    for (let i = 2; i <= 17; i += 1) await drop(`b${i}`, [order('4711')]);
    expect([await counts('b16'), await counts('b17')]).toEqual([{}, { duplicate: 1 }]);
    expect((await entry('4711')).also).toHaveLength(15);
    expect(queued).toEqual(['4711']);
  });

  it('is canceled with its own file, also within one file', async () => {
    await drop('b1', [order('4711'), order('4711', 1)]);
    await drop('b2', [order('4711')]);
    expect(await cancel('b2')).toBe(1);
    expect(await cancel('b1')).toBe(2);
    expect([await counts('b1'), await counts('b2')]).toEqual([{ cancelled: 2 }, { cancelled: 1 }]);
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'nothing' }]);
  });

  it('is canceled with its file where the cancellation was interrupted, and does not take the place of the order before it', async () => {
    await drop('b1', [order('4711'), order('4711', 1)]);
    await drop('b2', [order('4711')]);
    const at = store.time.now();
    await batches.cancel('b1', { at, who: 'anna' });
    expect(
      await withdraw(
        await entry('4711'),
        { at, who: 'anna', what: 'cancelled' },
        { ledger, queue, policy, at },
      ),
    ).toBe(true);
    expect([await counts('b1'), await counts('b2')]).toEqual([{ cancelled: 2 }, {}]);
    expect(await entry('4711')).toMatchObject({ batch: 'b2', state: 'queued' });
  });

  it('also takes the place of an order whose file was settled before, when a retry is canceled', async () => {
    await drop('b1', [order('4711')]);
    await sent('4711', { kind: 'refused', answer: { code: '400', message: 'no' } });
    await batches.done('b1');
    await happens('4711', { kind: 'retry', at: store.time.now(), job: 'c-9', delay: 0 });
    await drop('b2', [order('4711')]);
    expect(await cancel('b1')).toBe(1);
    expect(await entry('4711')).toMatchObject({ batch: 'b2', state: 'queued' });
  });

  it('a suspended reader does not enter an order that another one entered and a person canceled', async () => {
    await drop('b1', [order('4711')], {
      meanwhile: async () => {
        await drop('b1', [order('4711')]);
        expect(await cancel('b1')).toBe(1);
        queued = [];
      },
    });
    expect([await ledger.lookup(['4711']), queued]).toEqual([[{ kind: 'nothing' }], []]);
    expect(await counts('b1')).toEqual({ cancelled: 1 });
  });

  it('an order that is forgotten while an export with it is read is sent by this version, not by the next one', async () => {
    const { time } = store;
    await createAdoption(store)(
      [{ purchaseOrderNumber: '4711', digest: digestOf(orderOf('4711')) }],
      time.now() - 2 * KEEP,
    );
    const { forget } = createRetention({ ...store, keep: KEEP });
    await drop('b1', [order('4711')], {
      kind: 'export',
      meanwhile: async () => expect(await forget(time.now())).toBe(1),
    });
    expect(queued).toEqual(['4711']);
    expect((await batches.find('b1'))?.counts.duplicate).toBe(0);
  });

  it('a suspended reader counts an order as canceled when its batch was canceled meanwhile', async () => {
    await drop('b1', [order('4711')], {
      meanwhile: () => batches.cancel('b1', { at: store.time.now(), who: 'anna' }),
    });
    expect([await ledger.lookup(['4711']), queued]).toEqual([[{ kind: 'nothing' }], []]);
    expect(await counts('b1')).toEqual({ cancelled: 1 });
  });

  it('a suspended reader does not enter an order of a batch that is finished', async () => {
    await drop('b1', [order('4711')], {
      meanwhile: async () => {
        await drop('b1', [order('4711')]);
        expect(await cancel('b1')).toBe(1);
        await batches.done('b1');
        queued = [];
      },
    });
    expect([await ledger.lookup(['4711']), queued]).toEqual([[{ kind: 'nothing' }], []]);
  });

  it('a suspended reader lets no order of a canceled batch wait for another one', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711')], {
      meanwhile: async () => {
        await drop('b2', [order('4711')]);
        expect(await cancel('b2')).toBe(1);
      },
    });
    await drop('b3', [order('4711')], {
      meanwhile: () => batches.cancel('b3', { at: store.time.now(), who: 'anna' }),
    });
    expect(await cancel('b1')).toBe(1);
    expect(await ledger.lookup(['4711'])).toEqual([{ kind: 'nothing' }]);
    expect([await counts('b2'), await counts('b3')]).toEqual([{ cancelled: 1 }, { cancelled: 1 }]);
  });

  it('a file read again after a crash lets its duplicates wait once', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711')]);
    await drop('b2', [order('4711')]);
    await sent('4711', { kind: 'accepted' });
    expect(await counts('b2')).toEqual({ duplicate: 1 });
  });

  it('stores with a conflict which batch has the other content, so that its acceptance does not close it', async () => {
    await drop('b1', [order('4711')]);
    await drop('b2', [order('4711', 0, 5)]);
    const [result] = await batches.results('b2', [0]);
    expect(result).toMatchObject({ outcome: 'conflict', against: (await batches.find('b1'))?.no });
  });

  /** An order that the list showed with other items. */
  async function conflicting(): Promise<void> {
    await drop('b1', [order('4711')]);
    await sent('4711', { kind: 'unknown', answer: { code: 'no-answer', message: 'lost' } });
    await happens('4711', { kind: 'found', at: store.time.now(), listed: AT_API });
  }

  it('never sends an order that the API has: not from an export or a fix file, and not with other items', async () => {
    await conflicting();
    queued = [];
    await drop('b2', [order('4711')]);
    await drop('b3', [order('4711')], { again: true });
    await drop('b4', [order('4711', 0, 5)], { again: true });
    await drop('b5', [order('4711', 0, 6)], { kind: 'export' });
    expect(queued).toEqual([]);
    expect(await counts('b2')).toEqual({ duplicate: 1 });
    for (const batch of ['b3', 'b4', 'b5']) expect(await counts(batch)).toEqual({ conflict: 1 });
    const [result] = await batches.results('b4', [0]);
    expect(result).toMatchObject({ outcome: 'conflict', known: { items: AT_API.items } });
  });

  it('it is known why the first thousand invalid orders of a batch failed, each shortened, before there is a report', async () => {
    const problem = {
      line: 2,
      field: 'quantity',
      code: 'not-a-number',
      facts: { of: 'quantity' },
      value: 'x'.repeat(5_000),
    } as const;
    const orders = Array.from({ length: 1_002 }, (_, ordinal): CheckedOrder => {
      const place = { line: ordinal + 2 };
      const problems = [problem, problem, problem, problem];
      return {
        ordinal,
        number: `PO-${ordinal}`,
        place,
        records: [],
        valid: false,
        problems,
      };
    });
    await drop('b1', orders.slice(0, 600));
    await drop('b1', orders.slice(600));
    const [first, last, over] = await batches.results('b1', [0, 999, 1_000]);
    expect(first).toMatchObject({
      outcome: 'invalid',
      code: 'not-a-number',
      failed: { place: { line: 2 } },
    });
    expect(first?.failed?.problems.map(({ value }) => value.length)).toEqual([300, 300, 300]);
    expect([last?.failed?.place, over]).toEqual([{ line: 1_001 }, undefined]);
    expect(await counts('b1')).toEqual({ invalid: 1_002 });
  });

  it('logs one line for each order of a file that needs a person, with its number and line', async () => {
    await conflicting();
    const problem = {
      field: 'quantity',
      code: 'not-a-number',
      facts: { of: 'quantity' },
      value: 'x',
      line: 4,
    } as const;
    const invalid = {
      ordinal: 2,
      number: '4712',
      place: { line: 4 },
      records: [],
      problems: [problem],
    };
    lines.length = 0;
    await drop('b2', [
      order('4711', 0, 5),
      order('FINE', 1),
      { ...invalid, valid: false } as CheckedOrder,
    ]);
    expect(
      lines.map(({ event, order: number, line, outcome, level }) => [
        event,
        number,
        line,
        outcome,
        level,
      ]),
    ).toEqual([
      ['order-not-admitted', '4712', 4, 'invalid', 'info'],
      ['order-not-admitted', '4711', 2, 'conflict', 'info'],
    ]);
    expect(lines[0]).toMatchObject({ reason: 'quantity is not a number' });
  });

  it('ends a conflict by a fix file with the content that the API has', async () => {
    const corrected = order('4711', 0, 7);
    await drop('b1', [order('4711')]);
    await sent('4711', { kind: 'unknown', answer: { code: 'no-answer', message: 'lost' } });
    if (!corrected.valid) throw new Error('not valid');
    const digest = digestOf(corrected.order);
    await happens('4711', { kind: 'found', at: store.time.now(), listed: { digest } });
    expect(await batches.find('b1')).toMatchObject({ open: 1 });
    await drop('b2', [corrected], { again: true });
    expect(await counts('b2')).toEqual({ duplicate: 1 });
    expect(await ledger.lookup(['4711'])).toMatchObject([
      { kind: 'accepted', compact: { digest, batchNo: 0 } },
    ]);
    expect(await batches.find('b1')).toMatchObject({ open: 0 });
  });

  it('of two fix files at the same moment, each row becomes one order, and the other learns that', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => i + 2);
    const file = (name: string) => lines.map((line, i) => fixed(`${name}-${line}`, line, i));
    await Promise.all([
      drop('b1', file('ANN'), { again: true }),
      drop('b2', file('BOB'), { again: true }),
    ]);
    const byLine = lines.map(
      (line) => queued.filter((number) => number.endsWith(`-${line}`)).length,
    );
    expect(byLine).toEqual(lines.map(() => 1));
    const [one, two] = [await counts('b1'), await counts('b2')];
    expect((one['cancelled'] ?? 0) + (two['cancelled'] ?? 0)).toBe(lines.length);
  });

  it('a row whose first correction was refused can become another order, and its retry then sends nothing', async () => {
    await drop('b1', [fixed('ANN-1', 2)], { again: true });
    await drop('b2', [fixed('BOB-1', 2)], { again: true });
    expect([queued, await counts('b2')]).toEqual([['ANN-1'], { cancelled: 1 }]);
    await sent('ANN-1', { kind: 'refused', answer: { code: '400', message: 'no' } });
    await drop('b4', [fixed('BOB-3', 2)], { again: true });
    expect(await counts('b4')).toEqual({ cancelled: 1 });
    await drop('b3', [fixed('BOB-2', 2, 0, 'b1', 'ANN-1')], { again: true });
    expect(queued).toEqual(['ANN-1', 'BOB-2']);
    expect(await retry('ANN-1', 'b1')).toEqual(['corrected']);
    expect((await entry('ANN-1')).state).toBe('refused');
  });

  it('an order that a person retried does not become another one by an older copy of its fix file', async () => {
    await drop('b1', [order('PO-1')]);
    await sent('PO-1', { kind: 'refused', answer: { code: '400', message: 'no' } });
    expect(await retry('PO-1', 'b1')).toEqual(['retried']);
    await drop('b2', [fixed('PO-1A', 2, 0, 'b1', 'PO-1')], { again: true });
    expect([queued, await counts('b2')]).toEqual([['PO-1', 'PO-1'], { cancelled: 1 }]);
    expect(await batches.results('b2', [0])).toMatchObject([{ code: 'outdated' }]);
  });

  it.each(['file', 'fix file'])(
    'of a file that has orders again and a fix file that gives them other numbers, one sends each, also while the %s is entered',
    async (late) => {
      const numbers = Array.from({ length: 40 }, (_, i) => `PO-${i}`);
      const again = numbers.map((number, i) => order(number, i));
      await drop('b1', again);
      for (const number of numbers) await fails(number);
      queued = [];
      const renamed = numbers.map((number, i) => fixed(`${number}A`, i + 2, i, 'b1', number));
      const changed = numbers.map((number, i) => order(number, i, 5));
      const files = [() => drop('b2', renamed, { again: true }), () => drop('b3', changed)];
      const [one, other] = late === 'file' ? files.toReversed() : files;
      // Between what the guard reads and the step that enters an order.
      atEntering = other;
      await one?.();
      expect(queued.map((number) => number.replace('A', '')).sort()).toEqual(numbers.toSorted());
    },
  );

  it('of a retry and a fix file at the same moment, one sends', async () => {
    const numbers = Array.from({ length: 40 }, (_, i) => `PO-${i}`);
    await drop(
      'b1',
      numbers.map((number, i) => order(number, i)),
    );
    for (const number of numbers)
      await sent(number, { kind: 'refused', answer: { code: '400', message: 'no' } });
    queued = [];
    const renamed = numbers.map((number, i) => fixed(`${number}A`, i + 2, i, 'b1', number));
    await Promise.all([
      drop('b2', renamed, { again: true }),
      ...numbers.map((number, i) => retry(number, 'b1', i + 2)),
    ]);
    expect(queued.map((number) => number.replace('A', '')).sort()).toEqual(numbers.toSorted());
  });

  it('a dead letter whose order was sent since, by a person or a later file, is not sent under another number', async () => {
    await drop('b1', [order('PO-1'), order('PO-2', 1), order('PO-3', 2)]);
    for (const number of ['PO-1', 'PO-2', 'PO-3'])
      await sent(number, { kind: 'refused', answer: { code: '400', message: 'no' } });
    await drop('b2', [order('PO-1', 0, 5), order('PO-2', 1, 5)]);
    await sent('PO-1', { kind: 'accepted' });
    queued = [];
    const again = [2, 3, 4].map((line, i) =>
      fixed(`PO-${line - 1}A`, line, i, 'b1', `PO-${line - 1}`),
    );
    await drop('b3', again, { again: true });
    expect([queued, await counts('b3')]).toEqual([['PO-3A'], { cancelled: 2 }]);
  });

  it('an order that waits for a person is not replaced by a row of another one with its number, unless that joins it', async () => {
    const problem = {
      field: 'quantity',
      code: 'not-a-number',
      facts: { of: 'quantity' },
      value: 'x',
      line: 2,
    } as const;
    const waiting = {
      ordinal: 0,
      number: 'PO-1',
      place: { line: 2 },
      records: [],
      problems: [problem],
    };
    const lines = [
      waiting,
      { ...waiting, ordinal: 1, number: '' },
      { ...waiting, ordinal: 2, number: 'PO-2' },
    ];
    await drop(
      'b1',
      lines.map((one) => ({ ...one, valid: false as const })),
    );
    const rows = [fixed('PO-1', 3, 0, 'b1'), fixed('PO-1', 4, 0, 'b1', 'PO-2')];
    for (const [at, row] of rows.entries()) {
      await drop(`b${at + 2}`, [row], { again: true });
      expect([queued, await batches.results(`b${at + 2}`, [0])]).toMatchObject([
        [],
        [{ code: 'outdated' }],
      ]);
    }
    expect(await batches.find('b1')).toMatchObject({ open: 3 });
    // With one of its rows it is the same order, and a person can decide that the other row is all of it.
    const [own, joined] = [fixed('PO-1', 2, 0, 'b1', 'PO-1'), fixed('PO-1', 4, 0, 'b1', 'PO-2')];
    await drop('b5', [{ ...own, records: [...own.records, ...joined.records] }], { again: true });
    expect(queued).toEqual(['PO-1']);
    await sent('PO-1', { kind: 'accepted' });
    expect(await batches.find('b1')).toMatchObject({ open: 1 });
  });

  it('an order in conflict with an earlier one is sent under its new number', async () => {
    await drop('b1', [order('PO-1')]);
    await sent('PO-1', { kind: 'accepted' });
    await drop('b2', [order('PO-1', 0, 5)]);
    await drop('b3', [fixed('PO-1A', 2, 0, 'b2', 'PO-1')], { again: true });
    expect(queued).toEqual(['PO-1', 'PO-1A']);
  });

  it('a dead letter ends with the order that corrects it, whose old number then is that order', async () => {
    await drop('b1', [order('PO-1'), order('PO-2', 1)]);
    for (const number of ['PO-1', 'PO-2'])
      await sent(number, { kind: 'refused', answer: { code: '400', message: 'no' } });
    await drop('b2', [fixed('PO-3', 2, 0, 'b1', 'PO-1'), fixed('PO-4', 3, 1, 'b1', 'PO-2')], {
      again: true,
    });
    await sent('PO-3', { kind: 'accepted' });
    await sent('PO-4', { kind: 'refused', answer: { code: '400', message: 'no' } });
    const closings = await batches.closings('b1');
    expect([closings.get('b1-0'), closings.get('b1-1')]).toMatchObject([
      { by: 'accepted', batch: 'b2' },
      { by: 'replaced', batch: 'b2', successor: 'b2-1' },
    ]);
    expect([(await batches.find('b1'))?.open, (await batches.find('b2'))?.open]).toEqual([0, 1]);
    queued = [];
    await drop('b3', [order('PO-1', 0, 5), order('PO-1', 1), order('PO-2', 2)]);
    expect([queued, await counts('b3')]).toEqual([[], { conflict: 1, duplicate: 2 }]);
    expect((await batches.results('b3', [1, 2])).map((one) => one?.code)).toEqual([
      'known-settled',
      'known-invalid',
    ]);
    expect(await batches.results('b3', [0])).toMatchObject([
      { code: 'renumbered', facts: { as: 'PO-3' } },
    ]);
  });

  it('sends an order in conflict only if a person decides so', async () => {
    await conflicting();
    const before = await entry('4711');
    expect(next(before, { kind: 'retry', at: 1, job: 'c', delay: 0 }, policy).kind).toBe('ignore');
    await happens('4711', { kind: 'resend', at: store.time.now(), job: 'c-9' });
    expect(await entry('4711')).toMatchObject({ state: 'queued', job: 'c-9' });
  });

  describe('of a number that the ledger has in another spelling', () => {
    const outcomes = async (batch: string) => {
      const found = await batches.find(batch);
      return Object.fromEntries(Object.entries(found?.counts ?? {}).filter(([, many]) => many > 0));
    };

    it.each([
      ['88', '0088'],
      ['0088', '88'],
      ['PO-1', 'po-1'],
      ['po 1', 'Po1'],
      ['PO-007', 'PO-7'],
    ])('%s is in conflict with %s, in progress or accepted', async (first, second) => {
      await drop('b1', [order(first)]);
      await drop('b2', [order(second)]);
      await sent(first, { kind: 'accepted' });
      await drop('b3', [order(second, 0, 7)]);
      expect(queued).toEqual([first]);
      expect([await outcomes('b2'), await outcomes('b3')]).toEqual([
        { conflict: 1 },
        { conflict: 1 },
      ]);
      const code = 'other-spelling';
      expect([
        ...(await batches.results('b2', [0])),
        ...(await batches.results('b3', [0])),
      ]).toEqual([
        expect.objectContaining({
          code,
          facts: { as: first, state: 'inProgress', from: { batch: 'b1', file: 'orders.csv' } },
        }),
        expect.objectContaining({
          code,
          facts: { as: first, state: 'accepted', from: { batch: 'b1', file: 'orders.csv' } },
        }),
      ]);
    });

    it('is sent where the other order was refused or cancelled, which then cannot be sent', async () => {
      await drop('b1', [order('0001'), order('0002', 1)]);
      await sent('0001', { kind: 'refused', answer: { code: 'http-400', message: 'no' } });
      await cancel('b1');
      await drop('b2', [order('1'), order('2', 1)]);
      expect(queued).toEqual(['0001', '0002', '1', '2']);
      await drop('b3', [fixed('0001', 2, 0, 'b1', '0001')], { again: true });
      expect(await outcomes('b3')).toEqual({ conflict: 1 });
    });

    it('is sent once a person said that it is another order', async () => {
      await drop('b1', [order('PO-7')]);
      await drop('b2', [order('po-007')]);
      await setApart('po-007', { ledger, store } as unknown as OperatorContext);
      await drop('b3', [order('po-007')]);
      expect([queued, await outcomes('b2')]).toEqual([['PO-7', 'po-007'], { conflict: 1 }]);
      await sent('PO-7', { kind: 'accepted' });
      await sent('po-007', { kind: 'accepted' });
      await drop('b4', [order('po-007'), order('Po-7', 1)]);
      expect(await outcomes('b4')).toEqual({ duplicate: 1, conflict: 1 });
      await expect(
        setApart('PO-7', { ledger, store } as unknown as OperatorContext),
      ).rejects.toMatchObject({ code: 'no-other-spelling' });
    });

    it('has its own open dead letter once it is another order, also while the first is in doubt', async () => {
      await drop('b1', [order('PO-7')]);
      const at = store.time.now();
      await happens('PO-7', { kind: 'begin', at, deadline: at + 34_000 });
      const verdict = { kind: 'unknown', answer: { code: '503', message: 'busy' } } as const;
      const before = await entry('PO-7');
      const doubt = { kind: 'answered', at, attempt: 1, verdict } as const;
      await ledger.take(before, next(before, doubt, { ...policy, onDoubt: 'hold' }));
      await drop('b2', [order('po-007')]);
      await setApart('po-007', { ledger, store } as unknown as OperatorContext);
      const letters = { '=po-007': 'b2/0 po-007', 'PO-7': 'b1/0 PO-7' };
      expect(await store.redis.hgetall(store.keys.waiting)).toEqual(letters);
      expect(await store.redis.hgetall(store.keys.behind)).toEqual({});
      expect(await store.redis.exists(store.keys.closed('b2'))).toBe(0);
      expect(await batches.find('b2')).toMatchObject({ open: 1 });
    });

    it('is in conflict with an order of the API list', async () => {
      await createAdoption(store)([{ purchaseOrderNumber: 'PO-7', digest: UNSHOWN }], 1);
      await drop('b1', [order('po-007'), order('PO-7', 1)]);
      expect([queued, await outcomes('b1')]).toEqual([[], { conflict: 1, duplicate: 1 }]);
    });

    it('is queued once where two daemons admit both spellings at the same moment', async () => {
      const numbers = Array.from({ length: 10 }, (_, i) => String(100 + i));
      await Promise.all([
        drop(
          'b1',
          numbers.map((number, i) => order(`0${number}`, i)),
        ),
        drop(
          'b2',
          numbers.map((number, i) => order(number, i)),
        ),
      ]);
      expect(queued.map(Number).sort((a, b) => a - b)).toEqual(numbers.map(Number));
    });

    it('is cancelled with its file', async () => {
      await drop('b1', [order('0088')]);
      await cancel('b1');
      await batches.begin({ ...FILE, kind: 'inbox', batch: 'b2' }, 1000);
      await batches.cancel('b2', { at: 1, who: 'anna' });
      await drop('b2', [order('88')]);
      expect(await outcomes('b2')).toEqual({ cancelled: 1 });
    });
  });
});

it('a cancellation names what was accepted before, and that the rest of the file follows', () => {
  const text = (end: Partial<Parameters<typeof cancelledText>[1]>) =>
    cancelledText(
      { batch: 'b1', name: 'a.csv' },
      { cancelled: 1, accepted: 0, underWay: 0, reading: false, ...end },
    );
  expect(text({ cancelled: 1784, accepted: 3931, underWay: 1, reading: true })).toBe(
    '1,784 orders of "a.csv" cancelled; 3,931 orders had been accepted before; 1 order may have been sent: cancelled unless the API\'s list shows them; the rest of the file is cancelled as it is read.',
  );
  expect(text({ unread: 200 })).toBe(
    '1 order of "a.csv" cancelled; 200 orders were not read and will not be sent.',
  );
  expect(text({ cancelled: 0 })).toBe('0 orders of "a.csv" cancelled.');
});
