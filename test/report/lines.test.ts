import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvLine, splitLines } from '../../src/report/lines.ts';
import { anyText } from '../support/any-text.ts';
import { each } from '../support/reported.ts';

async function lines(chunks: readonly string[], quotes: boolean): Promise<string[]> {
  const cut: string[] = [];
  for await (const line of splitLines(each(chunks), quotes)) cut.push(line);
  return cut;
}

it('yields each line with its end', async () => {
  expect(await lines(['a\nb\r\nc\rd'], false)).toEqual(['a\n', 'b\r\n', 'c\r', 'd']);
});

it('keeps a line break between quotes in its line when quotes are respected', async () => {
  expect(await lines(['"a\nb";"c""\r"\n"d"'], true)).toEqual(['"a\nb";"c""\r"\n', '"d"']);
  expect(await lines(['"a\nb"'], false)).toEqual(['"a\n', 'b"']);
});

it('splits the text independent of its chunks', async () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\r', '\n', 'a', ';'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(30)), fc.boolean(), async (whole, cuts, quotes) => {
      const at = [
        0,
        ...cuts.filter((cut) => cut <= whole.length).sort((a, b) => a - b),
        whole.length,
      ];
      const chunks = at.slice(1).map((end, index) => whole.slice(at[index], end));
      expect(await lines(chunks, quotes)).toEqual(await lines([whole], quotes));
    }),
    { numRuns: 500 },
  );
});

it.each(['\n', '\r\n', '\r'])(
  'quotes every line break in a cell when rows end with %j',
  (newline) => {
    expect(csvLine(['a\nb', 'c\rd', 'e\r\nf'], { delimiter: ';', newline })).toBe(
      `"a\nb";"c\rd";"e\r\nf"${newline}`,
    );
  },
);

it('writes every line as csv-stringify does', () => {
  const cell = fc.oneof(
    fc.string({
      unit: fc.constantFrom(
        '"',
        '\r',
        '\n',
        ';',
        ',',
        '\t',
        ' ',
        "'",
        '=',
        '0',
        '7',
        'E',
        '-',
        '/',
        '\ufeff',
        'ä',
      ),
    }),
    anyText(),
    fc.constantFrom('', '0010', '12345678901234567', '12E5', '1-2', '2026-11-21', 'PO-1'),
  );
  const dialect = fc.record({
    delimiter: fc.constantFrom(';', ',', '\t', '|'),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
  });
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 6 }),
      dialect,
      (cells, { delimiter, newline }) => {
        const quoted = [
          /[\r\n]|^\ufeff/,
          /^(?:0\d+|\d{16,}|\d+[eE]\d+|\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?)$/,
        ];
        const options = { delimiter, record_delimiter: newline, quoted_match: quoted };
        expect(csvLine(cells, { delimiter, newline })).toBe(stringify([cells], options));
      },
    ),
    { numRuns: 500 },
  );
});

it('quotes delimiters, quotes and a leading byte order mark, and nothing else', () => {
  const line = csvLine(['a;b', 'c"d', '\ufeffe', ' f ', '', 'g,h'], {
    delimiter: ';',
    newline: '\n',
  });
  expect(line).toBe('"a;b";"c""d";"\ufeffe"; f ;;g,h\n');
});

it.each(['0010', '12345678901234567', '12E5', '1-2', '2026-11-21', '3/4'])(
  'quotes %s, because spreadsheets convert it',
  (text) => {
    expect(csvLine([text, 'x'], { delimiter: ';', newline: '\n' })).toBe(`"${text}";x\n`);
  },
);

it.each(['0', '10', '0,5', '-5', '1.50', 'A-1', 'PO-2026-11'])('does not quote %s', (text) => {
  expect(csvLine([text], { delimiter: ';', newline: '\n' })).toBe(`${text}\n`);
});
