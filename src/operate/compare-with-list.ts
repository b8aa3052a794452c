import type { ListedOrder } from '../api/list.ts';
import { type Compact, decodeCompact, type EntryState, UNSHOWN } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { digestOf } from '../order/digest.ts';
import type { OperatorContext } from './operator-context.ts';

/** Where the ledger and the API's list differ. */
export type Differences = {
  /** Accepted in the ledger, and not in the list. */
  missing: { order: string; acceptedAt: number }[];
  /** In the list, and not in the ledger. */
  unknown: { order: string }[];
  /** Accepted in the ledger with other items than in the list; or in the list though not accepted in the ledger. */
  differing: { order: string; here: 'accepted' | EntryState; sameItems: boolean }[];
  /** Orders in the list, orders accepted in the ledger, and how many of these are too recent to be in the list. */
  listed: number;
  accepted: number;
  young: number;
};

type LedgerStore = Pick<OperatorContext, 'ledger' | 'store'>;

const PAGE = 500;

/**
 * Compares the API's list with the ledger. Reading the list began at `listedFrom` (Redis time); orders accepted less
 * than two `settle` times before may be absent.
 */
export async function compareWithList(
  listed: readonly ListedOrder[],
  listedFrom: number,
  settle: number,
  context: LedgerStore,
): Promise<Differences> {
  const found: Differences = { missing: [], unknown: [], differing: [], listed: listed.length, accepted: 0, young: 0 };
  for (let i = 0; i < listed.length; i += PAGE) await comparePage(listed.slice(i, i + PAGE), found, context.ledger);
  await findMissing(new Set(listed.map(numberOf)), listedFrom - 2 * settle, found, context);
  return found;
}

async function comparePage(page: readonly ListedOrder[], found: Differences, ledger: Ledger): Promise<void> {
  const known = await ledger.lookup(page.map(numberOf));
  for (const [i, { purchaseOrderNumber: order, items }] of page.entries()) {
    const one = known[i];
    const digest = items === undefined ? undefined : digestOf({ items });
    if (one === undefined || one.kind === 'nothing') found.unknown.push({ order });
    else if (one.kind === 'accepted') {
      if (!isSame(one.compact.digest, digest)) found.differing.push({ order, here: 'accepted', sameItems: false });
    } else if (!isInProgress(one.entry.state)) {
      found.differing.push({ order, here: one.entry.state, sameItems: isSame(one.entry.digest, digest) });
    }
  }
}

/** The daemon settles these without help. */
function isInProgress(state: EntryState): boolean {
  return state === 'sending' || state === 'unknown';
}

/** If either side does not show the items, nothing differs. */
function isSame(here: string, listed: string | undefined): boolean {
  return listed === undefined || here === UNSHOWN || here === listed;
}

async function findMissing(
  numbers: Set<string>,
  before: number,
  found: Differences,
  context: LedgerStore,
): Promise<void> {
  for await (const [order, compact] of allSettled(context)) {
    found.accepted += 1;
    if (numbers.has(order)) continue;
    if (compact.at >= before) found.young += 1;
    else found.missing.push({ order, acceptedAt: compact.at });
  }
}

/** Every accepted order of the ledger. */
async function* allSettled({ store }: LedgerStore): AsyncGenerator<[order: string, compact: Compact]> {
  const { redis, keys } = store;
  const buckets = keys.settledBuckets();
  for (let i = 0; i < buckets.length; i += PAGE) {
    const page = await Promise.all(buckets.slice(i, i + PAGE).map((bucket) => redis.hgetall(bucket)));
    for (const fields of page) for (const [order, text] of Object.entries(fields)) yield [order, decodeCompact(text)];
  }
}

function numberOf({ purchaseOrderNumber }: ListedOrder): string {
  return purchaseOrderNumber;
}
