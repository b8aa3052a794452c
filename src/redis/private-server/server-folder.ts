import { mkdir, open, readFile, realpath, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { PoSyncError, toError } from '../../core/errors.ts';
import { writeWhole } from '../../core/whole-file.ts';

const CONFIGURATION = 'redis.conf';
const LOG = 'redis.log';
const LOG_LIMIT = 1_000_000;

/**
 * The folder of the private Redis below the data folder, made if missing, without symlinks, for our eyes only.
 * Throws PoSyncError `redis-folder` when it cannot be made or entered.
 */
export async function prepareFolder(data: string): Promise<string> {
  const folder = path.join(data, 'redis');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await realpath(folder);
  } catch (error) {
    throw new PoSyncError('redis-folder', `the private Redis cannot use ${folder}: ${toError(error).message}.`, {
      remedy: 'Let the user who runs po-sync write there, or set another folder as `data`.',
      cause: error,
    });
  }
}

/**
 * Writes the server's configuration and gives its name. Nothing confirmed is lost at a power cut, nothing is evicted.
 * The server's folder is where it is started. `ziplist` is the older word for listpack, which every version reads;
 * the limit keeps a queue's jobs packed, at half the memory.
 */
export async function writeConfiguration(
  folder: string,
  { port, password }: { port: number; password: string },
): Promise<string> {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync always',
    'save ""',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    'hash-max-ziplist-entries 512',
    'hash-max-ziplist-value 1024',
  ];
  await writeWhole(path.join(folder, CONFIGURATION), `${lines.join('\n')}\n`, { mode: 0o600 });
  return CONFIGURATION;
}

/** Opens the server's log for appending; a long one makes room first, its predecessor goes. */
export async function createServerLog(folder: string) {
  const file = path.join(folder, LOG);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT) await rename(file, `${file}.old`);
  return open(file, 'a', 0o600);
}

/** The last lines the server wrote, for a person who must find out why it ended. */
export async function lastWords(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, LOG), 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-3).join('\n');
}
