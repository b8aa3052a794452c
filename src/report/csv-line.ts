import { stringify } from 'csv-stringify/sync';

export type Dialect = { delimiter: string; newline: string };

/** The dialect of our own files, and of a fix file whose input had none (XLSX). */
export const PLAIN_DIALECT: Dialect = { delimiter: ',', newline: '\n' };

/**
 * Texts that spreadsheet programs take for numbers and dates and write back changed: `0010`, more digits than a double
 * holds, `12E5`, `1-2`. In quotes they stay texts where the program is told to heed quotes, and mean the same to others.
 */
const FRAGILE = /^(?:0\d+|\d{16,}|\d+[eE]\d+|\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?)$/;

/** Any line end ends a row for one reader or another; a mark at the very start would be taken for the file's own. */
const MISLEADING = /[\r\n]|^\ufeff/;

/** One row of a table with its line end, quoted where the dialect or a spreadsheet needs it. */
export function csvLine(cells: readonly string[], dialect: Dialect): string {
  return stringify([[...cells]], {
    delimiter: dialect.delimiter,
    record_delimiter: dialect.newline,
    quoted_match: [MISLEADING, FRAGILE],
  });
}
