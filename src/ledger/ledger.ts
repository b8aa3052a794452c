import type { Closing } from '../order/dead-letter.ts';
import type { LetterRef } from '../order/letter-id.ts';
import { needsPerson, type Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import { bucketOf, type Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { createListedTwice } from './adopt.ts';
import type { Batch } from './batches/batches.ts';
import { type Change, createCommits, endingOf, takenLetters } from './commits.ts';
import {
  answered,
  cancelledResult,
  decodeCompact,
  decodeEntry,
  type Entry,
  isAsBefore,
  type Known,
  type Occurrence,
  type OperatorAction,
  occurrencesOf,
  outdatedResult,
  type StoredResult,
  sameFileResult,
  versionAfter,
} from './entry.ts';
import type { LedgerIdentity } from './identity.ts';
import { actionOn, createOperatorActions } from './operator-actions.ts';
import { type Failed, seenPair } from './seen.ts';
import { isSendable, type Step, SWEEP_AFTER } from './state-machine/step.ts';

/**
 * One order that ends at admission; `from`: the dead letters that it corrects; `content`: what it has; `isShown`: a file shows it
 * as the API has it.
 */
export type Counted = {
  ordinal: number;
  number: string;
  result: StoredResult;
  from?: readonly LetterRef[];
  content?: Omit<Failed, 'number'>;
  isShown?: boolean;
};

/** Numbers looked up in one step of Redis. */
const LOOKUP = 500;

export type Ledger = ReturnType<typeof createLedger>;

type LedgerDeps = {
  redis: Redis;
  keys: Keys;
  identity: LedgerIdentity;
  /**
   * Called when orders of a batch were counted with an outcome, at a ledger time in milliseconds; `entry`: of an order that
   * was in the ledger, before that.
   */
  onOutcome?: (batch: string, outcome: Outcome, orders: number, at: number, entry?: Entry) => void;
};

/**
 * What is known of every order, apart from the queue. The state machine decides; this commits: compare the version, store,
 * and count the outcome for its batch, in one script.
 */
export function createLedger(deps: LedgerDeps) {
  const { redis, keys, identity, onOutcome } = deps;
  const commit = createCommits({ redis, keys, identity });
  const lookup = createLookup(redis, keys);

  /**
   * Admits an order, due then; false when its number or its batch was changed meanwhile, or it has an outcome; `outdated` when
   * a dead letter that it corrects is not to be corrected any more.
   */
  async function enter(entry: Entry, before: Entry | undefined, due: number) {
    const { order, batch, ordinal, from } = entry;
    const expected = before?.version ?? 0;
    const place = { number: order.purchaseOrderNumber, batch, ordinal };
    return commit({ ...place, expected, entry, due, ...(from && { from }), isAdmission: true });
  }

  /** A file brings an order in progress once more; false when the order or the file's batch was changed meanwhile. */
  async function join(entry: Entry, before: Entry, { batch, ordinal }: Occurrence) {
    const place = { number: entry.order.purchaseOrderNumber, batch, ordinal };
    const change = { ...place, expected: before.version, entry, isAdmission: true, goesOn: true };
    return (await commit(change)) === true;
  }

  /**
   * Commits what `next` made of `entry`; false when the decision came too late. An operator action joins the order's
   * history in the same step. Throws PoSyncError `ledger-rolled-back` instead of letting an attempt begin in an incomplete
   * ledger.
   */
  async function take(
    entry: Entry,
    step: Step,
    operatorAction?: OperatorAction,
    more: Pick<Change, 'from' | 'witness'> = {},
  ): Promise<boolean> {
    const change = changeOf(entry, step);
    if (change === undefined) return false;
    const from = change.outcome === undefined ? {} : entry.from && { from: entry.from };
    const done = await commit({ ...change, ...from, ...more, ...actionOn(entry, operatorAction) });
    if (done === false) {
      const [now] = await lookup([change.number]);
      const again = now?.kind === 'open' ? rebased(step, entry, now.entry) : undefined;
      return now?.kind === 'open' && again ? take(now.entry, again, operatorAction, more) : false;
    }
    if (done === true && change.outcome !== undefined)
      onOutcome?.(change.batch, change.outcome, 1, change.at ?? 0, entry);
    return done === true;
  }

  return {
    /** Orders that this process is sending now: nobody here decides about them meanwhile. */
    inFlight: new Set<string>(),
    lookup,
    enter,
    join,
    take,
    count: createCount(deps),
    ...createOperatorActions({ redis, keys }),
    listedTwice: createListedTwice({ redis, keys }),
    ...createDueTimes({ redis, keys }),
  };
}

function createCount({ redis, keys, identity, onOutcome }: LedgerDeps) {
  const countScript = readScript(new URL('./count.lua', import.meta.url));
  /** Counts orders of a batch that end at admission. Repeatable. */
  return async function count(
    batch: string,
    at: number,
    orders: readonly Counted[],
    { no = 0, kind = 'inbox', source = '' }: Partial<Pick<Batch, 'no' | 'kind' | 'source'>> = {},
  ): Promise<void> {
    if (orders.length === 0) return;
    const args = orders.map(({ ordinal, number, result, from, content, isShown }) => {
      const { outcome } = result;
      const ends = from !== undefined && outcome !== 'cancelled';
      const dead = needsPerson(outcome) ? true : undefined;
      const closing: Closing = { number, at: new Date(at).toISOString(), by: 'corrected', batch };
      return JSON.stringify({
        ordinal,
        number,
        key: keys.keyOf(number),
        outcome,
        needsPerson: dead,
        result: isPlain(result) ? undefined : JSON.stringify(result),
        from: ends ? takenLetters(from, { number, at, batchNo: no }, keys.keyOf) : undefined,
        ending: ends || dead ? endingOf({ batch, ordinal, number, at }, outcome) : undefined,
        seen:
          dead && content && seenPair({ number, ...content }, { batch, ordinal, at }, keys.keyOf),
        shown: isShown ? JSON.stringify(closing) : undefined,
      });
    });
    const { daemon = '', made = '' } = identity.own?.() ?? {};
    const used = [keys.waiting, keys.finished, keys.identity, keys.own(daemon)];
    const outdated = JSON.stringify(outdatedResult(at));
    const from = kind === 'export' ? source : '';
    const all = [keys.prefix, at, batch, outdated, from, made, ...args];
    const [sequence = 0, own = 0, fresh] = (await runScript(
      redis,
      countScript,
      used,
      all,
    )) as number[];
    identity.saw(sequence);
    identity.sawOwn?.(own);
    // After a crash some were counted before, and which is not known.
    if (fresh === orders.length)
      for (const { result } of orders) onOutcome?.(batch, result.outcome, 1, at);
  };
}

export function createLookup(redis: Redis, keys: Keys) {
  const script = readScript(new URL('./lookup.lua', import.meta.url));

  /** What is known of each number or key, in the order asked. */
  async function lookup(numbers: readonly string[]): Promise<Known[]> {
    const pages = [];
    for (let i = 0; i < numbers.length; i += LOOKUP)
      pages.push(lookupPage(numbers.slice(i, i + LOOKUP)));
    return (await Promise.all(pages)).flat();
  }

  /** One round trip. */
  async function lookupPage(numbers: readonly string[]): Promise<Known[]> {
    const asked: string[] = [keys.prefix];
    const wanted = numbers.map(keys.keyOf);
    for (const key of wanted) asked.push(key, bucketOf(key));
    const found = (await runScript(redis, script, [keys.identity], asked)) as (string | null)[];
    return found.map((text, i) => knownFrom(text, wanted[i] ?? ''));
  }

  return lookup;
}

/** Added to the due time of an order that is parked: it takes no room in the queue, and only the sweeper looks at it. */
const PARKED = 1e13;

/** When an order is due, also one that is parked, by its score in `keys.due`. */
export const dueTime = (score: number): number => score % PARKED;

/** When the sweeper or the verifier looks after an order. */
function createDueTimes({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** Keys whose time has come, oldest first. `which`: `due` and `parked` for the sweeper, `doubt` for verification. */
  async function numbersDue(
    which: 'due' | 'parked' | 'doubt',
    now: number,
    most: number,
  ): Promise<string[]> {
    return which === 'parked'
      ? redis.zrangebyscore(keys.due, PARKED, PARKED + now, 'LIMIT', 0, most)
      : redis.zrangebyscore(keys[which], '-inf', now, 'LIMIT', 0, most);
  }

  /** When the next number of that set is due, or undefined. */
  async function nextDue(which: 'due' | 'doubt'): Promise<number | undefined> {
    const [, score] = await redis.zrange(keys[which], 0, '0', 'WITHSCORES');
    return score === undefined ? undefined : Number(score);
  }

  /** Lets the sweeper look again later, without a change of the order. */
  async function postpone(number: string, due: number): Promise<void> {
    await redis.zadd(keys.due, 'XX', due, keys.keyOf(number));
  }

  /** Lets an order of a held batch wait aside; the sweeper looks again after `SWEEP_AFTER`, whether the batch still is held. */
  const park = (number: string, now: number): Promise<void> =>
    postpone(number, PARKED + now + SWEEP_AFTER);

  /** How many orders are neither settled nor dead letters. */
  async function unsettled(): Promise<number> {
    const [due, doubt] = await Promise.all([redis.zcard(keys.due), redis.zcard(keys.doubt)]);
    return due + doubt;
  }

  /** Of those, how many are not parked. */
  async function unparked(): Promise<number> {
    const [due, doubt] = await Promise.all([
      redis.zcount(keys.due, '-inf', PARKED),
      redis.zcard(keys.doubt),
    ]);
    return due + doubt;
  }

  /** Orders that wait to be sent now, without those that wait for a later attempt or for the list, or are parked. */
  async function sendable(now: number): Promise<number> {
    return redis.zcount(keys.due, '-inf', now + SWEEP_AFTER + 1_000);
  }

  return { numbersDue, nextDue, postpone, park, unsettled, unparked, sendable };
}

/**
 * The same step where only the files that have the order changed since it was decided. Its version differs from the one that the
 * caller has, which does not know these files.
 */
function rebased(step: Step, before: Entry, now: Entry): Step | undefined {
  if (now.version === before.version || !isAsBefore(now, before) || step.kind === 'cancel')
    return undefined;
  if (step.kind !== 'move' && step.kind !== 'dead') return step;
  const { also: _, ...own } = step.entry;
  const version = versionAfter(now.version, step.entry.version + 1);
  if (step.kind === 'dead') return { ...step, entry: { ...step.entry, version } };
  return { ...step, entry: { ...own, version, ...(now.also && { also: now.also }) } };
}

/** What a step changes in Redis; undefined for one that changes nothing. */
function changeOf(entry: Entry, step: Step): Change | undefined {
  const { version: expected, batch, ordinal } = entry;
  const number = entry.order.purchaseOrderNumber;
  const base = {
    number,
    expected,
    batch,
    ordinal,
    wasInDoubt: entry.state === 'unknown',
    sentBy: entry.sentBy,
    isAbsent: isAbsentAfter(step),
  };
  switch (step.kind) {
    case 'ignore':
      return undefined;
    case 'move':
      return { ...base, entry: step.entry, ...scores(step) };
    case 'accept':
      return { ...base, ...acceptance(entry, step), ...shared(entry, step.at) };
    case 'cancel':
      return { ...base, ...cancellation(entry, step) };
    case 'dead':
      return { ...base, entry: step.entry, ...burial(step), ...shared(entry, step.at) };
    case 'drop':
      return { ...base, ...dropped(entry, step) };
  }
}

/** Whether the API certainly does not have the order after this step, or has another one under its number. */
function isAbsentAfter(step: Step): boolean {
  switch (step.kind) {
    case 'move':
      return isSendable(step.entry) && step.entry.maybeSentAt === undefined;
    case 'dead':
      return step.entry.state !== 'inDoubt';
    case 'cancel':
      return step.rest === undefined || step.rest.due !== undefined;
    case 'drop':
      return true;
    case 'accept':
    case 'ignore':
      return false;
  }
}

type Settling = Omit<Change, 'number' | 'expected' | 'batch' | 'ordinal'>;

function knownFrom(text: string | null, key: string): Known {
  if (text === null) return { kind: 'nothing' };
  if (text.startsWith('=')) return { kind: 'accepted', compact: decodeCompact(text.slice(1), key) };
  return { kind: 'open', entry: decodeEntry(text) };
}

function scores(step: { due?: number; doubt?: number }): Pick<Change, 'due' | 'doubt'> {
  return {
    ...(step.due === undefined ? {} : { due: step.due }),
    ...(step.doubt === undefined ? {} : { doubt: step.doubt }),
  };
}

function acceptance(entry: Entry, step: Extract<Step, { kind: 'accept' }>): Settling {
  const { attempts, at, since, times = 1, isEarlier } = step;
  const { digest, order } = entry;
  const compact = { number: order.purchaseOrderNumber, digest, attempts, at, batchNo: 0 };
  if (isEarlier) return { compact, outcome: 'duplicate', closes: true, at };
  const words = times > 1 ? createdTwice(times) : foundWords(entry);
  const result: StoredResult | undefined = words && { outcome: 'accepted', attempts, at, ...words };
  return {
    compact: { ...compact, batchNo: entry.batchNo, since },
    outcome: 'accepted',
    closes: true,
    at,
    ...(result ? { result } : {}),
  };
}

/** Of an order that the list shows more than once. */
export function createdTwice(times: number) {
  return { code: 'created-twice', facts: { times } } as const;
}

/** The entry with its history is deleted; the report must still say which attempt had no clear answer. */
function foundWords({ state, history }: Entry) {
  const lost = state === 'unknown' ? history?.at(-1) : undefined;
  const facts = lost && { attempt: lost.attempt, lost: lost.message };
  return facts && ({ code: 'listed', facts } as const);
}

/** Further orders of files that share the outcome of an order. The report must distinguish them within one file. */
function shared(entry: Entry, at: number): Pick<Change, 'also'> {
  const all = occurrencesOf(entry);
  const also = all.slice(1).map(({ batch, ordinal }, i) => {
    const isSecond = all.slice(0, i + 1).some((one) => one.batch === batch);
    const own = { batch, ordinal, outcome: 'duplicate' } as const;
    return isSecond ? { ...own, result: sameFileResult(at) } : own;
  });
  return also.length > 0 ? { also } : {};
}

function cancellation(
  entry: Entry,
  { at, left, rest }: Extract<Step, { kind: 'cancel' }>,
): Partial<Change> {
  const { attempt, order, maybeSentAt } = entry;
  const goesOn = rest !== undefined && rest.due === undefined;
  const end = goesOn
    ? cancelledResult(at)
    : cancelledResult(at, attempt, maybeSentAt !== undefined);
  const [first, ...also] = left.map(({ batch, ordinal, place }) => {
    const result = { ...end, of: { number: order.purchaseOrderNumber, place } };
    return { batch, ordinal, outcome: 'cancelled' as const, result };
  });
  return { at, ...first, also, ...rest, ...(goesOn && { goesOn, wasInDoubt: false }) };
}

function burial({ entry, at }: Extract<Step, { kind: 'dead' }>): Settling {
  const { state: outcome, attempt: attempts, firstAt = at, answer, known } = entry;
  const items = outcome === 'conflict' ? known?.items : undefined;
  return {
    outcome,
    result: {
      outcome,
      attempts,
      at,
      firstAt,
      ...answered(answer, outcome),
      ...(items ? { known: { items } } : {}),
    },
    at,
  };
}

/** A dead letter whose content the API has, or which a person discarded. */
function dropped(
  { attempt: attempts, order: { purchaseOrderNumber: number } }: Entry,
  { at, keeps: digest }: Extract<Step, { kind: 'drop' }>,
): Settling {
  return digest === undefined
    ? { at }
    : { at, compact: { number, digest, attempts, at, batchNo: 0 } };
}

/** What the report reads from the file and the ledger again: an invalid order, a duplicate of another batch. */
function isPlain({ outcome, code, facts, failed }: StoredResult): boolean {
  if (outcome === 'invalid') return failed === undefined;
  return code === 'duplicate' && !('from' in facts);
}
