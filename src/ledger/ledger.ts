import { PoSyncError } from '../errors.ts';
import type { Closing } from '../order/closing.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Known } from './admission.ts';
import type { Deed } from './deed.ts';
import { decodeCompact, decodeEntry, type Entry, encodeCompact, encodeEntry } from './entry.ts';
import type { Identity } from './identity.ts';
import type { DeadEntry, Step } from './state.ts';

/**
 * The result of an order that did not simply come to be accepted; kept with its batch until the report is written.
 * Times are milliseconds.
 */
export type StoredResult = {
  outcome: Outcome;
  attempts: number;
  at: number;
  firstAt?: number;
  code: string;
  message: string;
  httpStatus?: number;
  response?: string;
};

/** One order that ends at admission. */
export type Counted = { ordinal: number; number: string; result: StoredResult };

/** An intent that comes to Redis later than this after it was made, by Redis' own clock, is none. Milliseconds. */
export const INTENT_TRAVELS = 2_000;

export type Ledger = ReturnType<typeof openLedger>;

/**
 * What is known of every order of one environment, apart from the queue. Decisions are made by `next` and `admit`;
 * this commits them: compare the version, store, and count the outcome for its batch, all in one script.
 */
export function openLedger({
  redis,
  keys,
  identity,
}: {
  redis: Redis;
  keys: Keys;
  identity: Pick<Identity, 'known' | 'saw'>;
}) {
  const commitScript = readScript(new URL('./commit.lua', import.meta.url));
  const tallyScript = readScript(new URL('./tally.lua', import.meta.url));

  /** What is known of each number, in the order asked. One round trip. */
  async function lookup(numbers: readonly string[]): Promise<Known[]> {
    return Promise.all(numbers.map(lookupOne));
  }

  async function lookupOne(number: string): Promise<Known> {
    // Open first: an order settled between the two reads is then seen as settled, never as unknown.
    const [open, settled] = await Promise.all([redis.get(keys.open(number)), redis.hget(keys.settled(number), number)]);
    if (open !== null) return { kind: 'open', entry: decodeEntry(open) };
    if (settled !== null) return { kind: 'accepted', compact: decodeCompact(settled) };
    return { kind: 'nothing' };
  }

  /** Puts a new or mended order into the ledger; false when somebody else changed it meanwhile. */
  async function enter(entry: Entry, before: Entry | undefined, due: number): Promise<boolean> {
    return commit({ number: entry.order.purchaseOrderNumber, expected: before?.version ?? 0, entry, due }, entry);
  }

  /**
   * Commits what `next` or `decide` made of `entry`; false when the decision came too late. A `deed` joins the order's
   * history in the same step. Throws PoSyncError `ledger-rolled-back` instead of letting an order begin in a ledger
   * that forgot something.
   */
  async function take(entry: Entry, step: Step, deed?: Deed): Promise<boolean> {
    const number = entry.order.purchaseOrderNumber;
    const base = { number, expected: entry.version, ...(deed === undefined ? {} : { deed }) };
    switch (step.kind) {
      case 'ignore':
        return false;
      case 'move':
        return commit({ ...base, entry: step.entry, ...scores(step) }, step.entry);
      case 'accept':
        return commit({ ...base, ...acceptance(entry, step.attempts, step.at) }, entry);
      case 'cancel':
        return commit({ ...base, ...cancellation(step.at, entry.attempt) }, entry);
      case 'dead':
        return commit({ ...base, entry: step.entry, ...burial(step.entry) }, step.entry);
    }
  }

  async function commit(change: Change, of: Entry): Promise<boolean> {
    const { batch, ordinal } = of;
    const done = await runScript(
      redis,
      commitScript,
      [
        keys.open(change.number),
        keys.settled(change.number),
        keys.due,
        keys.doubt,
        keys.waiting,
        keys.batch(batch),
        keys.counted(batch),
        keys.results(batch),
        keys.finished,
        keys.identity,
        keys.deeds(change.number),
        keys.takeOver,
      ],
      [
        change.number,
        change.expected,
        change.entry ? encodeEntry(change.entry) : '',
        change.due ?? '',
        change.doubt ?? '',
        change.compact ?? '',
        ordinal,
        change.outcome ?? '',
        change.result ? JSON.stringify(change.result) : '',
        change.dead ? '1' : '0',
        change.at ?? '',
        keys.prefix,
        batch,
        change.closes ? JSON.stringify(closingOf(change, batch)) : '',
        ...(change.entry?.state === 'sending' ? [identity.known().life, identity.known().seq] : ['', '']),
        change.deed ? JSON.stringify(change.deed) : '',
        change.entry?.lastAt ?? 0,
        INTENT_TRAVELS,
      ],
    );
    if (done === -1) throw new PoSyncError('ledger-rolled-back', 'Redis knows less of the orders than it did.');
    identity.saw(Number(done));
    return done !== 0;
  }

  /** Counts orders that end at admission; repeating it counts nothing twice. */
  async function count(batch: string, at: number, orders: readonly Counted[]): Promise<void> {
    if (orders.length === 0) return;
    const args = orders.flatMap(({ ordinal, number, result }) => [
      ordinal,
      result.outcome,
      isPlain(result) ? '' : JSON.stringify(result),
      number,
    ]);
    const batchKeys = [keys.batch(batch), keys.counted(batch), keys.results(batch), keys.finished, keys.waiting];
    await runScript(redis, tallyScript, batchKeys, [at, batch, ...args]);
  }

  /** Numbers whose time has come, oldest first. `which`: `due` for the sweeper, `doubt` for verification. */
  async function numbersDue(which: 'due' | 'doubt', now: number, most: number): Promise<string[]> {
    return redis.zrangebyscore(keys[which], '-inf', now, 'LIMIT', 0, most);
  }

  /** When the next number of that set is due, or undefined. */
  async function nextDue(which: 'due' | 'doubt'): Promise<number | undefined> {
    const [, score] = await redis.zrange(keys[which], 0, '0', 'WITHSCORES');
    return score === undefined ? undefined : Number(score);
  }

  /** Lets the sweeper look again later, without a change of the order. */
  async function postpone(number: string, due: number): Promise<void> {
    await redis.zadd(keys.due, 'XX', due, number);
  }

  /** How many orders are neither settled nor dead letters. */
  async function unsettled(): Promise<number> {
    const [due, doubt] = await Promise.all([redis.zcard(keys.due), redis.zcard(keys.doubt)]);
    return due + doubt;
  }

  /** What people did with an order, oldest first. */
  async function deeds(number: string): Promise<Deed[]> {
    return (await redis.lrange(keys.deeds(number), 0, -1)).map((text) => JSON.parse(text) as Deed);
  }

  return { lookup, enter, take, deeds, count, numbersDue, nextDue, postpone, unsettled };
}

