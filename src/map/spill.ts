import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { textHash } from '../order/text-hash.ts';

/** Lines laid aside on disk, so that those of one key lie in one part that fits in memory. */
export type Spill = AsyncDisposable & {
  write(key: string, lines: readonly string[]): Promise<void>;
  /** The lines of one part after the other, in the order they were written. */
  parts(): AsyncGenerator<string[]>;
};

const PART_BYTES = 1024 * 1024;
const MOST_PARTS = 256;
const BUFFER_BYTES = 64 * 1024;

type Part = { handle: FileHandle; pending: string[]; size: number };

/** Files without a name in the system's temporary folder: they are gone with the process, however it ends. */
export async function openSpill(bytes: number, seed: number): Promise<Spill> {
  const count = Math.min(MOST_PARTS, Math.max(1, Math.ceil(bytes / PART_BYTES)));
  const parts = await openParts(count);

  async function flush(part: Part): Promise<void> {
    if (part.pending.length === 0) return;
    await part.handle.appendFile(part.pending.join(''));
    part.pending = [];
    part.size = 0;
  }

  return {
    async write(key, lines) {
      const part = parts[textHash(key, seed) % count];
      if (part === undefined) return;
      for (const line of lines) {
        part.pending.push(line, '\n');
        part.size += line.length + 1;
      }
      if (part.size > BUFFER_BYTES) await flush(part);
    },
    async *parts() {
      for (const part of parts) {
        await flush(part);
        yield await linesOf(part.handle);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map(({ handle }) => handle.close()));
    },
  };
}

async function openParts(count: number): Promise<Part[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-rows-'));
  const parts: Part[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const handle = await open(path.join(folder, String(i)), 'wx+', 0o600);
      parts.push({ handle, pending: [], size: 0 });
    }
    return parts;
  } catch (error) {
    await Promise.all(parts.map(({ handle }) => handle.close()));
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function linesOf(handle: FileHandle): Promise<string[]> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(bytes, at, size - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.toString().split('\n').slice(0, -1);
}
