import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FOLDER } from '../core/folder.ts';
import { readJsonIfExists, writeWhole } from '../core/regular-file.ts';

/** What was last seen of the ledger: the name of its epoch, and the sequence of its latest change. */
export type Checkpoint = { epoch: string; sequence: number };

/** Keeps a checkpoint where it outlives the process. None reads as the epoch ''. */
export type CheckpointStore = { read(): Promise<Checkpoint>; write(checkpoint: Checkpoint): Promise<void> };

/** A checkpoint in a file, written completely or not at all. */
export function createCheckpointFile(file: string): CheckpointStore {
  return { read: () => readCheckpoint(file), write: (checkpoint) => writeCheckpoint(file, checkpoint) };
}

async function readCheckpoint(file: string): Promise<Checkpoint> {
  try {
    const value: unknown = await readJsonIfExists(file);
    if (typeof value === 'object' && value !== null && 'epoch' in value && 'sequence' in value) {
      return { epoch: String(value.epoch), sequence: Number(value.sequence) };
    }
  } catch (error) {
    // A damaged file is no checkpoint. It is written atomically, so only a failing disk damages it.
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { epoch: '', sequence: 0 };
}

async function writeCheckpoint(file: string, checkpoint: Checkpoint): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
  await writeWhole(file, JSON.stringify(checkpoint));
}
