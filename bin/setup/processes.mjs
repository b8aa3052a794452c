import { readFile } from 'node:fs/promises';
import { runQuietly } from './run-quietly.mjs';

/** Whether a process with this id is running. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The command line of a process. */
export async function commandLineOf(pid) {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ').trim();
  } catch {
    return (await runQuietly('ps', ['-o', 'args=', '-p', String(pid)])).output.trim();
  }
}
