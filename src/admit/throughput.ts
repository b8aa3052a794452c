import type { Clock } from '../core/clock.ts';

/** How fast orders get their outcome here, to bound how many may wait. */
export type Throughput = {
  /** One more order has its outcome. */
  count(): void;
  /** How many orders a few seconds of this pace would take. */
  fewSeconds(): number;
};

const WINDOW = 250;
/** What is left of an estimate after a window of less. */
const KEPT = 0.9;
const SECONDS = 4;
const LEAST = 100;
const MOST = 20_000;

/** Measures outcomes a second: quick to rise, so that a fast API is not kept waiting, and slow to fall. */
export function measureThroughput(clock: Clock): Throughput {
  let perSecond = 0;
  let count = 0;
  let since = clock.monotonic();

  function roll(): void {
    const passed = clock.monotonic() - since;
    if (passed < WINDOW) return;
    const pace = (count * 1000) / passed;
    const kept = KEPT ** (passed / WINDOW);
    perSecond = pace > perSecond ? pace : perSecond * kept + pace * (1 - kept);
    count = 0;
    since = clock.monotonic();
  }

  return {
    count() {
      count += 1;
      roll();
    },
    fewSeconds() {
      roll();
      return Math.min(MOST, Math.max(LEAST, Math.round(perSecond * SECONDS)));
    },
  };
}
