import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';

/** Ids of the processes that run with `folder` as their own; as the Redis server of a data folder does. */
export function processesIn(folder: string): Promise<number[]> {
  return processesWhere((place) => place === folder);
}

/** Ids of the processes that run in `folder` or anywhere below it, also if their folder was removed. */
export function processesBelow(folder: string): Promise<number[]> {
  return processesWhere((place) => place === folder || place.startsWith(folder + path.sep));
}

async function processesWhere(isMeant: (place: string) => boolean): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(
    all.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)),
  );
  return all.map(Number).filter((_, index) => isMeant(places[index] ?? ''));
}
