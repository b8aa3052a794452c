import { rm } from 'node:fs/promises';
import path from 'node:path';

/** Removes the folder that `rehearse` left, as its output names it. Throws, and removes nothing, if it names none. */
export async function removeRehearsal(out: string): Promise<void> {
  const folder = /Report: (.*)\/reports\//.exec(out)?.[1];
  await removeRehearsalFolder(folder);
}

/** Only ever a folder that a rehearsal made: a path that is wrong must not remove anything else. */
export async function removeRehearsalFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined || !path.basename(folder).startsWith('po-sync-rehearsal-'))
    throw new Error(`not the folder of a rehearsal: ${folder}`);
  await rm(folder, { recursive: true });
}
