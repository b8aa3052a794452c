import type { Closing } from '../order/dead-letter.ts';
import { digestOf, fingerprintOf } from '../order/digest.ts';
import { idOf, splitId } from '../order/letter-id.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

const DAY = 86_400_000;

/** An order of a file: what it would send, unless it fails a rule, and its rows as they were read. */
export type Content = { number: string; digest?: string; rows: string };

/** What identifies the content of an order. */
export function contentOf(one: CheckedOrder): Content {
  const { number, records } = one;
  return {
    number,
    rows: fingerprintOf(records),
    ...(one.valid && { digest: digestOf(one.order) }),
  };
}

/** The dead letter that content stays with, and whether that waits for a person; `lost`: in vain, its report is gone. */
export type Seen = { letter: string; is: 'open' | 'lost' | 'settled' };

/** Content that needs a person, by its digest. `mapping`: digest of that whose rule it failed; "" for any. */
export type Failed = { number: string; digest: string; mapping?: string };

/** Field and text of content in `keys.seen`: its dead letter, the day when it was shown last, and the mapping. */
export function seenPair(
  { number, digest, mapping = '' }: Failed,
  { batch, ordinal, at }: { batch: string; ordinal: number; at: number },
  keyOf: Keys['keyOf'],
): [field: string, text: string] {
  return [fieldOf(keyOf, number, digest), textOf(idOf(batch, ordinal), at, mapping)];
}

/** A number in another spelling is other content, and one that is a separate order has a separate key. */
const fieldOf = (keyOf: Keys['keyOf'], number: string, digest: string): string =>
  `${digest} ${keyOf(number)} ${number}`;
const textOf = (letter: string, at: number, mapping: string): string =>
  `${letter} ${Math.floor(at / DAY).toString(36)} ${mapping}`;

type SeenDeps = {
  redis: Redis;
  keys: Keys;
  hasReport?: ((batch: string) => Promise<boolean>) | undefined;
};

/**
 * What is known of content that needed a person once: it is neither sent nor reported again, because its dead letter
 * decides. What failed a rule of another mapping is judged anew, unless a person settled it. `hasReport`: whether the
 * report of a batch, which has the rows, is still there.
 */
export function createSeen({ redis, keys, hasReport }: SeenDeps) {
  /** The dead letter of each content of a batch, in the order asked. */
  async function find(
    contents: readonly Content[],
    { batch, mapping, at }: { batch: string; mapping: string; at: number },
  ): Promise<(Seen | undefined)[]> {
    if (contents.length === 0 || (await redis.exists(keys.seen)) === 0) return [];
    const fields = contents.flatMap(({ number, digest = '', rows }) => [
      fieldOf(keys.keyOf, number, digest),
      fieldOf(keys.keyOf, number, rows),
    ]);
    const texts = await redis.hmget(keys.seen, ...fields);
    await renew(fields, texts, at);
    const endOf = endsFor(batch);
    return await Promise.all(
      contents.map(async ({ digest }, i) => {
        const [sent, read] = [texts[2 * i] ?? '', texts[2 * i + 1] ?? ''];
        const own = await endOf(sent.split(' ')[0]);
        if (own !== undefined || read === '') return own;
        const [letter, , before = ''] = read.split(' ');
        const rows = await endOf(letter);
        const isPassed = digest !== undefined || (before !== '' && before !== mapping);
        return rows && rows.is !== 'settled' && isPassed ? undefined : rows;
      }),
    );
  }

  /** The dead letter that content has now. One of the same batch decides only once a person settled it. */
  function endsFor(batch: string) {
    // Many orders of a page stay with dead letters of one batch.
    const standings = new Map<string, Promise<Seen['is']>>();
    return async function endOf(letter = ''): Promise<Seen | undefined> {
      if (letter === '') return undefined;
      const [of, ordinal] = splitId(letter);
      const text = await redis.hget(keys.closed(of), String(ordinal));
      const closing = text === null ? undefined : (JSON.parse(text) as Closing);
      if (closing?.successor !== undefined) return await endOf(closing.successor);
      if (closing !== undefined) return { letter, is: 'settled' };
      if (of === batch) return undefined;
      const standing = standings.get(of) ?? standingOf(of);
      standings.set(of, standing);
      return { letter, is: await standing };
    };
  }

  /** Of the dead letters of a batch that no person settled. */
  async function standingOf(batch: string): Promise<Seen['is']> {
    const state = await redis.hget(keys.batch(batch), 'state');
    // Only what was settled is forgotten.
    if (state === null) return 'settled';
    return state === 'done' && (await hasReport?.(batch)) === false ? 'lost' : 'open';
  }

  /** Content that is shown is not forgotten. */
  async function renew(
    fields: readonly string[],
    texts: readonly (string | null)[],
    at: number,
  ): Promise<void> {
    const renewed = fields.flatMap((field, i): [string, string][] => {
      const [letter = '', , mapping = ''] = texts[i]?.split(' ') ?? [];
      const text = textOf(letter, at, mapping);
      return letter === '' || text === texts[i] ? [] : [[field, text]];
    });
    if (renewed.length > 0) await redis.hset(keys.seen, Object.fromEntries(renewed));
  }

  /** Forgets content that was shown last before a ledger time in milliseconds. */
  async function forget(before: number): Promise<void> {
    let cursor = '0';
    do {
      const [next, flat] = await redis.hscan(keys.seen, cursor, 'COUNT', 500);
      const old = flat.filter((_, i) => {
        const day = Number.parseInt(flat[i + 1]?.split(' ')[1] ?? '', 36);
        return i % 2 === 0 && day < Math.floor(before / DAY);
      });
      if (old.length > 0) await redis.hdel(keys.seen, ...old);
      cursor = next;
    } while (cursor !== '0');
  }

  return { find, forget };
}
