import type { ListedOrder } from '../api/list.ts';
import { type Compact, decodeCompact, type EntryState, UNSHOWN } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { digestOf } from '../order/digest.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/** What the ledger and the API's list do not agree on. */
export type Differences = {
  /** Accepted here, and not in the list. */
  missing: { order: string; acceptedAt: number }[];
  /** In the list, and unknown here. */
  unknown: { order: string }[];
  /** Accepted here with other items than the list shows; or not accepted here, and in the list all the same. */
  differing: { order: string; here: 'accepted' | EntryState; sameItems: boolean }[];
  /** How many the list holds, how many are accepted here, and how many of those are too young to be missed. */
  listed: number;
  accepted: number;
  young: number;
};

type Deps = { ledger: Ledger; redis: Redis; keys: Keys };

const PAGE = 500;

/**
 * Compares the API's list, which began at `listedFrom` (Redis time), with the ledger. Orders accepted less than
 * two settles before may rightly be absent.
 */
export async function compareWithList(
  listed: readonly ListedOrder[],
  listedFrom: number,
  settle: number,
  deps: Deps,
): Promise<Differences> {
  const found: Differences = { missing: [], unknown: [], differing: [], listed: listed.length, accepted: 0, young: 0 };
  for (let i = 0; i < listed.length; i += PAGE) await comparePage(listed.slice(i, i + PAGE), found, deps.ledger);
  await findMissing(new Set(listed.map(numberOf)), listedFrom - 2 * settle, found, deps);
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
    } else if (!isOnItsWay(one.entry.state)) {
      found.differing.push({ order, here: one.entry.state, sameItems: isSame(one.entry.digest, digest) });
    }
  }
}

/** These are settled by the daemon itself. */
function isOnItsWay(state: EntryState): boolean {
  return state === 'sending' || state === 'unknown';
}

/** Where one of the two does not show its items, nothing differs. */
function isSame(here: string, listed: string | undefined): boolean {
  return listed === undefined || here === UNSHOWN || here === listed;
}

async function findMissing(numbers: Set<string>, before: number, found: Differences, deps: Deps): Promise<void> {
  for await (const [order, compact] of allSettled(deps)) {
    found.accepted += 1;
    if (numbers.has(order)) continue;
    if (compact.at >= before) found.young += 1;
    else found.missing.push({ order, acceptedAt: compact.at });
  }
}

/** Every settled order of the ledger. */
async function* allSettled({ redis, keys }: Deps): AsyncGenerator<[order: string, compact: Compact]> {
  const buckets = keys.settledBuckets();
  for (let i = 0; i < buckets.length; i += PAGE) {
    const page = await Promise.all(buckets.slice(i, i + PAGE).map((bucket) => redis.hgetall(bucket)));
    for (const fields of page) for (const [order, text] of Object.entries(fields)) yield [order, decodeCompact(text)];
  }
}

function numberOf({ purchaseOrderNumber }: ListedOrder): string {
  return purchaseOrderNumber;
}
