import { expect, it } from 'vitest';
import { csvLine } from '../../src/report/csv-line.ts';

it.each(['\n', '\r\n', '\r'])('quotes every kind of line end where rows end with %j', (newline) => {
  expect(csvLine(['a\nb', 'c\rd', 'e\r\nf'], { delimiter: ';', newline })).toBe(`"a\nb";"c\rd";"e\r\nf"${newline}`);
});

it('quotes delimiter, quote and a leading byte order mark, and nothing else', () => {
  const line = csvLine(['a;b', 'c"d', '\ufeffe', ' f ', '', 'g,h'], { delimiter: ';', newline: '\n' });
  expect(line).toBe('"a;b";"c""d";"\ufeffe"; f ;;g,h\n');
});
