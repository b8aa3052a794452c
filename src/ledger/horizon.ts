import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { decodeCompact } from './entry.ts';

const DAY = 86_400_000;

export type Horizon = ReturnType<typeof openHorizon>;

/**
 * Forgets settled orders that no source has shown for `keep` milliseconds (product.md, `ledger.keep`). A number that an
 * export still shows is never forgotten: it would be sent once more. With `forever` this does nothing.
 */
export function openHorizon({ redis, keys, keep }: { redis: Redis; keys: Keys; keep: number | 'forever' }) {
  /** A source shows these settled numbers again. Written once a day each. */
  async function shown(numbers: readonly string[], now: number): Promise<void> {
    if (keep === 'forever') return;
    await Promise.all(numbers.map((number) => show(number, Math.floor(now / DAY))));
  }

  async function show(number: string, today: number): Promise<void> {
    const text = await redis.hget(keys.settled(number), number);
    if (text === null || lastShown(text) >= today) return;
    const [digestAndAttempts = '', at = '', batchNo = ''] = text.split('.');
    await redis.hset(keys.settled(number), number, [digestAndAttempts, at, batchNo, today.toString(36)].join('.'));
  }

  /** Forgets what is over the horizon; gives how many. Walks the ledger in small steps. */
  async function forget(now: number): Promise<number> {
    if (keep === 'forever') return 0;
    const oldest = Math.floor((now - keep) / DAY);
    let forgotten = 0;
    let cursor = '0';
    do {
      const [next, buckets] = await redis.scan(cursor, 'MATCH', `${escaped(keys.prefix)}:s:*`, 'COUNT', 500);
      for (const bucket of buckets) forgotten += await forgetIn(bucket, oldest);
      cursor = next;
    } while (cursor !== '0');
    return forgotten;
  }

  async function forgetIn(bucket: string, oldest: number): Promise<number> {
    const all = await redis.hgetall(bucket);
    const old = Object.entries(all).flatMap(([number, text]) => (lastShown(text) < oldest ? [number] : []));
    return old.length === 0 ? 0 : redis.hdel(bucket, ...old);
  }

  return { shown, forget };
}

/** The day of the last showing, or of the acceptance; days since 1970. */
function lastShown(text: string): number {
  const day = text.split('.')[3];
  return day === undefined ? Math.floor(decodeCompact(text).at / DAY) : Number.parseInt(day, 36);
}

/** A key's text within a pattern. */
function escaped(text: string): string {
  return text.replace(/[[\]*?\\^]/g, '\\$&');
}
