import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitLines } from '../../src/report/split-lines.ts';
import { each } from '../support/reported.ts';

async function lines(chunks: readonly string[], quotes: boolean): Promise<string[]> {
  const cut: string[] = [];
  for await (const line of splitLines(each(chunks), quotes)) cut.push(line);
  return cut;
}

it('keeps each line with its end', async () => {
  expect(await lines(['a\nb\r\nc\rd'], false)).toEqual(['a\n', 'b\r\n', 'c\r', 'd']);
});

it('heeds quotes where they count', async () => {
  expect(await lines(['"a\nb";"c""\r"\n"d"'], true)).toEqual(['"a\nb";"c""\r"\n', '"d"']);
  expect(await lines(['"a\nb"'], false)).toEqual(['"a\n', 'b"']);
});

it('cuts at the same places however the text comes in', async () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\r', '\n', 'a', ';'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(30)), fc.boolean(), async (whole, cuts, quotes) => {
      const at = [0, ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b), whole.length];
      const chunks = at.slice(1).map((end, index) => whole.slice(at[index], end));
      expect(await lines(chunks, quotes)).toEqual(await lines([whole], quotes));
    }),
    { numRuns: 500 },
  );
});
