import { stringify } from 'csv-stringify/sync';

export type Dialect = { delimiter: string; newline: string };

/** The dialect of our own files, and of a fix file whose input had none (XLSX). */
export const PLAIN_DIALECT: Dialect = { delimiter: ',', newline: '\n' };

/** One row of a table with its line end, quoted where the dialect asks for it. */
export function csvLine(cells: readonly string[], dialect: Dialect): string {
  return stringify([[...cells]], {
    delimiter: dialect.delimiter,
    record_delimiter: dialect.newline,
    // Any line end ends a row for one reader or another; a mark at the very start would be taken for the file's own.
    quoted_match: [/[\r\n]/, /^\ufeff/],
  });
}
