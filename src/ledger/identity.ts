import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { readScript, runScript } from '../redis/script.ts';

/**
 * How the ledger in Redis stands to what we remember of it.
 * `rolled-back`: it forgot something: flushed, restored from an old file, failed over, or another Redis altogether.
 */
export type Standing = 'same' | 'new' | 'rolled-back';

export type Identity = ReturnType<typeof openIdentity>;

type Trace = { life: string; seq: number };

/**
 * Tells one life of the ledger from another. Each life has a name and counts its changes; both are remembered in
 * Redis, in memory, and in a file of ours. A Redis that knows less than we do was rolled back.
 */
export function openIdentity({ redis, keys, file }: { redis: Redis; keys: Keys; file: string }) {
  const script = readScript(new URL('./identity.lua', import.meta.url));
  let known: Trace = { life: '', seq: 0 };
  let stored = '';

  /** Compares Redis with what we remember, and begins a new life where it forgot. Repeatable, by any daemon. */
  async function establish(): Promise<Standing> {
    const remembered = known.life === '' ? await readTrace(file) : known;
    const answer = await runScript(redis, script, [keys.identity], [remembered.life, remembered.seq, randomUUID()]);
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
  const draft = await open(`${file}.tmp`, 'w');
  try {
    await draft.writeFile(text);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.tmp`, file);
}
