import { describe, expect, test } from 'vitest';
import { createNumberCount, createNumberFilter } from '../../../src/parse/csv/number-filter.ts';

const number = (i: number) => `PO-2026-${i}`;

function falselyFound(has: (number: string) => boolean): number {
  let found = 0;
  for (let i = 0; i < 20_000; i++) if (has(`other-${i}`)) found += 1;
  return found / 20_000;
}

describe('a set of numbers', () => {
  test('finds what was added, and hardly anything else', () => {
    const filter = createNumberFilter(50_000);
    for (let i = 0; i < 50_000; i++) filter.add(number(i));
    for (let i = 0; i < 50_000; i++) expect(filter.has(number(i))).toBe(true);
    expect(falselyFound(filter.has)).toBeLessThan(0.03);
    expect(filter.size).toBeGreaterThan(49_000);
  });

  test('still does after it is reduced to the needed size', () => {
    const filter = createNumberFilter(1_000_000);
    for (let i = 0; i < 1_000; i++) filter.add(number(i));
    const folded = filter.folded();
    for (let i = 0; i < 1_000; i++) expect(folded.has(number(i))).toBe(true);
    expect(falselyFound(folded.has)).toBeLessThan(0.03);
    expect(folded.size).toBe(filter.size);
  });

  test('that is too small still finds everything', () => {
    const filter = createNumberFilter(10);
    for (let i = 0; i < 5_000; i++) filter.add(number(i));
    for (let i = 0; i < 5_000; i++) expect(filter.has(number(i))).toBe(true);
  });
});

describe('a count of distinct numbers', () => {
  test('is exact, however often a number is repeated', () => {
    const distinct = createNumberCount();
    for (let i = 0; i < 600_000; i++) distinct.add(number(i % 200_000), i);
    expect(distinct.size()).toBe(200_000);
  });

  test('knows the first line of each number', () => {
    const distinct = createNumberCount();
    for (let i = 0; i < 50_000; i++) expect(distinct.add(number(i), i + 2)).toBeUndefined();
    for (let i = 0; i < 50_000; i++) expect(distinct.add(number(i), 90_000)).toBe(i + 2);
  });

  test('ends where its table would become too large', () => {
    const distinct = createNumberCount();
    for (let i = 0; i < 1_600_000; i++) distinct.add(number(i), i);
    expect(distinct.size()).toBeUndefined();
  });
});
