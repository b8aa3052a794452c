import { PoSyncError } from '../core/errors.ts';
import type { Closing } from '../order/dead-letter.ts';
import type { Outcome } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import { joinedCalls } from '../redis/joined-calls.ts';
import { bucketOf, type Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Checkpoint } from './checkpoint-file.ts';
import { type Entry, encodeEntry } from './entry.ts';
import type { Identity } from './identity.ts';
import { INTENT_TRAVELS } from './intent.ts';
import type { OperatorAction } from './operator-action.ts';
import type { StoredResult } from './stored-result.ts';

/** Changes that share a trip to Redis: so few that nobody else waits long for it. */
const MOST = 200;

/** One decided change of an order, and what its batch is to count. */
export type Change = {
  number: string;
  /** The version that was decided on; 0 for a number that the ledger does not know. */
  expected: number;
  /** Absent: the entry goes. */
  entry?: Entry;
  due?: number;
  doubt?: number;
  /** The number stands among those in doubt, and is to be taken out where `doubt` is absent. */
  wasInDoubt?: boolean;
  compact?: string;
  outcome?: Outcome;
  result?: StoredResult;
  dead?: boolean;
  /** The letters of the number that still wait are closed by it. */
  closes?: boolean;
  at?: number;
  operatorAction?: OperatorAction;
  /** Whose order it is, and which one. */
  batch: string;
  ordinal: number;
};

/** How far we saw the ledger come; without `own` the changes are not counted apart. */
export type LedgerIdentity = Pick<Identity, 'known' | 'saw'> & Partial<Pick<Identity, 'own' | 'sawOwn'>>;

type CommitDeps = { redis: Redis; keys: Keys; identity: LedgerIdentity };

/**
 * Commits changes, many in one trip when many come; each is atomic, compares the version it was decided on and counts
 * its outcome in the same step. False when somebody else changed the order first. Throws PoSyncError
 * `ledger-rolled-back` instead of letting an order begin in a ledger that forgot something.
 */
export function createCommits({ redis, keys, identity }: CommitDeps): (change: Change) => Promise<boolean> {
  const script = readScript(new URL('./commit.lua', import.meta.url));
  const shared = [keys.due, keys.doubt, keys.waiting, keys.finished, keys.identity, keys.rebuild];
  const send = joinedCalls(sendGroup, { most: MOST, lanes: 2 });

  async function sendGroup(group: readonly Packed[]): Promise<number[]> {
    const { daemon = '', made = '' } = identity.own?.() ?? {};
    const args: (string | number)[] = [keys.prefix, INTENT_TRAVELS, made];
    for (const { number, text, fields } of group) args.push(number, text, fields);
    const [count = 0, ...done] = (await runScript(
      redis,
      script,
      [...shared, keys.own(daemon), keys.breaker],
      args,
    )) as number[];
    identity.sawOwn?.(count);
    return done;
  }

  return async (change) => {
    const done = await send(pack(change, identity.known()));
    if (done === -1) throw new PoSyncError('ledger-rolled-back', 'Redis knows less of the orders than it did.');
    if (done === -2) throw new PoSyncError('delivery-paused', 'Delivery is paused.');
    identity.saw(done);
    return done !== 0;
  };
}

/** A change as the script reads it: each field ends with a line feed, which none of them holds. */
type Packed = { number: string; text: string; fields: string };

function pack(change: Change, reached: Checkpoint): Packed {
  const { number, expected, entry, due = '', compact = '', batch, ordinal, outcome = '', result } = change;
  const begins = entry?.state === 'sending';
  const fields = [
    bucketOf(number),
    expected,
    due,
    change.doubt ?? (change.wasInDoubt ? '' : '='),
    compact,
    batch,
    ordinal,
    outcome,
    result ? JSON.stringify(result) : '',
    change.dead ? '1' : '0',
    change.at ?? '',
    change.closes ? JSON.stringify(closingOf(change)) : '',
    begins ? reached.epoch : '',
    begins ? reached.sequence : '',
    entry?.lastAt ?? 0,
    change.operatorAction ? JSON.stringify(change.operatorAction) : '',
    '',
  ];
  return { number, text: entry ? encodeEntry(entry) : '', fields: fields.join('\n') };
}

function closingOf({ number, at = 0, operatorAction, batch }: Change): Closing {
  const closing = { number, at: new Date(at).toISOString(), by: operatorAction?.what ?? 'accepted', batch };
  return operatorAction === undefined ? closing : { ...closing, who: operatorAction.who };
}
