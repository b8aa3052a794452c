import type { RawNumber } from '../order/quantity.ts';

/**
 * A cell of a workbook that is more than its text. `number`: a stored number, whose text is its shortest decimal form,
 * with its number format. `date`: a number or text that the workbook shows as a date; its text is the date too.
 * `no-value`: a formula without a stored value. Absent for text cells, and for every cell of a format that only has text.
 */
export type CellKind =
  | { kind: 'text' | 'boolean' | 'error' | 'no-value' }
  | { kind: 'number'; format: string }
  | { kind: 'date'; date: string };

export type OddCell = CellKind & { isStruck?: true };

/** One row of a table as it is written, without judgment. */
export type Row = {
  kind: 'row';
  /** 1-based; of a row with line breaks, its first. */
  line: number;
  /** Texts as written, outer spaces included. */
  cells: readonly string[];
  /** The line as it is written; only where `Declared.isWritten` asks for it, and never of a workbook. */
  written?: string;
  /** Of a workbook: cells that are more than text, by their index; a struck text is `{kind: 'text', isStruck}`. */
  odd?: { readonly [at: number]: OddCell };
  /** Of a workbook. */
  isHidden?: true;
  /** Of a text: the first cell whose closing quote is not its end; a quote may have joined cells or split one. */
  strayAt?: number;
  /** The last row of a text file, without a line end. */
  isOpen?: true;
};

/** A JSON value with numbers as `jsonNumber` makes them; an XML element as an object of its children and attributes. */
export type Value =
  | string
  | boolean
  | null
  | number
  | RawNumber
  | readonly Value[]
  | { readonly [key: string]: Value };

/** One element of a list, as it is written. `pointer` is its JSON pointer in the document. */
export type ObjectRecord = { kind: 'object'; line: number; pointer: string; value: Value };

export type RawRecord = Row | ObjectRecord;

export type FormatName = 'csv' | 'json' | 'ndjson' | 'xlsx' | 'xml';

/** What the mapping says about reading; nothing else of a mapping is known here. */
export type Declared = {
  /** Absent: by the first bytes. */
  format?: FormatName;
  /** Absent: UTF-8. A byte order mark wins. */
  encoding?: string;
  /** Of a table; `records({ delimiter })` wins. */
  delimiter?: string;
  quote?: 'none';
  sheet?: string;
  /** The path to the list; empty: the document itself. */
  records?: string;
  widths?: readonly number[];
  /** Rows carry their line as it is written. */
  isWritten: boolean;
};

/** What a workbook has besides its rows. */
export type WorkbookFacts = {
  /** The sheet that was read; absent if several visible ones have data and none is declared: no row is read then. */
  sheet?: string;
  /** All visible sheets with data, by name. */
  sheets: readonly string[];
  /** Hidden rows with values. */
  hiddenRows: number;
  /** The indexes of hidden columns that have values. */
  hiddenColumns: readonly number[];
};

/** What a complete pass found out about a file. */
export type Summary = {
  format: FormatName;
  /** Of the bytes of the file, before they are inflated. */
  sha256: string;
  bytes: number;
  encoding: string;
  /** The most frequent line end. */
  newline?: '\n' | '\r\n' | '\r';
  gzip: boolean;
  /** The last row of a table has no line end. */
  isOpenEnded: boolean;
  /** Of JSON and XML: the names beside the list, with their path, the first ones. */
  beside: readonly string[];
  workbook?: WorkbookFacts;
};
