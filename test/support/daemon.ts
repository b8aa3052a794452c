import { readFile } from 'node:fs/promises';
import { until } from './until.ts';
import type { Ended, Workplace } from './workplace.ts';

/** A daemon process that is killed and started again, frozen and woken; its memory is watched all the while. */
export type Daemon = AsyncDisposable & {
  /** Resolves when the current process is ready. */
  ready(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<Ended>;
  /** Ends it with SIGKILL if it runs and starts it again; does not wait until it is ready. */
  restart(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Everything that all its processes printed. */
  out(): string;
  /** The most memory one of its processes had, in MB. */
  peakMb(): Promise<number>;
  /** What it has now, in MB. */
  nowMb(): Promise<number>;
};

/** Starts one in a workplace; it does not wait until it is ready. */
export function startDaemon(place: Workplace): Daemon {
  let past = '';
  let peak = 0;
  let running = place.spawn(['start']);

  async function look(): Promise<void> {
    peak = Math.max(peak, await memoryOf(running.child.pid, 'VmHWM'));
  }

  async function kill(signal: NodeJS.Signals): Promise<Ended> {
    await look();
    running.child.kill(signal);
    const ended = await running.ended;
    return ended;
  }

  async function ready(): Promise<void> {
    const early = running.ended.then(({ err }) => {
      throw new Error(`the daemon ended before it was ready: ${err}`);
    });
    await Promise.race([
      early,
      until('a daemon is ready', () => running.out().includes('po-sync is ready')),
    ]);
  }

  return {
    ready,
    kill,
    async restart() {
      await kill('SIGKILL');
      past += running.out();
      running = place.spawn(['start']);
    },
    signal: (signal) => void running.child.kill(signal),
    out: () => past + running.out(),
    async peakMb() {
      await look();
      return Math.round(peak / 1024);
    },
    nowMb: async () => Math.round((await memoryOf(running.child.pid, 'VmRSS')) / 1024),
    [Symbol.asyncDispose]: async () => void (await kill('SIGKILL')),
  };
}

/** In kB; 0 when the process is gone. */
async function memoryOf(pid: number | undefined, what: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}
