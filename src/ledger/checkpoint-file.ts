import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../core/errors.ts';

/** How far the ledger had come when it was looked at last: the name of its life, and the number of its latest change. */
export type Checkpoint = { epoch: string; sequence: number };

/** Keeps a trace where it outlives the process. No trace reads as the life ''. */
export type CheckpointStore = { read(): Promise<Checkpoint>; write(checkpoint: Checkpoint): Promise<void> };

/** A trace in a file, written whole or not at all. */
export function createCheckpointFile(file: string): CheckpointStore {
  return { read: () => readCheckpoint(file), write: (checkpoint) => writeWhole(file, JSON.stringify(checkpoint)) };
}

async function readCheckpoint(file: string): Promise<Checkpoint> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof value === 'object' && value !== null && 'epoch' in value && 'sequence' in value) {
      return { epoch: String(value.epoch), sequence: Number(value.sequence) };
    }
  } catch (error) {
    // A damaged file is no trace; it is written whole, so that only a failing disk damages it.
    if (codeOf(error) !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  return { epoch: '', sequence: 0 };
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
