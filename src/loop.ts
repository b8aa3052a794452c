import type { Clock } from './clock.ts';
import { toError } from './errors.ts';

/** Something that is done again and again. Disposing waits for the round under way. */
export type Loop = AsyncDisposable;

type LoopOptions = {
  /** Milliseconds between the end of a round and the next. */
  pause: number;
  clock: Clock;
  /** A round that failed; the next comes all the same. */
  onTrouble: (error: Error) => void;
};

/** Runs `tick` until disposed; never two rounds at once. */
export function startLoop(tick: () => Promise<void>, { pause, clock, onTrouble }: LoopOptions): Loop {
  const ended = new AbortController();
  const running = (async () => {
    while (!ended.signal.aborted) {
      await tick().catch((error: unknown) => onTrouble(toError(error)));
      await clock.sleep(pause, ended.signal);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await running;
    },
  };
}
