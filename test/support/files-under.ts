import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Paths of all files in `folder` and below it, in the order of their names. A folder that another process removes meanwhile has none. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const at = path.join(folder, entry.name);
      return entry.isDirectory() ? filesUnder(at) : [at];
    }),
  );
  return lists.flat();
}
