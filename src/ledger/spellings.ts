import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { isUnderWay, type Known } from './entry.ts';

/** A number without what APIs may rewrite: case, spaces, leading zeros, and the composition of characters. */
export function spellingOf(number: string): string {
  return number
    .normalize('NFC')
    .replace(/\s+/g, '')
    .replace(/^0+(?=.)/, '')
    .toUpperCase();
}

/** Another spelling of a number that the ledger has, and what it knows of that. */
export type OtherSpelling = { other: string; known: Exclude<Known, { kind: 'nothing' }> };

type Lookup = (numbers: readonly string[]) => Promise<Known[]>;

/** Spellings of one number that are kept. */
const MOST = 50;

/** Numbers of the ledger in other spellings, which `keys.spellings` has by the plain one. */
export function createSpellings({
  redis,
  keys,
  lookup,
}: {
  redis: Redis;
  keys: Keys;
  lookup: Lookup;
}) {
  /** For each number, the other spellings of it that the ledger has, and what it knows of them. */
  async function otherSpellings(numbers: readonly string[]): Promise<OtherSpelling[][]> {
    if (numbers.length === 0) return [];
    const plain = numbers.map(spellingOf);
    const stored = await redis.hmget(keys.spellings, ...plain);
    const candidates = numbers.flatMap((number, i) =>
      [...new Set([...(stored[i]?.split('\0') ?? []), plain[i]])].flatMap((other) =>
        other && other !== number ? [{ i, other }] : [],
      ),
    );
    const known = await lookup(candidates.map(({ other }) => other));
    const found = numbers.map((): OtherSpelling[] => []);
    for (const [at, { i, other }] of candidates.entries()) {
      const one = known[at];
      if (one && one.kind !== 'nothing') found[i]?.push({ other, known: one });
    }
    return found;
  }

  /**
   * The numbers that the ledger does not have, but that the list showed in another spelling only: an API that rewrites
   * numbers may have these orders.
   */
  async function respelled(numbers: readonly string[]): Promise<(string | undefined)[]> {
    const others = await otherSpellings(numbers);
    return others.map((all) => all.find(({ known }) => brought(known) === 0)?.other);
  }

  /** Keeps numbers, so that other spellings of them are found. A number that nothing can be left out of needs no field. */
  const { keep: spelled } = createSpellingStore({ redis, keys });

  return { spelled, otherSpellings, respelled };
}

/** The number of the batch that brought an order that is accepted or in progress; 0: the list alone has it. */
function brought(known: Known): number | undefined {
  if (known.kind === 'accepted') return known.compact.batchNo;
  return isUnderWay(known) ? known.entry.batchNo : undefined;
}

/**
 * The other spelling that another file brought and that is accepted or in progress, the accepted one first. What only the list
 * has is decided by the list, and what is in the same file, with one of the numbers `own`, was compared as it was read.
 */
export function broughtBefore(
  others: readonly OtherSpelling[] = [],
  own: readonly number[] = [],
): OtherSpelling | undefined {
  const before = others.filter(({ known }) => ![undefined, 0, ...own].includes(brought(known)));
  return before.find(({ known }) => known.kind === 'accepted') ?? before[0];
}

/** Numbers that Redis changes in one step. */
const AT_ONCE = 500;

/** Builds what keeps numbers that are written in another way than the plain one, and forgets them. */
export function createSpellingStore({ redis, keys }: Pick<Store, 'redis' | 'keys'>) {
  const script = readScript(new URL('./spellings.lua', import.meta.url));

  async function change(what: 'keep' | 'forget', numbers: readonly string[]): Promise<void> {
    const pairs = numbers.flatMap((number) => {
      const plain = spellingOf(number);
      return plain === number ? [] : [plain, number];
    });
    for (let from = 0; from < pairs.length; from += 2 * AT_ONCE)
      await runScript(
        redis,
        script,
        [keys.spellings],
        [what, MOST, ...pairs.slice(from, from + 2 * AT_ONCE)],
      );
  }

  return {
    keep: (numbers: readonly string[]) => change('keep', numbers),
    /** Other spellings of these numbers are not compared with them any more. */
    forget: (numbers: readonly string[]) => change('forget', numbers),
  };
}
