import type { Clock } from '../clock.ts';
import { toError } from '../errors.ts';

/** Repeats one piece of work. Disposing waits for the round in progress. */
export type Loop = AsyncDisposable & {
  /** Runs one round now, or joins the one in progress. */
  round(): Promise<void>;
  /** Requests the next round early, because there is probably work. */
  hint(): void;
  readonly isStopped: boolean;
};

/** Hints come in bursts. Minimum gap between two rounds in milliseconds. */
const LEAST_GAP = 50;

/**
 * Builds a loop that does nothing until `start`. `work` does one round, never rejects, and returns the milliseconds to
 * the next one.
 */
export function createLoop(clock: Clock, work: () => Promise<number>): Loop & { start(): void } {
  const stopped = new AbortController();
  let early = new AbortController();
  let running: Promise<void> | undefined;
  let inProgress: Promise<number> | undefined;

  function roundNow(): Promise<number> {
    inProgress ??= work().finally(() => {
      inProgress = undefined;
    });
    return inProgress;
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      early = new AbortController();
      const wait = await roundNow();
      const ended = clock.monotonic();
      await clock.sleep(wait, AbortSignal.any([stopped.signal, early.signal]));
      const gap = Math.min(LEAST_GAP, wait) - (clock.monotonic() - ended);
      if (gap > 0) await clock.sleep(gap, stopped.signal);
    }
  }

  return {
    start() {
      running ??= run();
    },
    async round() {
      await roundNow();
    },
    hint: () => early.abort(),
    get isStopped() {
      return stopped.signal.aborted;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await running;
      await inProgress;
    },
  };
}

type LoopOptions = {
  /** Milliseconds between two rounds; at least half of it is left after a slow round. */
  pause: number;
  clock: Clock;
  /** Called when a round fails; the loop continues. */
  onTrouble: (error: Error) => void;
};

/**
 * Starts a loop that runs `tick` at a fixed rate until disposed. All loops with the same pause wake up together, so an
 * idle process wakes up rarely and their Redis calls share a round trip.
 */
export function startLoop(
  tick: () => Promise<unknown>,
  { pause, clock, onTrouble }: LoopOptions,
): Loop {
  const loop = createLoop(clock, async () => {
    await tick().catch((error: unknown) => onTrouble(toError(error)));
    return untilBeat(pause, clock.monotonic());
  });
  loop.start();
  return loop;
}

function untilBeat(pause: number, now: number): number {
  const rest = pause - (now % pause);
  return rest < pause / 2 ? rest + pause : rest;
}
