import { expect, it } from 'vitest';
import { count, duration, moment, orders, size, timeOfDay } from '../../src/core/format.ts';

it.each([
  [400, 'less than 1 s'],
  [1_000, '1 s'],
  [59_600, '1 min'],
  [192_000, '3 min 12 s'],
  [3_600_000, '1 h'],
  [3_660_000, '1 h 1 min'],
  [3_605_000, '1 h'],
  [90_000_000, '1 d 1 h'],
])('says %i ms as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_234, '1.2 kB'],
  [5_000_000_000, '5.0 GB'],
])('says %i bytes as %s', (bytes, text) => {
  expect(size(bytes)).toBe(text);
});

it('groups thousands and uses the correct plural', () => {
  expect([count(5000), orders(1), orders(0), orders(12_345)]).toEqual([
    '5,000',
    '1 order',
    '0 orders',
    '12,345 orders',
  ]);
});

it('shows a timestamp to the second, with its date on another day, and any other text unchanged', () => {
  expect(moment('2026-11-21T07:15:04.123Z')).toBe('2026-11-21 07:15:04 UTC');
  expect(timeOfDay('2026-11-21T07:15:04.123Z', '2026-11-21T00:00:00Z')).toBe('07:15:04');
  expect(timeOfDay('2026-11-22T07:15:04Z', '2026-11-21T00:00:00Z')).toBe('2026-11-22 07:15:04');
  expect(moment('soon')).toBe('soon');
});
