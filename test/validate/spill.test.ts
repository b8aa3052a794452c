import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openSpill } from '../../src/validate/spill.ts';
import { runs } from '../support/runs.ts';

type Line = readonly [key: string, text: string];

async function layAside(lines: Iterable<Line>, seed = 1) {
  await using spill = await openSpill(seed);
  let count = 0;
  for (const [key, text] of lines) {
    spill.write(key, text);
    if (++count % 100 === 0) await spill.relieve();
  }
  const portions: string[][] = [];
  for await (const portion of spill.portions()) portions.push(portion);
  return portions;
}

function* numbered(count: number, keys: number, size: number): Generator<Line> {
  for (let i = 0; i < count; i++) yield [`K${i % keys}`, `${i % keys}:${i}:${'é'.repeat(size)}`];
}

describe('lines laid aside', () => {
  test('come back once, those of one key together and in their order, whatever they hold', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '"', 'é', '€', '𝄞', '\t', ',', '\\'), maxLength: 40 });
    const lines = fc.array(fc.tuple(fc.constantFrom('', '1', '2', '007', 'é'), text), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(), async (texts, seed) => {
        const all = texts.map(([key, line], i) => [key, `${key}:${i}:${line}`] as const);
        const portions = await layAside(all, seed);
        for (const [key, own] of Map.groupBy(all, ([name]) => name)) {
          const found = portions.map((portion) => portion.filter((line) => line.startsWith(`${key}:`)));
          expect(found.filter(({ length }) => length > 0)).toEqual([own.map(([, line]) => line)]);
        }
        expect(portions.flat()).toHaveLength(all.length);
      }),
      { numRuns: runs(50) },
    );
  });

  test('come back in portions of a quarter of a megabyte, however many there are', async () => {
    const portions = await layAside(numbered(40_000, 2_000, 1_000));
    expect(portions.flat()).toHaveLength(40_000);
    const sizes = portions.map((portion) => portion.reduce((sum, line) => sum + 2 * line.length, 0));
    expect(Math.max(...sizes)).toBeLessThan(300_000);
    const keys = portions.map((portion) => new Set(portion.map((line) => line.split(':')[0])));
    expect(keys.reduce((sum, { size }) => sum + size, 0)).toBe(2_000);
    for (const portion of portions) {
      const places = Map.groupBy(portion, (line) => line.split(':')[0]);
      for (const of of places.values()) {
        const order = of.map((line) => Number(line.split(':')[1]));
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      }
    }
  });

  test('of one key come back together, however many there are', async () => {
    const portions = await layAside(numbered(3_000, 1, 500));
    expect(portions).toHaveLength(1);
    expect(portions[0]).toHaveLength(3_000);
  });

  test('may be longer than any block', async () => {
    const long = 'é'.repeat(100_000);
    expect(
      (
        await layAside([
          ['1', long],
          ['2', 'b'],
          ['1', 'c'],
        ])
      )
        .flat()
        .toSorted(),
    ).toEqual(['b', 'c', long]);
  });
});
