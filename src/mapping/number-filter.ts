/**
 * A set of texts in fixed space (Bloom filter): what was added is always found; of what was not, one in some thousands is
 * found too, and whoever holds an order because of that looks at the file once more.
 */
export type NumberFilter = {
  /** Adds a text; returns whether it may have been there before. */
  add(text: string): boolean;
  has(text: string): boolean;
};

const PROBES = 5;
/** Bits of a block, in which all probes of a text are: one line of the processor's cache. */
const BLOCK = 512;
const LEAST_BITS = 2 ** 13;
/** 8 MiB: twelve bits for each of five million numbers. A pass has two, and a file that waits for its report keeps one. */
const MOST_BITS = 2 ** 26;

/** The bits of a filter for the numbers of a file of so many bytes: enough for one that is compressed. */
export function filterBitsFor(bytes: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, bytes * 2)));
  return Math.min(MOST_BITS, Math.max(LEAST_BITS, wanted));
}

/** A filter of a power of two of bits, which it takes when the first text is added. */
export function createNumberFilter(bits: number): NumberFilter {
  let words: Uint32Array | undefined;
  const blocks = Math.max(1, bits / BLOCK);
  const within = Math.min(bits, BLOCK) - 1;

  function visit(text: string, set: Uint32Array, isAdding: boolean): boolean {
    let place = 0x811c9dc5;
    let probes = 0x9747b28c;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      place = Math.imul(place ^ unit, 0x01000193);
      probes = Math.imul(probes ^ unit, 0x85ebca6b);
    }
    const block = (mixed(place) & (blocks - 1)) * (BLOCK / 32);
    probes = mixed(probes);
    let isThere = true;
    // Whole numbers of 32 bits throughout, which the processor has.
    let bit = probes;
    const step = (probes >>> 9) | 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const word = block + ((bit & within) >>> 5);
      const before = set[word] ?? 0;
      const flag = 1 << (bit & 31);
      bit = (bit + step) | 0;
      if ((before & flag) !== 0) continue;
      isThere = false;
      if (!isAdding) return false;
      set[word] = before | flag;
    }
    return isThere;
  }

  return {
    add(text) {
      words ??= new Uint32Array(Math.ceil(bits / 32));
      return visit(text, words, true);
    },
    has: (text) => words !== undefined && visit(text, words, false),
  };
}

/** The last step of MurmurHash3, after which each bit depends on all. */
function mixed(hash: number): number {
  const value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const more = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return more ^ (more >>> 16);
}
