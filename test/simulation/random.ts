/** Chance that repeats itself: the same seed gives the same run. */
export type Random = {
  /** From 0 to just below 1. */
  next(): number;
  chance(probability: number): boolean;
  between(from: number, to: number): number;
  /** A whole number below `n`. */
  below(n: number): number;
  pick<T>(from: readonly T[]): T;
};

/** Mulberry32: 32 bits of state, quick, and good enough to choose faults by. */
export function seededRandom(seed: number): Random {
  let state = (seed * 0x9e3779b1) >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  const below = (n: number) => Math.floor(next() * n);
  return {
    next,
    chance: (probability) => next() < probability,
    between: (from, to) => from + next() * (to - from),
    below,
    pick<T>(from: readonly T[]): T {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
  };
}
