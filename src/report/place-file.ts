import { createHash } from 'node:crypto';
import { link, lstat, rename } from 'node:fs/promises';
import { codeOf } from '../core/errors.ts';

/** The longest file name that common file systems accept, in bytes. */
const LONGEST_NAME = 255;

/**
 * The name of a file next to `name`: `batch` and `.csv` give `batch.csv`, the second of that name is
 * `batch-2.csv`. A name that gets too long is cut between characters and made unique by part of its hash.
 */
export function besideName(name: string, suffix: string, attempt: number): string {
  const ending = attempt === 1 ? suffix : suffix.replace(/(?=\.[^.]*$)/, `-${attempt}`);
  if (Buffer.byteLength(name + ending) <= LONGEST_NAME) return name + ending;
  const mark = `~${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  return cut(name, LONGEST_NAME - Buffer.byteLength(mark + ending)) + mark + ending;
}

function cut(text: string, bytes: number): string {
  let kept = '';
  let room = bytes;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    kept += character;
  }
  return kept;
}

/** Gives the file a name that no other file has; false when the name is taken. */
export async function claimName(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(thrown) ?? ''))
      throw thrown;
  }
  // Many network shares have no hard links.
  if ((await lstat(path).catch(() => undefined)) !== undefined) return false;
  await rename(temporary, path);
  return true;
}
