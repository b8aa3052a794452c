/** The recent pace of each batch. */
export type LivePace = {
  /** Records how many orders of a batch are done at `at` (monotonic milliseconds); returns orders a second, once known. */
  see(batch: string, done: number, at: number): number | undefined;
  /** Forgets all other batches. */
  keep(batches: ReadonlySet<string>): void;
};

/** Milliseconds that are measured. */
const WINDOW = 15_000;
/** A shorter time is too short to measure. */
const LEAST = 1_000;

type Sighting = { at: number; done: number };

/** Measures over a sliding window. */
export function measureLivePace(): LivePace {
  const sightings = new Map<string, Sighting[]>();
  return {
    see(batch, done, at) {
      const seen = (sightings.get(batch) ?? []).filter((one) => at - one.at <= WINDOW);
      sightings.set(batch, [...seen, { at, done }]);
      const [first] = seen;
      if (first === undefined || at - first.at < LEAST) return undefined;
      return ((done - first.done) * 1000) / (at - first.at);
    },
    keep(batches) {
      for (const batch of sightings.keys()) if (!batches.has(batch)) sightings.delete(batch);
    },
  };
}
