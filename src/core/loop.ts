import type { Clock } from './clock.ts';
import { toError } from './errors.ts';

/** Something that is done again and again. Disposing waits for the round under way. */
export type Loop = AsyncDisposable;

type LoopOptions = {
  /** Milliseconds from one round to the next; at least half of it lies between them. */
  pause: number;
  clock: Clock;
  /** A round that failed; the next comes all the same. */
  onTrouble: (error: Error) => void;
};

/**
 * Runs `tick` until disposed; never two rounds at once. All loops keep to one beat: an idle process wakes up rarely, and
 * what they ask Redis for shares a trip.
 */
export function startLoop(tick: () => Promise<void>, { pause, clock, onTrouble }: LoopOptions): Loop {
  const ended = new AbortController();
  const running = (async () => {
    while (!ended.signal.aborted) {
      await tick().catch((error: unknown) => onTrouble(toError(error)));
      await clock.sleep(untilBeat(pause, clock.monotonic()), ended.signal);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await running;
    },
  };
}

function untilBeat(pause: number, now: number): number {
  const rest = pause - (now % pause);
  return rest < pause / 2 ? rest + pause : rest;
}
