import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, PoSyncError } from './errors.ts';
import { shownPath } from './shown-path.ts';

/** Identity, size and times (nanoseconds) of a file; equal stamps mean that its content did not change. */
export type Stamp = { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint };

/** Whether the file did not change between two stamps. */
export function sameStamp(a: Stamp, b: Stamp): boolean {
  return isRenamed(a, b) && a.ctimeNs === b.ctimeNs;
}

/** Whether the file did not change between two stamps, but for its name or permissions. */
export function isRenamed(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** The stamp of an open file. */
export async function stampOf(handle: FileHandle): Promise<Stamp> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { dev, ino, size, mtimeNs, ctimeNs };
}

/** What a file keeps when it is renamed or its disk is mounted again, and a copy of it does not have: inode and time of birth. */
export async function markOf(handle: FileHandle): Promise<string> {
  const { ino, birthtimeNs } = await handle.stat({ bigint: true });
  return `${ino}-${birthtimeNs}`;
}

/** Whether an open file is the one that had this mark when it was written, and no copy of it. */
export async function hasMark(handle: FileHandle, mark: string): Promise<boolean> {
  const { ino, birthtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  const [inode, born] = mark.split('-');
  // Where the file system does not know when a file was created, Node.js gives 0 or the time of its last change.
  const isBirthKnown = born !== '0' && birthtimeNs !== 0n && birthtimeNs !== ctimeNs;
  return isBirthKnown ? String(birthtimeNs) === born : String(ino) === inode;
}

/**
 * Opens a regular file for reading. Follows no link, which could lead out of the folder, and does not wait on a FIFO.
 * Throws PoSyncError `file-missing`, `not-a-file`, `file-not-readable`; other errors (EBUSY, EIO) unchanged.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await openUnblocked(path);
  try {
    if (!(await handle.stat()).isFile()) throw notAFile(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openUnblocked(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        throw fileMissing(path, error);
      case 'ELOOP':
      case 'EMLINK':
      case 'ENXIO':
        throw notAFile(path);
      case 'EACCES':
      case 'EPERM':
        throw new PoSyncError(
          'file-not-readable',
          `No permission to read the file ${shownPath(path)}.`,
          {
            remedy: 'Give the user that runs po-sync read permission.',
            cause: error,
            facts: { file: shownPath(path) },
          },
        );
      default:
        throw error;
    }
  }
}

/** The error for a file that is gone. */
export function fileMissing(path: string, cause: unknown): PoSyncError {
  const file = shownPath(path);
  return new PoSyncError('file-missing', `File ${file} not found.`, {
    remedy: 'Check its name and path.',
    cause,
    facts: { file },
  });
}

function notAFile(path: string): PoSyncError {
  return new PoSyncError('not-a-file', `${shownPath(path)} is not a regular file.`, {
    remedy: 'Use a file, not a link, folder, pipe or device.',
    facts: { file: shownPath(path) },
  });
}

/**
 * Size and SHA-256 (hexadecimal) of a file, streamed; the SHA-256 is empty for a file of more than `most` bytes: a sparse
 * file of a terabyte costs its sender nothing. Errors as `openRegularFile`; rejects when `signal` aborts.
 */
export async function hashFile(
  path: string,
  {
    most = Number.POSITIVE_INFINITY,
    signal,
  }: { most?: number; signal?: AbortSignal | undefined } = {},
): Promise<{ bytes: number; sha256: string }> {
  await using handle = await openRegularFile(path);
  const { size } = await handle.stat();
  if (size > most) return { bytes: size, sha256: '' };
  const hash = createHash('sha256');
  let bytes = 0;
  refuseAborted(signal);
  // Not with `signal`: a stream that is created while it aborts emits an error that nobody handles.
  for await (const chunk of handle.createReadStream({
    highWaterMark: 256 * 1024,
    autoClose: false,
  })) {
    refuseAborted(signal);
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DOMException('The operation was aborted', 'AbortError');
}

/** Names of our temporary files: hidden, and never picked up by an inbox. */
export const DRAFT_NAME = /^\.po-sync-[0-9a-f]{16}\.tmp$/;

/** A new temporary path in `folder`. */
export function draftPath(folder: string): string {
  return path.join(folder, `.po-sync-${randomBytes(8).toString('hex')}.tmp`);
}

/**
 * Writes a file that appears complete or not at all, and survives a power failure. Its folder must exist. The text can
 * contain the mark of the file (`markOf`).
 */
export async function writeWhole(
  file: string,
  text: string | ((mark: string) => string),
  { mode = 0o666 } = {},
): Promise<void> {
  const draft = draftPath(path.dirname(file));
  try {
    await using handle = await open(draft, 'wx', mode);
    await handle.writeFile(typeof text === 'string' ? text : text(await markOf(handle)));
    await handle.sync();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/** Makes the content of a file durable. */
export async function syncFile(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.sync();
}

/** Makes the names in a folder durable. Some network shares cannot do this; there only the rename applies. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** The text of a UTF-8 file; undefined when there is no such file. */
export async function readTextIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The value of a JSON file, unchecked; undefined when there is no such file. Throws SyntaxError when it is not JSON. */
export async function readJsonIfExists(file: string): Promise<unknown> {
  const text = await readTextIfExists(file);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Whether nothing is at this path. False where that cannot be known. */
export async function isGone(file: string): Promise<boolean> {
  return lstat(file).then(
    () => false,
    (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? ''),
  );
}
