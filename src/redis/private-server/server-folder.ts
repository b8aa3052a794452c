import { randomBytes } from 'node:crypto';
import { open, readFile, realpath, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { PoSyncError, toError } from '../../core/errors.ts';
import { closeFolder, makePath, ownerBesideRoot, PRIVATE_FOLDER } from '../../core/folder.ts';
import { isGone, readJsonIfExists, writeWhole } from '../../core/regular-file.ts';

const CONFIGURATION = 'redis.conf';
const LOG = 'redis.log';
const LOG_LIMIT = 1_000_000;
/** All permissions of everybody but the owner. */
const NOT_OWNER = 0o077;

/**
 * Creates the folder of the private Redis below the data folder, readable for this user only, and returns its real path.
 * Throws PoSyncError `redis-folder` when it cannot be created or entered, `folder-not-private` when another user can
 * change it or the data folder, `redis-foreign-folder` as `refuseForeignFolder` where it has no server yet.
 */
export async function prepareFolder(data: string): Promise<string> {
  const folder = path.join(data, 'redis');
  try {
    if ((await readState(folder)) === undefined) await refuseForeignFolder(data);
    await makePath(folder, PRIVATE_FOLDER);
    await closeFolder(data);
    await closeFolder(folder, NOT_OWNER);
    return await realpath(folder);
  } catch (error) {
    throw error instanceof PoSyncError ? error : cannotUse(folder, error);
  }
}

/** Refuses a `data` without a server as `prepareFolder` does, and makes nothing in it. */
export async function requireOwnData(place: string): Promise<void> {
  await refuseForeignFolder(place);
  if (!(await isGone(place))) await closeFolder(place);
}

/**
 * Root may use a server that runs, but starts none in the folder of another user, who could not read its files then.
 * Throws PoSyncError `redis-foreign-folder`.
 */
export async function refuseForeignFolder(folder: string): Promise<void> {
  const owner = await ownerBesideRoot(folder);
  if (owner === undefined) return;
  const message = `${folder} belongs to user ${owner}, and root's private Redis would lock that user out.`;
  throw new PoSyncError('redis-foreign-folder', message, {
    remedy: `Run po-sync as that user (\`sudo -u '#${owner}' po-sync …\`), start its daemon first, or make root the owner of the folder.`,
    facts: { folder, owner },
  });
}

/** The error for a folder whose disk is full or read-only, or that this user may not write to. */
export function cannotUse(folder: string, cause: unknown): PoSyncError {
  return new PoSyncError(
    'redis-folder',
    `The private Redis cannot use ${folder}: ${toError(cause).message}.`,
    {
      remedy:
        'Free some space on its disk, give the user that runs po-sync permission to write there, or set `data` to another folder.',
      cause,
    },
  );
}

/**
 * Writes the server's configuration and returns its file name: no confirmed write is lost in a power failure, nothing is
 * evicted. `ziplist` is the older name of listpack, which every version reads; the limit keeps the jobs of a queue
 * packed, in half the memory.
 */
export async function writeConfiguration(
  folder: string,
  { port, password }: { port: number; password: string },
): Promise<string> {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    ...(port === ON_SOCKET ? [`unixsocket ${SOCKET}`, 'unixsocketperm 700'] : []),
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

/** Opens the server's log for appending, after renaming a long one to `.old`. */
export async function createServerLog(folder: string) {
  const file = path.join(folder, LOG);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT) await rename(file, `${file}.old`);
  return open(file, 'a', 0o600);
}

/** The last lines of the server's log, which show why it ended. */
export async function lastWords(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, LOG), 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-3).join('\n');
}

const SOCKET = 'redis.sock';

/** Instead of a port: the server listens on a socket in its folder, where only this user comes. */
const ON_SOCKET = 0;

/** The longest path that the address of a socket holds, in bytes. */
const LONGEST_PATH = 107;

/** How to reach the private Redis of a folder. */
export type ServerState = {
  port: number;
  password: string;
  /** Process of the last start; 0 before the first. */
  pid: number;
};

const STATE = 'server.json';

/** The state of the last start; undefined when there is none or it is damaged. */
export async function readState(folder: string): Promise<ServerState | undefined> {
  try {
    const state: unknown = await readJsonIfExists(path.join(folder, STATE));
    return isState(state) ? state : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Stores the state atomically. */
export async function writeState(folder: string, state: ServerState): Promise<void> {
  await writeWhole(path.join(folder, STATE), `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

/** The state for a first start: a random password, and a socket where the path allows one, else a free port. */
export async function newState(folder: string): Promise<ServerState> {
  return canHoldSocket(folder)
    ? { port: ON_SOCKET, password: newPassword(), pid: 0 }
    : newStateWithPort();
}

/** The same with a port, for a file system without sockets. */
export async function newStateWithPort(): Promise<ServerState> {
  return { port: await findFreePort(), password: newPassword(), pid: 0 };
}

/** The address of the server for a client. Contains the password: never log it. */
export function addressOf(folder: string, { port, password }: ServerState): string {
  return port === ON_SOCKET
    ? `${path.join(folder, SOCKET)}?password=${password}`
    : `redis://:${password}@127.0.0.1:${port}/0`;
}

/** A question mark would begin the options of an address. */
function canHoldSocket(folder: string): boolean {
  const socket = path.join(folder, SOCKET);
  return Buffer.byteLength(socket) <= LONGEST_PATH && !socket.includes('?');
}

function newPassword(): string {
  return randomBytes(24).toString('hex');
}

function isState(value: unknown): value is ServerState {
  if (typeof value !== 'object' || value === null) return false;
  if (!('port' in value && 'password' in value && 'pid' in value)) return false;
  const { port, password, pid } = value;
  return (
    Number.isInteger(port) &&
    Number.isInteger(pid) &&
    typeof password === 'string' &&
    /^\w+$/.test(password)
  );
}

/**
 * Finds a free port below the range that the kernel uses for outgoing connections, so that it is still free at the next
 * start.
 */
async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = 20_000 + (randomBytes(2).readUInt16BE(0) % 12_000);
    if (await isFree(port)) return port;
  }
  throw new PoSyncError(
    'redis-port',
    'No free port for the private Redis between 20000 and 32000.',
    {
      remedy: 'End programs that use these ports, or set redis.url.',
    },
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
