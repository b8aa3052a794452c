import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf } from './processes.mjs';
import { SetupFailure } from './setup-failure.mjs';

/** Longer than a daemon takes to finish its calls, in milliseconds. */
const PATIENCE = 45_000;

/**
 * Stops the daemon and the sandbox that a killed `npm start` left running.
 * A process is a leftover if `state` contains its id and it runs from this checkout.
 */
export async function endLeftovers(root, state, say) {
  const left = await readState(state);
  if (!left) return;
  if (
    left.setup &&
    left.setup !== process.pid &&
    (await commandLineOf(left.setup)).includes('setup.mjs')
  ) {
    throw new SetupFailure(
      `\`npm start\` is already running here (process ${left.setup}); stop it first`,
    );
  }
  for (const pid of [left.daemon, left.sandbox]) {
    if (!pid || !(await runsFrom(root, pid))) continue;
    say(`stopping process ${pid} of an earlier start`);
    await end(root, pid);
  }
}

async function end(root, pid) {
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + PATIENCE;
  while (await runsFrom(root, pid)) {
    if (Date.now() > deadline) process.kill(pid, 'SIGKILL');
    await delay(50);
  }
}

async function runsFrom(root, pid) {
  return (await commandLineOf(pid)).includes(path.join(root, 'src', 'main.ts'));
}

async function readState(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
