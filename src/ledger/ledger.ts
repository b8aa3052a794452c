import type { Redis } from '../redis/connect.ts';
import { bucketOf, type Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Known } from './admission.ts';
import { type Change, createCommits, type LedgerIdentity } from './commits.ts';
import { decodeCompact, decodeEntry, type Entry, encodeCompact } from './entry.ts';
import type { OperatorAction } from './operator-action.ts';
import type { DeadEntry, Step } from './state.ts';
import type { StoredResult } from './stored-result.ts';

/** One order that ends at admission. */
export type Counted = { ordinal: number; number: string; result: StoredResult };

/** Numbers looked up in one step of Redis. */
const LOOKUP = 500;

export type Ledger = ReturnType<typeof createLedger>;

/**
 * What is known of every order of one environment, apart from the queue. Decisions are made by `next` and `admit`;
 * this commits them: compare the version, store, and count the outcome for its batch, all in one script.
 */
export function createLedger({ redis, keys, identity }: { redis: Redis; keys: Keys; identity: LedgerIdentity }) {
  const lookupScript = readScript(new URL('./lookup.lua', import.meta.url));
  const tallyScript = readScript(new URL('./tally.lua', import.meta.url));
  const commit = createCommits({ redis, keys, identity });

  /** What is known of each number, in the order asked. */
  async function lookup(numbers: readonly string[]): Promise<Known[]> {
    const pages = [];
    for (let i = 0; i < numbers.length; i += LOOKUP) pages.push(lookupPage(numbers.slice(i, i + LOOKUP)));
    return (await Promise.all(pages)).flat();
  }

  /** One round trip. */
  async function lookupPage(numbers: readonly string[]): Promise<Known[]> {
    const asked: string[] = [keys.prefix];
    for (const number of numbers) asked.push(number, bucketOf(number));
    const found = (await runScript(redis, lookupScript, [], asked)) as (string | null)[];
    return found.map(knownFrom);
  }

  /** Puts a new or mended order into the ledger; false when somebody else changed it meanwhile. */
  async function enter(entry: Entry, before: Entry | undefined, due: number): Promise<boolean> {
    const { order, batch, ordinal } = entry;
    const expected = before?.version ?? 0;
    return commit({ number: order.purchaseOrderNumber, expected, entry, due, batch, ordinal });
  }

  /**
   * Commits what `next` or `decide` made of `entry`; false when the decision came too late. A `deed` joins the order's
   * history in the same step. Throws PoSyncError `ledger-rolled-back` instead of letting an order begin in a ledger
   * that forgot something.
   */
  async function take(entry: Entry, step: Step, operatorAction?: OperatorAction): Promise<boolean> {
    const number = entry.order.purchaseOrderNumber;
    const { version: expected, batch, ordinal } = entry;
    const wasInDoubt = entry.state === 'unknown';
    const base = {
      number,
      expected,
      batch,
      ordinal,
      wasInDoubt,
      ...(operatorAction === undefined ? {} : { operatorAction }),
    };
    switch (step.kind) {
      case 'ignore':
        return false;
      case 'move':
        return commit({ ...base, entry: step.entry, ...scores(step) });
      case 'accept':
        return commit({ ...base, ...acceptance(entry, step.attempts, step.at) });
      case 'cancel':
        return commit({ ...base, ...cancellation(step.at, entry.attempt) });
      case 'dead':
        return commit({ ...base, entry: step.entry, ...burial(step.entry) });
    }
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
  async function deeds(number: string): Promise<OperatorAction[]> {
    return (await redis.lrange(keys.deeds(number), 0, -1)).map((text) => JSON.parse(text) as OperatorAction);
  }

  return { lookup, enter, take, deeds, count, numbersDue, nextDue, postpone, unsettled };
}

type Settling = Omit<Change, 'number' | 'expected' | 'batch' | 'ordinal'>;

function knownFrom(text: string | null): Known {
  if (text === null) return { kind: 'nothing' };
  if (text.startsWith('=')) return { kind: 'accepted', compact: decodeCompact(text.slice(1)) };
  return { kind: 'open', entry: decodeEntry(text) };
}

function scores(step: { due?: number; doubt?: number }): Pick<Change, 'due' | 'doubt'> {
  return {
    ...(step.due === undefined ? {} : { due: step.due }),
    ...(step.doubt === undefined ? {} : { doubt: step.doubt }),
  };
}

function acceptance(entry: Entry, attempts: number, at: number): Settling {
  const compact = encodeCompact({ digest: entry.digest, attempts, at, batchNo: entry.batchNo });
  const lost = entry.state === 'unknown' ? entry.history?.at(-1) : undefined;
  if (lost === undefined) return { compact, outcome: 'accepted', closes: true, at };
  // The entry with its history goes; the report must still say which attempt had no clear answer.
  const message = `attempt ${lost.attempt}: ${lost.message}; found in the API's list`;
  const result: StoredResult = { outcome: 'accepted', attempts, at, code: 'listed', message };
  return { compact, outcome: 'accepted', result, closes: true, at };
}

function cancellation(at: number, attempts: number): Settling {
  const result: StoredResult = {
    outcome: 'cancelled',
    attempts,
    at,
    code: 'cancelled',
    message: 'taken back before it was sent',
  };
  return { outcome: 'cancelled', result, at };
}

function burial(entry: DeadEntry): Settling {
  const { state: outcome, attempt: attempts, lastAt: at = 0, firstAt = at, answer } = entry;
  const words = answer ?? { code: outcome, message: '' };
  return { outcome, result: { outcome, attempts, at, firstAt, ...words }, dead: true, at };
}

/** What the file and the ledger tell again when the report is written: an invalid order, a duplicate of another batch. */
function isPlain(result: StoredResult): boolean {
  return (result.outcome === 'duplicate' || result.outcome === 'invalid') && result.message === '';
}
