import type { Redis } from '../redis/connect.ts';
import { bucketOf, type Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import { type Compact, decodeCompact, type OperatorAction } from './entry.ts';
import { createSeen } from './seen.ts';

const DAY = 86_400_000;

export type Retention = ReturnType<typeof createRetention>;

/** Removes a history whose last action is still the one that was read. */
const END_HISTORY = `if redis.call('LINDEX', KEYS[1], -1) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** A settled order as it was read, and as it becomes; `''` forgets it. */
type Replacement = [key: string, text: string, becomes: string];

/**
 * Forgets settled orders that no source has shown for `keep` milliseconds (docs/configuration.md). A number that an
 * export still shows is never forgotten, because it would be sent again. Their operator actions are removed too. With `forever`
 * this does nothing. `shownSince`: since when exports that do not change have shown what they show. Times are ledger time.
 */
export function createRetention({
  redis,
  keys,
  keep,
  shownSince = async () => Number.POSITIVE_INFINITY,
}: {
  redis: Redis;
  keys: Keys;
  keep: number | 'forever';
  shownSince?: () => Promise<number>;
}) {
  const { textsOf, replace } = createReplacing({ redis, keys });

  /**
   * A source shows these settled numbers again. Written once a day each. Returns those that were changed or forgotten since the
   * caller looked them up.
   */
  async function shown(numbers: readonly string[], now: number): Promise<Set<string>> {
    if (keep === 'forever') return new Set();
    const today = dayOf(now);
    const old = (await textsOf(numbers)).flatMap(([key, text]): Replacement[] =>
      text !== '' && lastShown(text) >= today
        ? []
        : [[key, text, withFact(text, LAST_SHOWN, today.toString(36))]],
    );
    const done = await replace(old);
    const late = new Set(old.flatMap(([key], i) => (done[i] ? [] : [key])));
    return new Set(numbers.filter((number) => late.has(keys.keyOf(number))));
  }

  /** Forgets what is older than the retention, once a day; returns how many orders. Reads the ledger in small steps. */
  async function forget(now: number): Promise<number> {
    const today = String(dayOf(now));
    if (keep === 'forever' || (await redis.hget(keys.identity, 'forgotten')) === today) return 0;
    const oldest = dayOf(Math.min(now - keep, await shownSince()));
    let forgotten = 0;
    for await (const buckets of pagesOf('s')) {
      for (const bucket of buckets) forgotten += await forgetIn(bucket, oldest);
    }
    for await (const page of pagesOf('d'))
      await Promise.all(
        page.map((operatorActions) => forgetOperatorActions(operatorActions, now - keep)),
      );
    await createSeen({ redis, keys }).forget(oldest * DAY);
    await redis.hset(keys.identity, 'forgotten', today);
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
      redis.hexists(keys.settled(number), keys.keyOf(number)),
      redis.lrange(key, -1, -1),
    ]);
    if (isOpen || isSettled || last === undefined) return;
    if ((JSON.parse(last) as OperatorAction).at < before)
      await redis.eval(END_HISTORY, 1, key, last);
  }

  async function forgetIn(bucket: string, oldest: number): Promise<number> {
    const all = Object.entries(await redis.hgetall(bucket));
    const old = all.flatMap(([key, text]): Replacement[] =>
      lastShown(text) < oldest ? [[key, text, '']] : [],
    );
    return (await replace(old)).filter(Boolean).length;
  }

  return { shown, forget };
}

function dayOf(at: number): number {
  return Math.floor(at / DAY);
}

/** The day when it was last shown, or accepted; days since 1970. */
function lastShown(text: string): number {
  const day = factsIn(text)[LAST_SHOWN];
  return day === undefined ? dayOf(decodeCompact(text, '').at) : Number.parseInt(day, 36);
}

/** The same entry with another fact. */
function withFact(text: string, at: typeof TOOK | typeof LAST_SHOWN, fact: string): string {
  const facts = factsIn(text);
  facts[at] = fact;
  const number = text.indexOf('=');
  return number < 0 ? facts.join('.') : facts.join('.') + text.slice(number);
}

/** Places among the facts: of what says since when po-sync created the order, and of the day when a source showed it last. */
const TOOK = 3;
const LAST_SHOWN = 4;

/** Those of a compact entry, before its number. */
function factsIn(text: string): string[] {
  return (text.split('=', 1)[0] ?? '').split('.');
}

/** A key's text within a pattern. */
function escaped(text: string): string {
  return text.replace(/[[\]*?\\^]/g, '\\$&');
}

/** Builds how settled orders are changed of which something is known. */
function createReplacing({ redis, keys }: { redis: Redis; keys: Keys }) {
  const script = readScript(new URL('./replace-settled.lua', import.meta.url));
  return {
    /** The key and the text of each of these orders; '' where it is not settled. */
    textsOf: (numbers: readonly string[]): Promise<[key: string, text: string][]> =>
      Promise.all(
        numbers.map(async (number) => {
          const key = keys.keyOf(number);
          return [key, (await redis.hget(keys.settled(number), key)) ?? ''];
        }),
      ),
    /** Replaces orders that nobody changed since they were read; returns for each whether that was so. */
    async replace(orders: readonly Replacement[]): Promise<boolean[]> {
      if (orders.length === 0) return [];
      const args = orders.flatMap(([key, ...texts]) => [bucketOf(key), key, ...texts]);
      const done = await runScript(redis, script, [keys.identity], [keys.prefix, ...args]);
      return (done as number[]).map((one) => one === 1);
    },
  };
}

/** Builds the step after which a complete list need not show these settled orders any more: they are not at the API. */
export function createExcuse({ redis, keys }: { redis: Redis; keys: Keys }) {
  const { textsOf, replace } = createReplacing({ redis, keys });
  return async (numbers: readonly string[]): Promise<void> => {
    for (let i = 0; i < numbers.length; i += PAGE) {
      const page = numbers.slice(i, i + PAGE);
      const known = await textsOf(page);
      await replace(known.map(([key, text]) => [key, text, withFact(text, TOOK, '')]));
      await redis.zrem(keys.canaries, ...page);
    }
  };
}

/** Orders that are changed together, and hashes of settled orders that are read together. */
const PAGE = 1_000;

/** Every accepted order of a ledger, in no particular order, without the numbers that orders had before. Reads the complete ledger, a page at a time. */
export async function* settledOrders({
  redis,
  keys,
}: {
  redis: Redis;
  keys: Keys;
}): AsyncGenerator<Compact> {
  const script = readScript(new URL('./settled-page.lua', import.meta.url));
  const buckets = keys.settledBuckets();
  for (let i = 0; i < buckets.length; i += PAGE) {
    const page = (await runScript(redis, script, buckets.slice(i, i + PAGE), [])) as string[];
    for (let n = 0; n < page.length; n += 2) {
      const compact = decodeCompact(page[n + 1] ?? '', page[n] ?? '');
      if (compact.became === undefined) yield compact;
    }
  }
}
