import { textHash } from '../../order/digest.ts';

/**
 * A set of order numbers in fixed space (Bloom filter): what was added is always found; of what was not, one in some
 * tens to thousands is found too.
 */
export type NumberFilter = {
  /** Adds a number; returns whether it may have been there before. `hashes`: if they are known already. */
  add(number: string, hashes?: Hashes): boolean;
  has: (number: string) => boolean;
  /** How many numbers were added that were not there for certain. */
  readonly size: number;
  /** The same set in as little space as its size needs. Do not use this one afterwards. */
  folded(): NumberFilter;
};

/** Two hashes of one number. */
export type Hashes = { first: number; second: number };

/** The hashes of a number, for a filter and a count that both take it. */
export function hashesOf(number: string): Hashes {
  return { first: textHash(number, 0x811c9dc5), second: textHash(number, 0x9747b28c) };
}

const PROBES = 5;
const BITS_EACH = 8;
const LEAST_BITS = 2 ** 10;
const MOST_BITS = 2 ** 27;

/** A filter for about `expected` numbers, with at least eight bits each (16 MiB for ten million and more). */
export function createNumberFilter(expected: number): NumberFilter {
  return filterOver(new Uint32Array(bitsFor(expected) / 32), 0);
}

function bitsFor(expected: number): number {
  return Math.min(MOST_BITS, Math.max(LEAST_BITS, 2 ** Math.ceil(Math.log2(expected * BITS_EACH))));
}

function filterOver(words: Uint32Array, alreadyIn: number): NumberFilter {
  const mask = words.length * 32 - 1;
  let size = alreadyIn;

  function visit({ first, second }: Hashes, isAdding: boolean): boolean {
    const step = second | 1;
    let isThere = true;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = (first + Math.imul(probe, step)) & mask;
      const word = bit >>> 5;
      const flag = 1 << (bit & 31);
      const value = words[word] ?? 0;
      if ((value & flag) !== 0) continue;
      isThere = false;
      if (!isAdding) return false;
      words[word] = value | flag;
    }
    return isThere;
  }

  return {
    add(number, hashes = hashesOf(number)) {
      const wasThere = visit(hashes, true);
      if (!wasThere) size += 1;
      return wasThere;
    },
    has: (number) => size > 0 && visit(hashesOf(number), false),
    get size() {
      return size;
    },
    folded: () => filterOver(fold(words, bitsFor(size) / 32), size),
  };
}

/** The position of a bit counts modulo the size, so that the union of both halves contains the same set. */
function fold(words: Uint32Array, length: number): Uint32Array {
  if (length >= words.length) return words;
  const folded = words.slice(0, length);
  for (let at = length; at < words.length; at++)
    folded[at % length] = (folded[at % length] ?? 0) | (words[at] ?? 0);
  return folded;
}

/** Counts distinct numbers, each with the line on which it was first. */
export type NumberCount = {
  /** The first line of a number that was added before; undefined for a new one, or when they were too many to count. */
  add(number: string, line: number, hashes?: Hashes): number | undefined;
  /** How many distinct numbers were added; undefined when they were too many to count. */
  size(): number | undefined;
};

const LEAST_SLOTS = 2 ** 10;
/** 24 MiB for about a million and a half numbers. */
const MOST_SLOTS = 2 ** 21;
/** Of the slots that may be used. */
const LOAD = 0.75;

/** Words of a slot: two hashes and the line. */
const WORDS = 3;

/** Keeps two hashes of each number in a table of bounded size; that two numbers share both is unlikely enough for a total that is shown. */
export function createNumberCount(): NumberCount {
  let slots = new Uint32Array(LEAST_SLOTS * WORDS);
  let used = 0;
  let isOver = false;

  function add(
    number: string,
    line: number,
    { first, second } = hashesOf(number),
  ): number | undefined {
    if (isOver) return undefined;
    const known = put(slots, first, second || 1, line);
    if (known !== undefined) return known;
    used += 1;
    if (used > (slots.length / WORDS) * LOAD) grow();
    return undefined;
  }

  function grow(): void {
    const old = slots;
    isOver = old.length >= MOST_SLOTS * WORDS;
    slots = new Uint32Array(isOver ? 0 : old.length * 2);
    for (let at = 0; at < old.length && !isOver; at += WORDS) {
      const rest = old[at + 1] ?? 0;
      if (rest !== 0) put(slots, old[at] ?? 0, rest, old[at + 2] ?? 0);
    }
  }

  return { add, size: () => (isOver ? undefined : used) };
}

/** Puts two hashes into the first free slot from the place of the first on; the line when they are there. `rest` is not 0. */
function put(slots: Uint32Array, first: number, rest: number, line: number): number | undefined {
  const mask = slots.length / WORDS - 1;
  for (let slot = first & mask; ; slot = (slot + 1) & mask) {
    const at = slot * WORDS;
    const found = slots[at + 1];
    if (found === 0) {
      slots[at] = first;
      slots[at + 1] = rest;
      slots[at + 2] = line;
      return undefined;
    }
    if (found === rest && slots[at] === first) return slots[at + 2];
  }
}

/** Finds the numbers that occur more than once among about `expected` ones. */
export function watchRepeats(expected: number) {
  let seen: NumberFilter | undefined;
  let repeated: NumberFilter | undefined;
  return {
    look(number: string): void {
      if (number === '') return;
      seen ??= createNumberFilter(expected);
      if (!seen.add(number)) return;
      repeated ??= createNumberFilter(expected);
      repeated.add(number);
    },
    found: (): NumberFilter => repeated?.folded() ?? createNumberFilter(0),
  };
}
