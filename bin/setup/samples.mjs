import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Copies the samples into the inbox, the first time only. Returns the names of the copied files. */
export async function dropSamples(root) {
  if (existsSync(markerOf(root))) return [];
  const from = path.join(root, 'config', 'samples');
  const names = (await readdir(from)).filter((name) => !name.startsWith('.')).sort();
  await mkdir(path.join(root, 'data'), { recursive: true, mode: 0o700 });
  for (const name of names) {
    const hidden = path.join(root, 'inbox', `.${name}.part`);
    await copyFile(path.join(from, name), hidden);
    await rename(hidden, path.join(root, 'inbox', name));
  }
  await writeFile(markerOf(root), `${names.join('\n')}\n`);
  return names;
}

function markerOf(root) {
  return path.join(root, 'data', 'samples-dropped');
}
