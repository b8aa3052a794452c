import { PoSyncError } from '../core/errors.ts';
import type { Closing } from '../order/dead-letter.ts';
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
  type StoredResult,
} from './entry.ts';
import type { Checkpoint, LedgerIdentity } from './identity.ts';

/** Changes that share a round trip to Redis: few enough that nobody else waits long for it. */
const MOST = 200;

/**
 * One row that an order takes in the step that puts it into the ledger: the field of its batch's hash, or with `batch` '' of those
 * that have another number now; its text as it was looked up ('' for none), and its text from then on ('' as it is). The order is
 * not entered when another one took the row meanwhile.
 */
export type RowClaim = { batch: string; field: string; before: string; after: string };

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
  /** Of an order that is canceled: the duplicates that waited for it, as stored. The first takes its place. */
  followers?: string;
  /** The rows of dead letters that the order takes. */
  rows?: readonly RowClaim[];
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

/** Why delivery waits while one order must prove that the API's list is complete. */
const UNPROVED = "one order of a new ledger is sent first: the API's list must show it";

type CommitDeps = { redis: Redis; keys: Keys; identity: LedgerIdentity };

/**
 * Commits changes, many in one trip when many come. Each is atomic, compares the version it was decided on, and counts
 * its outcome in the same step. False when the order was changed meanwhile. Throws PoSyncError `ledger-rolled-back`
 * instead of letting an attempt begin in a ledger that forgot something or has not read the API's list yet.
 */
export function createCommits({
  redis,
  keys,
  identity,
}: CommitDeps): (change: Change) => Promise<boolean> {
  const script = readScript(new URL('./commit.lua', import.meta.url));
  const shared = [keys.due, keys.doubt, keys.waiting, keys.finished, keys.identity, keys.rebuild];
  const send = joinedCalls(sendGroup, { most: MOST, lanes: 2 });

  async function sendGroup(group: readonly Packed[]): Promise<number[]> {
    const { daemon = '', made = '' } = identity.own?.() ?? {};
    const args: (string | number)[] = [keys.prefix, INTENT_TRAVELS, made, UNPROVED];
    for (const { text, change } of group) args.push(text, change);
    const used = [...shared, keys.own(daemon), keys.followers, keys.breaker, keys.listProof];
    const [count = 0, ...done] = (await runScript(redis, script, used, args)) as number[];
    identity.sawOwn?.(count);
    return done;
  }

  return async (change) => {
    const done = await send(pack(change, identity.known(), keys.keyOf(change.number)));
    if (done === -1)
      throw new PoSyncError('ledger-rolled-back', 'The ledger is incomplete; read the list first.');
    if (done === -3) throw new PoSyncError('intent-late', 'The intent reached Redis too late.');
    if (done === -2) throw new PoSyncError('delivery-paused', 'Delivery is paused.');
    identity.saw(done);
    return done !== 0;
  };
}

/** A change as the script reads it, which names what it contains. */
type Packed = { text: string; change: string };

function pack(change: Change, reached: Checkpoint, key: string): Packed {
  const { number, expected, entry, due, doubt, compact, batch, ordinal, outcome, at } = change;
  const { result, operatorAction, followers, rows = [], isAdmission, isAbsent, witness } = change;
  const { epoch, sequence } = reached;
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
    needsPerson: outcome !== undefined && needsPerson(outcome) ? true : undefined,
    closing: change.closes ? JSON.stringify(closingOf(change)) : undefined,
    intent:
      entry?.state === 'sending' && epoch !== ''
        ? { epoch, sequence, at: entry.lastAt ?? 0 }
        : undefined,
    operatorAction: operatorAction && JSON.stringify(operatorAction),
    followers,
    rows:
      rows.length === 0
        ? undefined
        : rows.map((row) => [row.batch, row.field, row.before, row.after]),
    isAdmission,
    isAbsent,
    witness,
  };
  return { text: entry ? encodeEntry(entry) : '', change: JSON.stringify(named) };
}

function closingOf({ number, at = 0, operatorAction, sentBy, batch }: Change): Closing {
  const closing = {
    number,
    at: new Date(at).toISOString(),
    by: operatorAction?.what ?? 'accepted',
    batch,
  };
  const who = operatorAction?.who ?? sentBy;
  return who === undefined ? closing : { ...closing, who };
}
