/** From when to when this process did not run, by `performance.now()`. */
export type Stall = { from: number; to: number };

const TICK = 20;
/** Milliseconds that a busy machine takes from any process now and then. */
const ORDINARY = 100;
/** What was due in a gap arrives within so many milliseconds. */
const BACKLOG = 300;

/** Records when this process is suspended because the machine is busy. Ends nothing and keeps nothing alive. */
export function watchStalls(): Disposable & { stalls: readonly Stall[] } {
  const stalls: Stall[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > ORDINARY) stalls.push({ from: last, to: now });
    last = now;
  }, TICK).unref();
  return { stalls, [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * The most of these times within so many milliseconds. What arrived while this process was suspended was seen at the
 * end of the stall, so a window that begins there has the time of the stall, too. The sender can be suspended as well:
 * a window that begins in what came after a gap has up to `gap` milliseconds of it.
 */
export function mostWithin(
  window: number,
  times: readonly number[],
  { stalls = NONE, gap = 0 } = {},
): number {
  return Math.max(
    0,
    ...times.map((start) => {
      const count = times.filter((at) => at >= start && at < start + window).length;
      const waited = Math.min(gap, gapBefore(start, times));
      return Math.ceil((count * window) / (window + Math.max(waited, missedBefore(start, stalls))));
    }),
  );
}

/** The longest gap that ended shortly before `start`. */
function gapBefore(start: number, times: readonly number[]): number {
  const gaps = times.map((at, i) => ({ at, length: at - (times[i - 1] ?? at) }));
  return Math.max(
    0,
    ...gaps.filter(({ at }) => at <= start && at > start - BACKLOG).map(({ length }) => length),
  );
}

const NONE: readonly Stall[] = [];

/** The time before `start` in which this process could not see what arrived, if that was seen from `start` on. */
function missedBefore(start: number, stalls: readonly Stall[]): number {
  const missed = stalls.filter(({ from, to }) => from < start && start <= to + ORDINARY);
  return Math.max(0, ...missed.map(({ from }) => start - from));
}
