import { spawn } from 'node:child_process';
import path from 'node:path';
import { startProgram } from '../support/program.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/po-sync');

/** One process of the daemon: its pid, its place in the row of starts, and the log bytes of all starts so far. */
export type Life = { pid: number; nth: number; logged: () => number };

/** Keeps a daemon running as a supervisor does: it is started again when it ends. */
export function startLives(folder: string, env: Record<string, string>) {
  let isOver = false;
  let nth = 0;
  let kills = 0;
  let logged = 0;
  let said = '';
  const config = path.join(folder, 'po-sync.yaml');
  let child = start();

  function start() {
    nth += 1;
    const started = spawn(PROGRAM, ['--config', config, 'start'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        logged += bytes.length;
        said = `${said}${bytes.toString()}`.slice(-4_000);
      });
    }
    started.once('close', () => {
      if (!isOver) child = start();
    });
    return started;
  }

  return {
    current: (): Life => ({ pid: child.pid ?? 0, nth, logged: () => logged }),
    /** The end of what it printed, for a failure. */
    lastWords: () => said,
    kills: () => kills,
    starts: () => nth,
    /** Ends the process without warning; the next one starts at once. */
    kill(): void {
      kills += 1;
      child.kill('SIGKILL');
    },
    /** Orders and batches that have not ended, as `status` reports them. */
    async unsettled(): Promise<number> {
      const { out } = await startProgram(['--config', config, 'status', '--json'], {
        cwd: folder,
        env,
      }).ended;
      const status = JSON.parse(out) as { queue: { unsettledOrders: number }; batches: unknown[] };
      return status.queue.unsettledOrders + status.batches.length;
    },
    /** Ends it in order; gives its exit code or the signal that ended it. */
    async end(): Promise<number | string | null> {
      isOver = true;
      const closed = new Promise<number | string | null>((resolve) => {
        child.once('close', (code, signal) => resolve(code ?? signal));
      });
      child.kill('SIGTERM');
      return closed;
    },
  };
}
