import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** Whether two paths are regular files of the same content. */
export async function sameBytes(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([lstat(one), lstat(other)]);
  if (!left.isFile() || !right.isFile() || left.size !== right.size) return false;
  return (await hashOf(one)) === (await hashOf(other));
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
