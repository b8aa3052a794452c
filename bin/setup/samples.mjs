import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Drops the samples into the inbox, the first time only. Gives the names it dropped. */
export async function dropSamples(root) {
  const done = path.join(root, 'data', 'samples-dropped');
  if (existsSync(done)) return [];
  const from = path.join(root, 'config', 'samples');
  const names = (await readdir(from)).filter((name) => !name.startsWith('.')).sort();
  await mkdir(path.dirname(done), { recursive: true });
  for (const name of names) {
    const hidden = path.join(root, 'inbox', `.${name}.part`);
    await copyFile(path.join(from, name), hidden);
    await rename(hidden, path.join(root, 'inbox', name));
  }
  await writeFile(done, `${names.join('\n')}\n`);
  return names;
}
