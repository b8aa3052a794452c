import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Whether the samples were dropped before. */
export function areSamplesDropped(root) {
  return existsSync(markOf(root));
}

/** Drops the samples into the inbox, the first time only. Gives the names it dropped. */
export async function dropSamples(root) {
  if (areSamplesDropped(root)) return [];
  const from = path.join(root, 'config', 'samples');
  const names = (await readdir(from)).filter((name) => !name.startsWith('.')).sort();
  await mkdir(path.join(root, 'data'), { recursive: true, mode: 0o700 });
  for (const name of names) {
    const hidden = path.join(root, 'inbox', `.${name}.part`);
    await copyFile(path.join(from, name), hidden);
    await rename(hidden, path.join(root, 'inbox', name));
  }
  await writeFile(markOf(root), `${names.join('\n')}\n`);
  return names;
}

function markOf(root) {
  return path.join(root, 'data', 'samples-dropped');
}
