import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
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

/** The command line of a process, or an empty string if it has ended. */
export async function commandLineOf(pid) {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').join(' ').trim();
  } catch {
    if (await hasProc()) return '';
    return (await runQuietly('ps', ['-o', 'args=', '-p', String(pid)])).output.trim();
  }
}

/**
 * All processes that run src/main.ts of this checkout: daemons, sandboxes, commands, also under pm2.
 * @returns {Promise<{ pid: number, what: string }[]>}
 */
export async function findProgramsOf(root) {
  const main = path.join(root, 'src', 'main.ts');
  const found = [];
  for (const pid of await allProcesses()) {
    if (pid === process.pid) continue;
    const line = await commandLineOf(pid);
    const at = line.indexOf(main);
    if (at >= 0 && /\bnode\b/.test(line.slice(0, at)))
      found.push({ pid, what: `po-sync${line.slice(at + main.length)}` });
    else if (await runsUnderPm2(pid, main)) found.push({ pid, what: 'po-sync under pm2' });
  }
  return found;
}

/** pm2 starts a wrapper that loads the script; only the environment contains the name of the script. */
async function runsUnderPm2(pid, main) {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  if (path.basename(program) !== 'node') return false;
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(`pm_exec_path=${main}`);
}

async function allProcesses() {
  if (await hasProc())
    return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const { output } = await runQuietly('ps', ['-A', '-o', 'pid=']);
  return output.trim().split(/\s+/).map(Number);
}

async function hasProc() {
  return (await commandLineFile('self')) !== undefined;
}

function commandLineFile(pid) {
  return readFile(`/proc/${pid}/cmdline`).catch(() => undefined);
}
