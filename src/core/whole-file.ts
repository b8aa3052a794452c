import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from './errors.ts';

/** Names of our temporary files: hidden, and never picked up by an inbox. */
export const DRAFT_NAME = /^\.po-sync-[0-9a-f]{16}\.tmp$/;

/** A new temporary path in `folder`. */
export function draftPath(folder: string): string {
  return path.join(folder, `.po-sync-${randomBytes(8).toString('hex')}.tmp`);
}

/** Writes a file that appears complete or not at all, and survives a power cut. Its folder must exist. */
export async function writeWhole(file: string, text: string, { mode = 0o666 } = {}): Promise<void> {
  const draft = draftPath(path.dirname(file));
  try {
    await using handle = await open(draft, 'wx', mode);
    await handle.writeFile(text);
    await handle.sync();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(path.dirname(file));
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
