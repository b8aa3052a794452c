import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Entry } from './entry.ts';
import type { Ledger } from './ledger.ts';

type Deps = { redis: Redis; keys: Keys; ledger: Pick<Ledger, 'lookup'> };

const PAGE = 500;

/** The orders of some batches that are queued or being sent, page by page. An order may occur twice. */
export async function* ordersUnderWay(
  batches: readonly string[],
  { redis, keys, ledger }: Deps,
): AsyncGenerator<Entry[]> {
  const wanted = new Set(batches);
  let cursor = '0';
  do {
    const [next, flat] = await redis.zscan(keys.due, cursor, 'COUNT', PAGE);
    cursor = next;
    // Members and scores take turns.
    const known = await ledger.lookup(flat.filter((_, i) => i % 2 === 0));
    const entries = known.flatMap((one) => (one.kind === 'open' && wanted.has(one.entry.batch) ? [one.entry] : []));
    if (entries.length > 0) yield entries;
  } while (cursor !== '0');
}
