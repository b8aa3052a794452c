import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { type Compact, decodeCompact, type OperatorAction } from './entry.ts';
import { createSpellingStore } from './spellings.ts';

const DAY = 86_400_000;

export type Retention = ReturnType<typeof createRetention>;

/**
 * Forgets settled orders that no source has shown for `keep` milliseconds (docs/configuration.md). A number that an
 * export still shows is never forgotten, because it would be sent again. Their operator actions are removed too. With `forever`
 * this does nothing.
 */
export function createRetention({
  redis,
  keys,
  keep,
}: {
  redis: Redis;
  keys: Keys;
  keep: number | 'forever';
}) {
  const spellings = createSpellingStore({ redis, keys });
  /** A source shows these settled numbers again. Written once a day each. */
  async function shown(numbers: readonly string[], now: number): Promise<void> {
    if (keep === 'forever') return;
    await Promise.all(numbers.map((number) => show(number, Math.floor(now / DAY))));
  }

  async function show(number: string, today: number): Promise<void> {
    const text = await redis.hget(keys.settled(number), number);
    if (text === null || lastShown(text) >= today) return;
    const [digestAndAttempts = '', at = '', batchNo = ''] = text.split('.');
    await redis.hset(
      keys.settled(number),
      number,
      [digestAndAttempts, at, batchNo, today.toString(36)].join('.'),
    );
  }

  /** Forgets what is older than the retention; returns how many. Reads the ledger in small steps. */
  async function forget(now: number): Promise<number> {
    if (keep === 'forever') return 0;
    const oldest = Math.floor((now - keep) / DAY);
    let forgotten = 0;
    for await (const buckets of pagesOf('s')) {
      for (const bucket of buckets) forgotten += await forgetIn(bucket, oldest);
    }
    for await (const page of pagesOf('d'))
      await Promise.all(
        page.map((operatorActions) => forgetOperatorActions(operatorActions, now - keep)),
      );
    return forgotten;
  }

  /** Keys of one kind, in small pages. */
  async function* pagesOf(kind: 's' | 'd'): AsyncGenerator<string[]> {
    let cursor = '0';
    do {
      const [next, page] = await redis.scan(
        cursor,
        'MATCH',
        `${escaped(keys.prefix)}:${kind}:*`,
        'COUNT',
        500,
      );
      yield page;
      cursor = next;
    } while (cursor !== '0');
  }

  /** Operator actions are removed when the order is gone and the last action is as old. */
  async function forgetOperatorActions(key: string, before: number): Promise<void> {
    const number = key.slice(keys.operatorActions('').length);
    const [isOpen, isSettled, [last]] = await Promise.all([
      redis.exists(keys.open(number)),
      redis.hexists(keys.settled(number), number),
      redis.lrange(key, -1, -1),
    ]);
    if (isOpen || isSettled || last === undefined) return;
    if ((JSON.parse(last) as OperatorAction).at < before) await redis.del(key);
  }

  async function forgetIn(bucket: string, oldest: number): Promise<number> {
    const all = await redis.hgetall(bucket);
    const old = Object.entries(all).flatMap(([number, text]) =>
      lastShown(text) < oldest ? [number] : [],
    );
    if (old.length === 0) return 0;
    await spellings.forget(old);
    return redis.hdel(bucket, ...old);
  }

  return { shown, forget };
}

/** The day when it was last shown, or accepted; days since 1970. */
function lastShown(text: string): number {
  const day = text.split('.')[3];
  return day === undefined ? Math.floor(decodeCompact(text).at / DAY) : Number.parseInt(day, 36);
}

/** A key's text within a pattern. */
function escaped(text: string): string {
  return text.replace(/[[\]*?\\^]/g, '\\$&');
}

/** Hashes of settled orders that are read together. */
const PAGE = 500;

/** Every accepted order of a ledger, in no particular order. Reads the complete ledger, a page at a time. */
export async function* settledOrders({
  redis,
  keys,
}: {
  redis: Redis;
  keys: Keys;
}): AsyncGenerator<[number: string, compact: Compact]> {
  const buckets = keys.settledBuckets();
  for (let i = 0; i < buckets.length; i += PAGE) {
    const page = await Promise.all(
      buckets.slice(i, i + PAGE).map((bucket) => redis.hgetall(bucket)),
    );
    for (const fields of page)
      for (const [number, text] of Object.entries(fields)) yield [number, decodeCompact(text)];
  }
}
