import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

/** Reads one file that holds a secret: its text and its permissions. Rejects with the system's error. */
export type SecretReader = (file: string) => Promise<{ text: string; mode: number }>;

const MOST_BYTES = 64 * 1024;

/** Reads secret files of this machine; relative paths start at `folder`, the process's working directory. */
export function secretFilesFrom(folder: string): SecretReader {
  return async (file) => {
    // A FIFO would wait for its writer for ever.
    await using handle = await open(path.resolve(folder, file), constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size > MOST_BYTES) throw new Error('it is larger than 64 KB');
    return { text: await handle.readFile('utf8'), mode: stat.mode };
  };
}
