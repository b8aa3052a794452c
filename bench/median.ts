/** The median; for an even count the mean of the middle two, NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (
    ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  );
}

/** Compared round by round, so that a slow phase of the machine affects both sides. */
export function medianRatio(values: readonly number[], of: readonly number[]): number {
  const rounds = Math.min(values.length, of.length);
  return median(
    Array.from(
      { length: rounds },
      (_, round) => (values[round] ?? Number.NaN) / (of[round] ?? Number.NaN),
    ),
  );
}
