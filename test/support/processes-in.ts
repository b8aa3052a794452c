import { readdir, readlink } from 'node:fs/promises';

/** Ids of the processes that run with `folder` as their own; as the Redis server of a data folder does. */
export async function processesIn(folder: string): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(all.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)));
  return all.filter((_, index) => places[index] === folder).map(Number);
}
