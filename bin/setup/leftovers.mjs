import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf } from './processes.mjs';
import { SetupFailure } from './setup-failure.mjs';

/** Longer than a daemon takes to finish its calls. */
const PATIENCE = 45_000;

/**
 * Ends what an earlier `npm start` left running when it was killed: its daemon, then its sandbox.
 * A process counts as left behind when `state` names its id and it runs from this checkout.
 */
export async function endLeftovers(root, state, say) {
  const left = await readState(state);
  if (!left) return;
  if (left.setup !== process.pid && (await commandLineOf(left.setup)).includes('setup.mjs')) {
    throw new SetupFailure(`\`npm start\` runs here already (process ${left.setup}); stop it first`);
  }
  for (const pid of [left.daemon, left.sandbox]) {
    if (!pid || !(await runsFrom(root, pid))) continue;
    say(`ending what an earlier start left running (process ${pid})`);
    await end(root, pid);
  }
  await rm(state, { force: true });
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
