import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { readScript, runScript } from '../redis/script.ts';

/**
 * How the ledger in Redis stands to what we remember of it.
 * `rolled-back`: it forgot something: flushed, restored from an old file, failed over, or another Redis altogether.
 */
export type Standing = 'same' | 'new' | 'rolled-back';

export type Identity = ReturnType<typeof openIdentity>;

/** The hold of delivery after a rollback. */
export const ROLLED_BACK = 'ledger-rolled-back';

type IdentityDeps = {
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  file: string;
  /** Milliseconds until nothing sent before a rollback can still arrive and be missed by the list. */
  wait: number;
};

type Trace = { life: string; seq: number };

/**
 * Tells one life of the ledger from another. Each life has a name and counts its changes; both are remembered in
 * Redis, in memory, and in a file of ours. A Redis that knows less than we do was rolled back.
 */
export function openIdentity({ redis, keys, file, time, wait }: IdentityDeps) {
  const script = readScript(new URL('./identity.lua', import.meta.url));
  let known: Trace = { life: '', seq: 0 };
  let stored = '';
  let establishing: Promise<Standing> | undefined;

  /**
   * Compares Redis with what we remember. Where it forgot, a new life begins, delivery is held and the API's list is
   * asked for, in one step; other daemons then find the new life. May be called at any time, by any daemon.
   */
  function establish(): Promise<Standing> {
    establishing ??= compare().finally(() => {
      establishing = undefined;
    });
    return establishing;
  }

  async function compare(): Promise<Standing> {
    const remembered = known.life === '' ? await readTrace(file) : known;
    const now = time.now();
    const hold = {
      code: ROLLED_BACK,
      reason: 'Redis lost part of the ledger; first the list of the API is read',
      since: now,
    };
    const answer = await runScript(
      redis,
      script,
      [keys.identity, keys.takeOver, keys.gate],
      [remembered.life, remembered.seq, randomUUID(), now, wait, `hold:${ROLLED_BACK}`, JSON.stringify(hold)],
    );
    const [standing, life, seq] = answer as [Standing, string, string];
    known = { life, seq: Number(seq) };
    await store();
    return standing;
  }

  /** Takes note of a change's number. */
  function saw(seq: number): void {
    if (seq > known.seq) known = { ...known, seq };
  }

  /** Keeps the file current; call now and then and at the end. */
  async function store(): Promise<void> {
    const text = JSON.stringify(known);
    if (text === stored) return;
    await writeWhole(file, text);
    stored = text;
  }

  return { establish, saw, store, known: () => known };
}

async function readTrace(file: string): Promise<Trace> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof value === 'object' && value !== null && 'life' in value && 'seq' in value) {
      return { life: String(value.life), seq: Number(value.seq) };
    }
  } catch (error) {
    // A damaged file is no trace; it is written whole, so that only a failing disk damages it.
    if (codeOf(error) !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  return { life: '', seq: 0 };
}

async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  const draft = await open(temporary, 'wx');
  try {
    await draft.writeFile(text);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(temporary, file);
}
