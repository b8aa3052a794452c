import { PoSyncError } from '../core/errors.ts';
import { type Closing, REPLACED } from '../order/dead-letter.ts';
import { type Former, idOf, type LetterRef, splitId } from '../order/letter-id.ts';
import { needsPerson, type Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import { bucketOf, type Keys } from '../redis/keys.ts';
import { joinedCalls, readScript, runScript } from '../redis/script.ts';
import {
  type Compact,
  type Entry,
  encodeCompact,
  encodeEntry,
  INTENT_TRAVELS,
  type OperatorAction,
  OTHER,
  type StoredResult,
} from './entry.ts';
import type { Checkpoint, LedgerIdentity } from './identity.ts';
import { seenPair } from './seen.ts';

/** Changes that share a round trip to Redis: few enough that nobody else waits long for it. */
const MOST = 200;

/** One decided change of an order, and what its batch counts for it. */
export type Change = {
  number: string;
  /** The version that was decided on; 0 for a number that the ledger does not know. */
  expected: number;
  /** Absent: the entry is deleted. */
  entry?: Entry;
  due?: number;
  doubt?: number;
  /** The number is among those in doubt, and is removed from them where `doubt` is absent. */
  wasInDoubt?: boolean;
  compact?: Compact;
  outcome?: Outcome;
  result?: StoredResult;
  /** The open dead letters of the number are closed by it. */
  closes?: boolean;
  at?: number;
  operatorAction?: OperatorAction;
  /** Who had it sent again. */
  sentBy?: string | undefined;
  /** The order continues as it was, whatever changes in `entry`: its times stay, and nobody admits or corrects it. */
  goesOn?: boolean;
  /** Orders of files that are counted with it. */
  also?: readonly { batch: string; ordinal: number; outcome: Outcome; result?: StoredResult }[];
  /** The dead letters that the order corrects. */
  from?: readonly LetterRef[];
  /** The API certainly does not have the order: another one may prove that its list is complete. */
  isAbsent?: boolean;
  /** The order is sent again to show how far the list reaches: the text of the last one that was, and its own. */
  witness?: { before: string; text: string };
  /** A reader admits the order: too late when its batch was canceled or has an outcome for it. */
  isAdmission?: boolean;
  /** The batch and the order in it that the change belongs to. */
  batch: string;
  ordinal: number;
};

type CommitDeps = { redis: Redis; keys: Keys; identity: LedgerIdentity };

/**
 * Commits changes, many in one trip when many come. Each is atomic, compares the version it was decided on, and counts
 * its outcome in the same step. False when the order was changed meanwhile, `outdated` when a dead letter that it corrects is not
 * to be corrected any more. Throws PoSyncError `ledger-rolled-back`
 * instead of letting an attempt begin in a ledger that forgot something or has not read the API's list yet.
 */
export function createCommits({
  redis,
  keys,
  identity,
}: CommitDeps): (change: Change) => Promise<boolean | 'outdated'> {
  const script = readScript(new URL('./commit.lua', import.meta.url));
  const shared = [keys.due, keys.doubt, keys.waiting, keys.finished, keys.identity, keys.rebuild];
  const send = joinedCalls(sendGroup, { most: MOST, lanes: 2 });

  async function sendGroup(group: readonly Packed[]): Promise<number[]> {
    const { daemon = '', made = '' } = identity.own?.() ?? {};
    const args: (string | number)[] = [keys.prefix, INTENT_TRAVELS, made];
    for (const { text, change } of group) args.push(text, change);
    const used = [...shared, keys.own(daemon), keys.breaker, keys.listProof];
    const [count = 0, ...done] = (await runScript(redis, script, used, args)) as number[];
    identity.sawOwn?.(count);
    return done;
  }

  return async (change) => {
    const done = await send(pack(change, identity.known(), keys));
    if (done === -1)
      throw new PoSyncError('ledger-rolled-back', 'The ledger is incomplete; read the list first.');
    if (done === -3) throw new PoSyncError('intent-late', 'The intent reached Redis too late.');
    if (done === -2) throw new PoSyncError('delivery-paused', 'Delivery is paused.');
    if (done === -4) return 'outdated';
    identity.saw(done);
    return done !== 0;
  };
}

/** A change as the script reads it, which names what it contains. */
type Packed = { text: string; change: string };

function pack(change: Change, reached: Checkpoint, { keyOf }: Pick<Keys, 'keyOf'>): Packed {
  const { number, expected, entry, due, doubt, compact, batch, ordinal, outcome, at } = change;
  const { result, operatorAction, goesOn, also, from, isAdmission, isAbsent, witness } = change;
  const { epoch, sequence } = reached;
  const key = keyOf(number);
  const batchNo = entry?.batchNo ?? compact?.batchNo ?? 0;
  const isDead = outcome !== undefined && needsPerson(outcome);
  const named = {
    number,
    key,
    bucket: bucketOf(key),
    expected,
    batch,
    ordinal,
    due,
    doubt,
    noDoubt: doubt === undefined && change.wasInDoubt ? true : undefined,
    compact: compact && encodeCompact(compact, key),
    outcome,
    at,
    result: result && JSON.stringify(result),
    needsPerson: isDead ? true : undefined,
    seen:
      isDead && entry
        ? seenPair({ number, digest: entry.digest }, { batch, ordinal, at: at ?? 0 }, keyOf)
        : undefined,
    closing: change.closes ? JSON.stringify(closingOf(change)) : undefined,
    intent:
      entry?.state === 'sending' && epoch !== '' && !goesOn
        ? { epoch, sequence, at: entry.lastAt ?? 0 }
        : undefined,
    operatorAction: operatorAction && JSON.stringify(operatorAction),
    goesOn,
    also: also?.map((one) => ({ ...one, result: one.result && JSON.stringify(one.result) })),
    from: from && takenLetters(from, { number, at: at ?? 0, batchNo }, keyOf),
    ending: outcome && (from || isDead) ? endingOf(change, outcome) : undefined,
    isAdmission,
    isAbsent,
    witness,
  };
  return { text: entry ? encodeEntry(entry) : '', change: JSON.stringify(named) };
}

type Ending = Pick<Change, 'number' | 'batch' | 'ordinal' | 'at' | 'operatorAction' | 'sentBy'>;

function closingOf({ number, at = 0, operatorAction, sentBy, batch }: Ending): Closing {
  const closing = {
    number,
    at: new Date(at).toISOString(),
    by: operatorAction?.what ?? 'accepted',
    batch,
  };
  const who = operatorAction?.who ?? sentBy;
  return who === undefined ? closing : { ...closing, who };
}

/** How the dead letters end that an order corrects; not where it was cancelled: then they stay. */
export function endingOf(change: Ending, outcome: Outcome): string | undefined {
  if (outcome === 'cancelled') return undefined;
  const closing = closingOf(change);
  if (!needsPerson(outcome)) return JSON.stringify(closing);
  const { number, at, batch } = closing;
  const successor = idOf(change.batch, change.ordinal);
  return JSON.stringify({ number, at, by: REPLACED, batch, successor });
}

type Became = { number: string; at: number; batchNo: number };

/** The dead letters that an order corrects, as take-letters.lua reads them. */
export function takenLetters(
  from: readonly LetterRef[],
  { number: became, at, batchNo }: Became,
  keyOf: Keys['keyOf'],
) {
  const taken = ({ id, number, content }: Former, isBefore: boolean) => {
    const [batch, ordinal] = splitId(id);
    const key = keyOf(number);
    const digest = content || OTHER;
    const none = { number, attempts: 0, at };
    const tombstone = encodeCompact({ ...none, became, digest, batchNo }, key);
    const others = encodeCompact({ ...none, digest: OTHER, batchNo: 0 }, key);
    return {
      batch,
      ordinal: String(ordinal),
      number,
      key,
      bucket: bucketOf(key),
      tombstone,
      others,
      isBefore,
    };
  };
  return from.flatMap(({ before = [], ...one }) => [
    taken(one, false),
    ...before.map((former) => taken(former, true)),
  ]);
}
