import { expect, test } from 'vitest';
import { chance } from '../../../src/sandbox/faults/plan-faults.ts';

test('depends only on seed and key', () => {
  expect(chance(1, 'create PO-1 1')).toBe(chance(1, 'create PO-1 1'));
  expect(
    new Set([chance(1, 'PO-1'), chance(2, 'PO-1'), chance(1, 'PO-2'), chance(1, 'PO-1 ')]).size,
  ).toBe(4);
});

test('is evenly distributed over similar keys and independent between faults', () => {
  const drawn = Array.from({ length: 20_000 }, (_, nth) => [
    chance(7, `0 create PO-${nth} 1`),
    chance(7, `1 create PO-${nth} 1`),
  ]);
  for (let tenth = 0; tenth < 10; tenth += 1) {
    const share =
      drawn.filter(([first = 0]) => Math.floor(first * 10) === tenth).length / drawn.length;
    expect(share).toBeGreaterThan(0.09);
    expect(share).toBeLessThan(0.11);
  }
  const both =
    drawn.filter(([first = 1, second = 1]) => first < 0.3 && second < 0.3).length / drawn.length;
  expect(both).toBeGreaterThan(0.08);
  expect(both).toBeLessThan(0.1);
  expect(drawn.flat().every((value) => value >= 0 && value < 1)).toBe(true);
});
