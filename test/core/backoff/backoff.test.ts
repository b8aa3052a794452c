import { describe, expect, it } from 'vitest';
import { backoff, createNews, growingWait } from '../../../src/core/backoff/backoff.ts';

const CURVE = { initial: 2_000, max: 600_000 };

describe('growingWait', () => {
  it('starts at initial, doubles with every failure and stops at max', () => {
    expect([1, 2, 3, 9, 10, 100].map((failures) => growingWait(failures, CURVE))).toEqual([
      2_000, 4_000, 8_000, 512_000, 600_000, 600_000,
    ]);
  });
});

describe('backoff', () => {
  it('is spread over the complete range from 0 to the growing wait', () => {
    expect([0, 0.25, 0.999].map((random) => backoff(2, CURVE, () => random))).toEqual([
      0, 1_000, 3_996,
    ]);
  });

  it('differs between orders that failed together', () => {
    const waits = Array.from({ length: 200 }, () => backoff(5, CURVE));
    expect(new Set(waits).size).toBeGreaterThan(150);
    expect(Math.min(...waits)).toBeLessThan(8_000);
    expect(Math.max(...waits)).toBeGreaterThan(24_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(32_000);
  });
});

it('a series of equal events is reported once, then with growing gaps; another event at once', () => {
  let now = 0;
  const isNews = createNews(() => now, { initial: 10, max: 40 });
  const reported = Array.from({ length: 100 }, (_, at) => {
    now = at;
    return isNews('the same') ? [at] : [];
  });
  expect(reported.flat()).toEqual([0, 10, 30, 70]);
  expect([isNews('another'), isNews('another'), isNews('the same')]).toEqual([true, false, true]);
});
