import { randomUUID } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { makePath, PRIVATE_FOLDER } from '../../core/folder.ts';

/** A file that only po-sync can read, in a separate folder. Disposing removes both. */
export type PrivateFile = AsyncDisposable & { path: string; name: string };

type Where = Pick<Config, 'data'>;

/** Reserves a place for a file that was uploaded or written at the admin port, until it is submitted. */
export async function openPrivateFile(
  name: string,
  config: Where,
  content: string | Uint8Array = '',
): Promise<PrivateFile> {
  const folder = path.join(uploadsOf(config), randomUUID());
  await makePath(folder, PRIVATE_FOLDER);
  const file = path.join(folder, name);
  await writeFile(file, content, { mode: 0o600, flag: 'wx' });
  return {
    path: file,
    name,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Stores what was uploaded in a private place. PoSyncError `upload-empty`, `upload-not-stored`. */
export async function storeUpload(
  name: string,
  content: Uint8Array,
  config: Where,
): Promise<PrivateFile> {
  if (content.length === 0)
    throw new PoSyncError('upload-empty', 'The file is empty.', {
      remedy: 'Choose a file with orders.',
    });
  return openPrivateFile(cleanName(name), config, content).catch((error: unknown) => {
    const reason = codeOf(error) ?? 'unknown';
    throw new PoSyncError('upload-not-stored', `The file could not be stored (${reason}).`, {
      remedy: 'Check the disk of the folder data.',
      cause: error,
    });
  });
}

function uploadsOf({ data }: Where): string {
  return path.join(data, 'uploads');
}

/** Removes what other daemons, or this one before it crashed, left longer than `age` milliseconds ago. */
export async function removeLeftUploads(config: Where, age: number): Promise<void> {
  const folder = uploadsOf(config);
  const names: string[] = await readdir(folder).catch(() => []);
  for (const name of names) {
    const one = path.join(folder, name);
    const { mtimeMs } = await stat(one).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > age) await rm(one, { recursive: true, force: true });
  }
}

/** Bytes of a name; its batch and its result page get longer ones. */
const LONGEST_NAME = 120;

/**
 * A file name that is safe on every file system and in every message: without folders, control and invisible characters,
 * a beginning or an end that inboxes leave alone. The extension is kept.
 */
export function cleanName(given: string): string {
  const last = given.replace(/^.*[/\\]/s, '').normalize('NFC');
  const plain = last
    .replace(/[\p{C}\p{Zl}\p{Zp}<>:"|?*']/gu, '-')
    .replace(/^[.~\s-]+|[.\s]+$/g, '')
    .replace(/\.(?:tmp|part|partial|filepart|crdownload|done)$/i, '');
  const [, stem = '', ending = ''] = /^(.*?)((?:\.[A-Za-z0-9]{1,8}){0,3})$/s.exec(plain) ?? [];
  const room = LONGEST_NAME - Buffer.byteLength(ending);
  const kept = new TextDecoder()
    .decode(Buffer.from(stem || 'upload').subarray(0, room))
    .replace(/\ufffd+$/, '');
  return `${kept}${ending}`;
}
