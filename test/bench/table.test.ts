import { expect, test } from 'vitest';
import type { Line } from '../../bench/line.ts';
import { median, medianRatio } from '../../bench/median.ts';
import { tableOf } from '../../bench/table.ts';

const PACE: Line = {
  what: 'file to accepted',
  unit: 'orders/s',
  samples: { 'po-sync': [900, 1000, 2000], fetch: [450, 400, 1000] },
  compared: true,
  targets: [
    { text: '× fetch script', value: 2, limit: 2, sense: 'at least' },
    { text: '× undici', value: 0.49, limit: 0.5, sense: 'at least' },
  ],
};
const MEMORY: Line = { what: 'memory', unit: 'MB', samples: { 'po-sync': [150.26] } };

test('the middle of an even number of samples is the mean of the middle two', () => {
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([3, 1, 2])).toBe(2);
  expect(median([])).toBeNaN();
});

test('a ratio is taken round by round', () => {
  expect(medianRatio([10, 40, 90], [10, 10, 10])).toBe(4);
});

test('the table shows the contenders, the ratios, and each target with its result', () => {
  expect(
    tableOf([{ name: 'saturated', title: 'Saturated', lines: [PACE, MEMORY] }]).split('\n'),
  ).toEqual([
    '|                            | po-sync | fetch script |                           to reach |     reached |',
    '|----------------------------|--------:|-------------:|-----------------------------------:|------------:|',
    '| **Saturated**              |         |              |                                    |             |',
    '| file to accepted, orders/s |   1,000 | 450 (2.00 ×) | ≥ 2 × fetch script; ≥ 0.5 × undici | 2 ✓; 0.49 ✗ |',
    '| memory, MB                 |     150 |              |                                    |             |',
  ]);
});
