import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import path from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { readJsonIfExists, writeWhole } from '../../core/whole-file.ts';

/** What leads to a private Redis that runs, or ran, in a folder. */
export type ServerState = {
  port: number;
  password: string;
  /** Of the server started last; 0 before the first. */
  pid: number;
};

const STATE = 'server.json';

/** What the last start left behind; undefined when there is none, or none that can be read. */
export async function readState(folder: string): Promise<ServerState | undefined> {
  try {
    const state: unknown = await readJsonIfExists(path.join(folder, STATE));
    return isState(state) ? state : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Remembers the state; whole or not at all. */
export async function writeState(folder: string, state: ServerState): Promise<void> {
  await writeWhole(path.join(folder, STATE), `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

/** A state for a server that never ran: a free port and a password of its own. */
export async function newState(): Promise<ServerState> {
  return { port: await findFreePort(), password: randomBytes(24).toString('hex'), pid: 0 };
}

function isState(value: unknown): value is ServerState {
  if (typeof value !== 'object' || value === null) return false;
  if (!('port' in value && 'password' in value && 'pid' in value)) return false;
  const { port, password, pid } = value;
  return Number.isInteger(port) && Number.isInteger(pid) && typeof password === 'string' && /^\w+$/.test(password);
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
  throw new PoSyncError('redis-port', 'no free port for the private Redis between 20000 and 32000.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
