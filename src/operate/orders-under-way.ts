import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

type Deps = { redis: Redis; keys: Keys; ledger: Ledger };

const PAGE = 500;

/** The orders of a batch that the queue or an attempt has in hand, page by page. One met twice does no harm. */
export async function* ordersUnderWay(batch: string, { redis, keys, ledger }: Deps): AsyncGenerator<Entry[]> {
  let cursor = '0';
  do {
    const [next, flat] = await redis.zscan(keys.due, cursor, 'COUNT', PAGE);
    cursor = next;
    // Members and scores take turns.
    const known = await ledger.lookup(flat.filter((_, i) => i % 2 === 0));
    const entries = known.flatMap((one) => (one.kind === 'open' && one.entry.batch === batch ? [one.entry] : []));
    if (entries.length > 0) yield entries;
  } while (cursor !== '0');
}
