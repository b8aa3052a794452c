import { type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openParent } from '../core/folder.ts';
import { DRAFT_NAME, draftPath, syncFolder } from '../core/regular-file.ts';
import type { Fence } from '../redis/lease.ts';
import { written } from './disk.ts';

/**
 * A file that appears complete or not at all: written under a temporary name in the same folder, and durable before it
 * gets its final name. Disposed without `publish`, it leaves nothing behind.
 */
export type Draft = {
  readonly path: string;
  /** Where the text is until the draft is published. */
  readonly temporary: string;
  /** Adds text (as UTF-8) or bytes. Buffers small pieces, so one call a row is cheap. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Writes everything to the disk; fails here at the latest when the disk is full. */
  seal(): Promise<void>;
  /** Seals, then replaces what has the final name. */
  publish(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const BUFFERED = 64 * 1024;

/** A draft that has not changed for this long belongs to a process that has ended. Milliseconds. */
const ABANDONED = 60 * 60 * 1000;

/**
 * Opens a draft for `path`, whose folder must exist and is not a link. It is published only where `fence` passes. Throws
 * `report-not-written`, `folder-is-link`.
 */
export async function openDraft(path: string, fence?: Fence): Promise<Draft> {
  const folder = await written(path, () => openParent(path));
  const temporary = draftPath(folder.path);
  const handle = await written(path, () => open(temporary, 'wx')).catch(async (error: unknown) => {
    await folder[Symbol.asyncDispose]();
    throw error;
  });
  let buffered: (string | Uint8Array)[] = [];
  let length = 0;
  let state: 'open' | 'sealed' | 'published' = 'open';

  async function flush(): Promise<void> {
    const bytes = Buffer.concat(
      buffered.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
    );
    buffered = [];
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
    temporary,
    seal,
    async write(piece) {
      buffered.push(piece);
      length += piece.length;
      if (length >= BUFFERED) await flush();
    },
    async publish() {
      await seal();
      await fence?.();
      await written(path, () => rename(temporary, join(folder.path, basename(path))));
      state = 'published';
      await written(path, () => syncFolder(folder.path));
    },
    async [Symbol.asyncDispose]() {
      await handle.close().catch(() => undefined);
      if (state !== 'published') await rm(temporary, { force: true }).catch(() => undefined);
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function syncAndClose(handle: FileHandle): Promise<void> {
  await handle.sync();
  await handle.close();
}

/** Writes a file from pieces, complete or not at all, and only where `fence` passes. Throws `report-not-written`. */
export async function writeFileWhole(
  path: string,
  pieces: AsyncIterable<Uint8Array> | readonly string[],
  fence?: Fence,
): Promise<void> {
  await using draft = await openDraft(path, fence);
  for await (const piece of pieces) await draft.write(piece);
  await draft.publish();
}

/**
 * Removes the drafts that a killed process left in a folder. Open a draft there first: ages are measured against the
 * newest one, because the disk's clock may differ from this machine's.
 */
export async function clearDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const drafts = await Promise.all(
    names.filter((name) => DRAFT_NAME.test(name)).map((name) => age(join(folder, name))),
  );
  const newest = Math.max(...drafts.map((draft) => draft.changedAt));
  const abandoned = drafts.filter((draft) => newest - draft.changedAt > ABANDONED);
  await Promise.all(
    abandoned.map((draft) => rm(draft.path, { force: true }).catch(() => undefined)),
  );
}

async function age(path: string): Promise<{ path: string; changedAt: number }> {
  const stat = await lstat(path).catch(() => undefined);
  return { path, changedAt: stat?.mtimeMs ?? 0 };
}
