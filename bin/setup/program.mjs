import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Starts `bin/po-sync` in its own process group, so that Ctrl-C reaches only this script, which stops all in order.
 * `onLine` receives each line that the program writes.
 */
export function startProgram(root, args, { env, onLine }) {
  const program = spawn(path.join(root, 'bin', 'po-sync'), args, {
    cwd: root,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [program.stdout, program.stderr])
    createInterface({ input: stream }).on('line', onLine);
  let over = false;
  const ended = once(program, 'close').then(([code, signal]) => {
    over = true;
    return signal ?? code;
  });
  return {
    pid: program.pid,
    /** Resolves with the exit code or signal after all output was read. */
    ended,
    /** Resolves to true when the program is ready, to false when it ends first. */
    ready: Promise.race([once(program, 'message').then(() => true), ended.then(() => false)]),
    /** Stops the program and resolves with its exit code or signal. */
    stop(signal) {
      if (!over) program.kill(signal);
      return ended;
    },
    signal: (signal) => over || program.kill(signal),
  };
}
