import { expect, it } from 'vitest';
import { csvLine } from '../../src/report/csv-line.ts';

it.each(['\n', '\r\n', '\r'])('quotes every kind of line end where rows end with %j', (newline) => {
  expect(csvLine(['a\nb', 'c\rd', 'e\r\nf'], { delimiter: ';', newline })).toBe(`"a\nb";"c\rd";"e\r\nf"${newline}`);
});

it('quotes delimiter, quote and a leading byte order mark, and nothing else', () => {
  const line = csvLine(['a;b', 'c"d', '\ufeffe', ' f ', '', 'g,h'], { delimiter: ';', newline: '\n' });
  expect(line).toBe('"a;b";"c""d";"\ufeffe"; f ;;g,h\n');
});

it.each(['0010', '12345678901234567', '12E5', '1-2', '2026-11-21', '3/4'])(
  'quotes %s, which spreadsheets change',
  (text) => {
    expect(csvLine([text, 'x'], { delimiter: ';', newline: '\n' })).toBe(`"${text}";x\n`);
  },
);

it.each(['0', '10', '0,5', '-5', '1.50', 'A-1', 'PO-2026-11'])('leaves %s without quotes', (text) => {
  expect(csvLine([text], { delimiter: ';', newline: '\n' })).toBe(`${text}\n`);
});
