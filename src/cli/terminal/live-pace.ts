/** How fast each batch gets on, by what was seen of it lately. */
export type LivePace = {
  /** Takes in how many orders of a batch are done at `at` (monotonic milliseconds); gives orders a second, once known. */
  see(batch: string, done: number, at: number): number | undefined;
  /** Forgets all batches but these. */
  keep(batches: ReadonlySet<string>): void;
};

/** Only the last so many milliseconds count. */
const WINDOW = 15_000;
/** Of a shorter time nothing can be said. */
const LEAST = 1_000;

type Sighting = { at: number; done: number };

/** Measures over a window that moves along. */
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
