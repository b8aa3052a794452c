import { expect, it } from 'vitest';
import { mostWithin, watchStalls } from './stalls.ts';
import { until } from './until.ts';

const FOUR_A_SECOND = Array.from({ length: 12 }, (_, i) => i * 250);

it('counts the most of an even stream, and those of a burst', () => {
  expect(mostWithin(1_000, FOUR_A_SECOND)).toBe(4);
  expect(mostWithin(1_000, [...FOUR_A_SECOND, 1_000, 1_001, 1_002])).toBe(7);
});

it('what waited for the end of a stall is no burst; a burst at another time is', () => {
  const stall = { from: 500, to: 2_000 };
  const seen = FOUR_A_SECOND.map((at, i) =>
    at > stall.from && at < stall.to ? stall.to + i / 10 : at,
  );
  expect(mostWithin(1_000, seen)).toBeGreaterThan(8);
  expect(mostWithin(1_000, seen, { stalls: [stall] })).toBe(4);
  expect(
    mostWithin(1_000, [...seen, 2_600, 2_601, 2_602, 2_603, 2_604], { stalls: [stall] }),
  ).toBeGreaterThan(5);
});

it('a sender that was suspended for a while may send what was due; after a longer time, it may not', () => {
  const late = FOUR_A_SECOND.map((at) => (at > 500 && at < 2_000 ? 2_000 : at));
  expect(mostWithin(1_000, late)).toBe(9);
  expect(mostWithin(1_000, late, { gap: 2_000 })).toBe(4);
  expect(mostWithin(1_000, [0, ...Array<number>(16).fill(10_000)], { gap: 2_000 })).toBe(6);
});

it('a process that is kept busy knows when', async () => {
  using watched = watchStalls();
  const from = performance.now();
  while (performance.now() < from + 300);
  const to = performance.now();
  const stall = await until('the stall', () => watched.stalls.find((one) => one.to >= to));
  expect(stall.from).toBeLessThanOrEqual(from);
});
