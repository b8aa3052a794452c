import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Starts `bin/po-sync` in a process group of its own, so that Ctrl-C reaches us alone and things end in order.
 * `onLine` gets each line it writes.
 */
export function startProgram(root, args, { env, onLine }) {
  const program = spawn(path.join(root, 'bin', 'po-sync'), args, {
    cwd: root,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [program.stdout, program.stderr]) createInterface({ input: stream }).on('line', onLine);
  let over = false;
  const ended = once(program, 'close').then(([code, signal]) => {
    over = true;
    return signal ?? code;
  });
  return {
    pid: program.pid,
    /** Resolves with its exit code or the signal that ended it, when all its output was read. */
    ended,
    /** Resolves true when it says that its work has begun, false when it ends before. */
    ready: Promise.race([once(program, 'message').then(() => true), ended.then(() => false)]),
    /** Ends it, waits for that, and gives how it ended. */
    stop(signal) {
      if (!over) program.kill(signal);
      return ended;
    },
    signal: (signal) => over || program.kill(signal),
  };
}
