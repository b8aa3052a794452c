import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './sync-folder.ts';
import { written } from './written.ts';

/**
 * A file that appears whole or not at all: written beside its place under a temporary name, durable on the disk
 * before it gets its own. Disposed without `publish`, it leaves nothing behind.
 */
export type Draft = {
  readonly path: string;
  /** Adds text (as UTF-8) or bytes; gathers small pieces, so one call a row is cheap. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Everything is on the disk; a full disk shows here at the latest. */
  seal(): Promise<void>;
  /** Seals, then takes the final name in place of what stood there. */
  publish(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const GATHER = 64 * 1024;

/** Marks our temporary files: hidden, and never picked up by an inbox. */
export const DRAFT_NAME = /^\.po-sync-[0-9a-f]{16}\.tmp$/;

/** A new temporary path in `folder`. */
export function draftPath(folder: string): string {
  return join(folder, `.po-sync-${randomBytes(8).toString('hex')}.tmp`);
}

/** Opens a draft for `path`, whose folder must exist. Throws `report-not-written`. */
export async function openDraft(path: string): Promise<Draft> {
  const temporary = draftPath(dirname(path));
  const handle = await written(path, () => open(temporary, 'wx'));
  let gathered: (string | Uint8Array)[] = [];
  let length = 0;
  let state: 'open' | 'sealed' | 'published' = 'open';

  async function flush(): Promise<void> {
    const bytes = Buffer.concat(gathered.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
    gathered = [];
    length = 0;
    await written(path, () => handle.writeFile(bytes));
  }

  async function seal(): Promise<void> {
    if (state !== 'open') return;
    await flush();
    await written(path, () => syncAndClose(handle));
    state = 'sealed';
  }

  return {
    path,
    seal,
    async write(piece) {
      gathered.push(piece);
      length += piece.length;
      if (length >= GATHER) await flush();
    },
    async publish() {
      await seal();
      await written(path, () => rename(temporary, path));
      state = 'published';
      await written(path, () => syncFolder(dirname(path)));
    },
    async [Symbol.asyncDispose]() {
      if (state === 'published') return;
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true }).catch(() => undefined);
    },
  };
}

async function syncAndClose(handle: FileHandle): Promise<void> {
  await handle.sync();
  await handle.close();
}
