import { expect, it } from 'vitest';
import { measureLivePace } from '../../../src/cli/terminal/live-view.ts';

it('knows the pace after 1 s, measured over the last 15 s', () => {
  const pace = measureLivePace();
  expect(pace.see('b', 0, 0)).toBeUndefined();
  expect(pace.see('b', 10, 500)).toBeUndefined();
  expect(pace.see('b', 100, 2_000)).toBe(50);
  for (let at = 3_000; at <= 30_000; at += 1_000) pace.see('b', 100, at);
  expect(pace.see('b', 100, 31_000)).toBe(0);
});

it('forgets batches that are gone', () => {
  const pace = measureLivePace();
  pace.see('b', 0, 0);
  pace.keep(new Set());
  expect(pace.see('b', 100, 5_000)).toBeUndefined();
});
