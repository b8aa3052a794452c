import type { Stamp } from '../core/regular-file.ts';
import type { FileShape } from '../order/record.ts';
import type { Columns } from './columns.ts';
import type { NumberFilter } from './csv/number-filter.ts';
import type { Encoding } from './encoding.ts';
import type { JsonLayout } from './json/json-layout.ts';

/** What the first pass over a file found: it is readable to its end, and how the second pass reads it. */
export type Inspection = {
  /** For the report and the fix file. */
  shape: FileShape;
  /** Rows or objects; empty rows do not count. */
  records: number;
  /** Size of the file as dropped. */
  bytes: number;
  /** Of the file as dropped, in hexadecimal. */
  sha256: string;
  /** Guesses and oddities that the sender should know of. */
  warnings: string[];
  /** It is one of our fix files, come back. */
  isFixFile: boolean;
  /** The second pass refuses a file that has another. */
  stamp: Stamp;
  reading: Reading;
};

/** How content becomes records. */
export type Reading = { encoding: Encoding; mark: number; gzip: boolean } & (TableReading | JsonReading | EmptyReading);

/**
 * `apart` holds, among others, every number whose rows do not all follow each other; `shifted` those that a row of the
 * wrong width may belong to, with its line.
 */
export type TableReading = {
  kind: 'table';
  delimiter: string;
  hasSepLine: boolean;
  newlines: readonly string[];
  columns: Columns;
  apart: NumberFilter;
  shifted: ReadonlyMap<string, number>;
  /** The rows are those of a sheet. */
  workbook?: { sheet: string | undefined; decimal: '.' | ',' | 'auto' };
};

export type JsonReading = { kind: 'json'; layout: JsonLayout };

/** Not even a header, or not one JSON value. */
export type EmptyReading = { kind: 'empty' };
