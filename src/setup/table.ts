import { plainName } from '../config/mapping-schema.ts';
import { PoSyncError } from '../core/errors.ts';
import type { Marks } from '../mapping/line.ts';
import type { FormatName, RawRecord } from '../parse/record.ts';

/** A sample as a table, whatever its format: objects have one row for each item, with the values of their order. */
export type Table = {
  file: string;
  format: FormatName;
  /** How the file is read, as keys of a mapping, each with the evidence for it. */
  settings: readonly Setting[];
  columns: readonly TableColumn[];
  rows: readonly TableRow[];
  /** The row of the header as it is written; undefined for objects, and where a table has none. */
  header: { line: number; written: string } | undefined;
  /** Why columns are called by their position. */
  byPosition: string | undefined;
  /** What a person should know about all of it. */
  notes: readonly string[];
  /** All text is ASCII, so that its encoding does not matter. */
  isAscii: boolean;
};

/** The first records of a file, and how they were read. */
export type Sample = Pick<Table, 'file' | 'format' | 'settings' | 'isAscii'> & {
  records: readonly RawRecord[];
  isAll: boolean;
};

export type Setting = { key: string; value: string; note?: string; question?: string };

export type TableColumn = {
  /** As a mapping calls it. */
  name: string;
  /** Of objects, the keys that lead to it from the order. */
  steps: readonly string[];
  isInItems: boolean;
};

export type TableRow = {
  line: number;
  /** Without spaces at their ends; missing cells are empty. */
  cells: readonly string[];
  odd?: Marks;
  written?: string;
};

/** Whether a sample has rows and not objects. */
export function hasRows({ format }: Pick<Table, 'format'>): boolean {
  return format === 'csv' || format === 'xlsx';
}

/** What is looked at of each file. */
export const BOUNDS = { rows: 200_000, bytes: 64 * 1024 * 1024, columns: 1_000 } as const;

/** The error for a sample without anything to look at. */
export function nothingIn(file: string): PoSyncError {
  return new PoSyncError('map-empty', `${file} has no records.`, {
    remedy: 'Give a sample with some orders.',
    facts: { file },
  });
}

const LONGEST_NAME = 200;

/** Whether a mapping can declare a column of this name. */
export function isDeclarable(name: string): boolean {
  return (
    name.length <= LONGEST_NAME &&
    plainName(name) !== '' &&
    plainName(name) !== '__proto__' &&
    !/[\p{Cc}\p{Cs}]/u.test(name)
  );
}