type Change = {
  number: string;
  expected: number;
  entry?: Entry;
  due?: number;
  doubt?: number;
  compact?: string;
  outcome?: Outcome;
  result?: StoredResult;
  dead?: boolean;
  closes?: boolean;
  at?: number;
  deed?: Deed;
};

function closingOf({ number, at = 0, deed }: Change, batch: string): Closing {
  const closing = { number, at: new Date(at).toISOString(), by: deed?.what ?? 'accepted', batch };
  return deed === undefined ? closing : { ...closing, who: deed.who };
}

function scores(step: { due?: number; doubt?: number }): Pick<Change, 'due' | 'doubt'> {
  return {
    ...(step.due === undefined ? {} : { due: step.due }),
    ...(step.doubt === undefined ? {} : { doubt: step.doubt }),
  };
}

function acceptance(entry: Entry, attempts: number, at: number): Omit<Change, 'number' | 'expected'> {
  const compact = encodeCompact({ digest: entry.digest, attempts, at, batchNo: entry.batchNo });
  return { compact, outcome: 'accepted', closes: true, at };
}

function cancellation(at: number, attempts: number): Omit<Change, 'number' | 'expected'> {
  const result: StoredResult = {
    outcome: 'cancelled',
    attempts,
    at,
    code: 'cancelled',
    message: 'taken back before it was sent',
  };
  return { outcome: 'cancelled', result, at };
}

function burial(entry: DeadEntry): Omit<Change, 'number' | 'expected'> {
  const { state: outcome, attempt: attempts, lastAt: at = 0, firstAt = at, answer } = entry;
  const words = answer ?? { code: outcome, message: '' };
  return { outcome, result: { outcome, attempts, at, firstAt, ...words }, dead: true, at };
}

/** What the file and the ledger tell again when the report is written: an invalid order, a duplicate of another batch. */
function isPlain(result: StoredResult): boolean {
  return (result.outcome === 'duplicate' || result.outcome === 'invalid') && result.message === '';
}
