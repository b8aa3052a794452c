import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { codeOf, PoSyncError, toError } from '../errors.ts';

/** What leads to a private Redis that runs, or ran, in a folder. */
export type ServerState = {
  port: number;
  password: string;
  /** Of the server started last; 0 before the first. */
  pid: number;
};

const STATE = 'server.json';
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
    throw new PoSyncError('redis-folder', `The private Redis cannot use ${folder}: ${toError(error).message}.`, {
      mend: 'Let the user who runs po-sync write there, or set another folder as `data`.',
      cause: error,
    });
  }
}

/** What the last start left behind; undefined when there is none, or none that can be read. */
export async function readState(folder: string): Promise<ServerState | undefined> {
  try {
    const state: unknown = JSON.parse(await readFile(path.join(folder, STATE), 'utf8'));
    return isState(state) ? state : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Remembers the state; whole or not at all. */
export async function writeState(folder: string, state: ServerState): Promise<void> {
  await writeWhole(path.join(folder, STATE), `${JSON.stringify(state)}\n`);
}

/** A state for a server that never ran: a free port and a password of its own. */
export async function newState(): Promise<ServerState> {
  return { port: await findFreePort(), password: randomBytes(24).toString('hex'), pid: 0 };
}

/**
 * Writes the server's configuration and gives its name. Nothing confirmed is lost at a power cut, nothing is evicted.
 * The server's folder is where it is started. `ziplist` is the older word for listpack, which every version reads;
 * the limit keeps a queue's jobs packed, at half the memory.
 */
export async function writeConfiguration(folder: string, state: ServerState): Promise<string> {
  const lines = [
    'bind 127.0.0.1',
    `port ${state.port}`,
    `requirepass ${state.password}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync always',
    'save ""',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    'hash-max-ziplist-entries 512',
    'hash-max-ziplist-value 1024',
  ];
  await writeWhole(path.join(folder, CONFIGURATION), `${lines.join('\n')}\n`);
  return CONFIGURATION;
}

/** Opens the server's log for appending; a long one makes room first, its predecessor goes. */
export async function openServerLog(folder: string) {
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

function isState(value: unknown): value is ServerState {
  if (typeof value !== 'object' || value === null) return false;
  if (!('port' in value && 'password' in value && 'pid' in value)) return false;
  const { port, password, pid } = value;
  return Number.isInteger(port) && Number.isInteger(pid) && typeof password === 'string' && /^\w+$/.test(password);
}

async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

/**
 * A port nobody listens on, below those that the kernel hands out for outgoing calls: at the next start
 * it should still be free.
 */
async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = 20_000 + (randomBytes(2).readUInt16BE(0) % 12_000);
    if (await isFree(port)) return port;
  }
  throw new PoSyncError('redis-port', 'No free port for the private Redis between 20000 and 32000.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
