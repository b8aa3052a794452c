import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** One of many texts that grow side by side in a `BlockFile`: the blocks it fills, and the one being filled. */
export type Strand = { readonly blocks: number[]; last: Buffer | undefined; used: number };

/** Texts that grow side by side in one file, so that each takes the memory of one block. */
export type BlockFile = AsyncDisposable & {
  /** Adds to a text; what is full waits in memory until `flush`. */
  append(strand: Strand, text: string): void;
  flush(): Promise<void>;
  /** Forgets the block in memory of a text that is not needed any more. */
  free(strand: Strand): void;
  /** A text's bytes from its beginning; each piece is good until the next. */
  read(strand: Strand): AsyncGenerator<Buffer>;
};

const BLOCK = 8 * 1024;

export function emptyStrand(): Strand {
  return { blocks: [], last: undefined, used: 0 };
}

/** How long a text is, in bytes. */
export function lengthOf({ blocks, used }: Strand): number {
  return blocks.length * BLOCK + used;
}

/** A file without a name in the system's temporary folder: it is gone with the process, however it ends. */
export async function openBlockFile(): Promise<BlockFile> {
  const handle = await openNameless();
  const spare: Buffer[] = [];
  let full: Buffer[] = [];
  let blocks = 0;

  function put(strand: Strand, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const block = roomIn(strand);
      const taken = bytes.copy(block, strand.used, at);
      strand.used += taken;
      at += taken;
    }
  }

  /** The block to write into, with at least one byte of room. */
  function roomIn(strand: Strand): Buffer {
    if (strand.last && strand.used < BLOCK) return strand.last;
    if (strand.last) {
      full.push(strand.last);
      strand.blocks.push(blocks++);
    }
    strand.last = spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK);
    strand.used = 0;
    return strand.last;
  }

  async function flush(): Promise<void> {
    if (full.length === 0) return;
    const written = full;
    full = [];
    await handle.writeFile(Buffer.concat(written));
    spare.push(...written);
  }

  return {
    append(strand, text) {
      const block = roomIn(strand);
      // No UTF-16 unit takes more than three bytes.
      if (text.length * 3 <= BLOCK - strand.used) strand.used += block.write(text, strand.used);
      else put(strand, Buffer.from(text));
    },
    flush,
    free(strand) {
      if (strand.last) spare.push(strand.last);
      strand.last = undefined;
    },
    async *read(strand) {
      await flush();
      const piece = Buffer.allocUnsafeSlow(BLOCK);
      for (const block of strand.blocks) {
        await readWhole(handle, piece, block * BLOCK);
        yield piece;
      }
      if (strand.last) yield strand.last.subarray(0, strand.used);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-rows-'));
  try {
    return await open(path.join(folder, 'rows'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readWhole(handle: FileHandle, into: Buffer, from: number): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await handle.read(into, at, into.length - at, from + at);
    if (bytesRead === 0) throw new Error('rows laid aside on disk are gone');
    at += bytesRead;
  }
}
