import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './processes.mjs';

/** Runs `work` while no other setup of this checkout does. A lock whose owner died is taken over. */
export async function withLock(file, say, work) {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  let isReported = false;
  while (!(await isTaken(file))) {
    if (!isReported) say('waiting for another setup of this checkout');
    isReported = true;
    await delay(500);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function isTaken(file) {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  // Empty between creation and writing.
  if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
  return false;
}
