/** How a duration is written: a whole number and a unit, nothing between them. */
export const DURATION = /^[0-9]{1,9}(ms|s|m|h|d)$/;

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** Milliseconds of `250ms`, `30s`, `5m`, `1h` or `90d`; undefined for every other text. */
export function parseDuration(text: string): number | undefined {
  const unit = DURATION.exec(text)?.[1];
  const factor = UNITS.find(([name]) => name === unit)?.[1];
  return factor === undefined ? undefined : Number.parseInt(text, 10) * factor;
}

/** Whole milliseconds in the largest unit that divides them: what `parseDuration` reads back. */
export function formatDuration(ms: number): string {
  const [unit, factor] = UNITS.find(([, size]) => ms > 0 && ms % size === 0) ?? ['ms', 1];
  return `${ms / factor}${unit}`;
}
