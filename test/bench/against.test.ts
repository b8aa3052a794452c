import { expect, test } from 'vitest';
import { ratioText } from '../../bench/against.ts';

const pair = (ours: number, theirs: number) => ({
  ours: { pace: ours, cpu: 1 },
  theirs: { pace: theirs, cpu: 2 },
});

test('a comparison gives the median of the ratios of its pairs, with their range', () => {
  expect(ratioText([pair(90, 100), pair(110, 100), pair(100, 100)], 'pace')).toBe(
    '1.00 (0.90–1.10)',
  );
  expect(ratioText([pair(90, 100)], 'cpu')).toBe('0.50');
});
