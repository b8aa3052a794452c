import { textHash } from '../order/text-hash.ts';
import { type BlockFile, emptyStrand, lengthOf, openBlockFile, type Strand } from './block-file.ts';

/** Lines laid aside on disk, so that those of one key come back together, in portions that fit in memory. */
export type Spill = AsyncDisposable & {
  /** Lays one line, without line end, aside. */
  write(key: string, line: string): void;
  /** Puts what has gathered on disk. */
  relieve(): Promise<void>;
  /** All lines, once, after the last was written; those of one key in the order they were written. */
  portions(): AsyncGenerator<string[]>;
};

/** Bits of a key's hash that choose its first part, and those that choose among the parts of a part too large. */
const FIRST_BITS = 9;
const MORE_BITS = 4;
const MOST_BITS = 21;
/** A part larger than this is parted once more. */
const PORTION = 256 * 1024;

/** `seed` spreads the keys as the sender of a file cannot foresee. */
export async function openSpill(seed: number): Promise<Spill> {
  const file = await openBlockFile();
  const parts = strands(FIRST_BITS);

  async function* portionsOf(part: Strand, bits: number): AsyncGenerator<string[]> {
    if (lengthOf(part) <= PORTION || bits >= MOST_BITS) {
      yield await allOf(linesIn(file, part));
      file.free(part);
      return;
    }
    for (const smaller of await parted(part, bits)) yield* portionsOf(smaller, bits + MORE_BITS);
  }

  async function parted(part: Strand, bits: number): Promise<Strand[]> {
    const smaller = strands(MORE_BITS);
    for await (const lines of linesIn(file, part)) {
      for (const line of lines) append(file, smaller, hashIn(line) >>> bits, line);
      await file.flush();
    }
    file.free(part);
    return smaller;
  }

  return {
    write(key, line) {
      const hash = textHash(key, seed);
      append(file, parts, hash, `${hash.toString(36)} ${line}`);
    },
    relieve: () => file.flush(),
    async *portions() {
      for (const part of parts) {
        for await (const lines of portionsOf(part, FIRST_BITS)) {
          if (lines.length > 0) yield lines.map((line) => line.slice(line.indexOf(' ') + 1));
        }
      }
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

function strands(bits: number): Strand[] {
  return Array.from({ length: 2 ** bits }, emptyStrand);
}

/** Adds a line to the part that the lowest bits of `hash` choose. */
function append(file: BlockFile, parts: readonly Strand[], hash: number, line: string): void {
  const part = parts[hash & (parts.length - 1)];
  if (part) file.append(part, `${line}\n`);
}

function hashIn(line: string): number {
  return Number.parseInt(line.slice(0, line.indexOf(' ')), 36);
}

async function* linesIn(file: BlockFile, part: Strand): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0);
  for await (const piece of file.read(part)) {
    const all = Buffer.concat([rest, piece]);
    const end = all.lastIndexOf(10) + 1;
    rest = all.subarray(end);
    if (end > 0) yield all.toString('utf8', 0, end - 1).split('\n');
  }
}

async function allOf(pages: AsyncIterable<string[]>): Promise<string[]> {
  const all: string[][] = [];
  for await (const page of pages) all.push(page);
  return all.flat();
}
