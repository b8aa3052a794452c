import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createRetryGaps } from '../../src/intake/offers.ts';

test('the gaps between attempts at a failing batch double up to a minute, and end with a success', () => {
  let now = 0;
  const gaps = createRetryGaps({ ...systemClock, monotonic: () => now });
  const attempts: number[] = [];
  for (; now <= 200_000; now += 500) {
    if (!gaps.isDue('batch')) continue;
    attempts.push(now);
    gaps.failed('batch');
  }
  expect(attempts).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 31_500, 63_500, 123_500, 183_500]);
  gaps.forget('batch');
  expect(gaps.isDue('batch')).toBe(true);
});
