import { memoryOf } from '../../bench/process-figures.ts';
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

  /** In MB; 0 when the process is gone. */
  function memoryNow(which: 'peak' | 'now'): number {
    try {
      return memoryOf(running.child.pid ?? 0, which);
    } catch {
      return 0;
    }
  }

  async function look(): Promise<void> {
    peak = Math.max(peak, memoryNow('peak'));
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
      until('a daemon is ready', () => running.out().includes('daemon ready')),
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
      return Math.round(peak);
    },
    nowMb: async () => Math.round(memoryNow('now')),
    [Symbol.asyncDispose]: async () => void (await kill('SIGKILL')),
  };
}
