import type { Mapping } from '../config/config.ts';
import type { Stamp } from '../core/regular-file.ts';
import type { FileShape } from '../order/record.ts';
import type { Columns } from './columns.ts';
import type { MissingCell } from './csv/moved-cells.ts';
import type { NumberFilter } from './csv/number-filter.ts';
import type { Encoding } from './encoding.ts';
import type { FixSummary } from './fix-rows.ts';
import type { Originals } from './read-fix-file.ts';

/** What the first pass found out about a readable file, and how the second pass reads it. */
export type Inspection = {
  /** For the report and the fix file. */
  shape: FileShape;
  /** Rows or objects; empty rows do not count. */
  records: number;
  /** Orders that they form; absent when they are too many to count in the first pass. */
  orders?: number;
  /** Size of the file as dropped. */
  bytes: number;
  /** Of the file as dropped, in hexadecimal. */
  sha256: string;
  /** Guesses and oddities that the sender should know about. */
  warnings: string[];
  /** It is one of our fix files, returned. */
  isFixFile: boolean;
  /** Of a file of objects: keys of the first ones that no field is read from. */
  unused?: string[];
  /** The second pass refuses a file that has another. */
  stamp: Stamp;
  /** How its fields are named and checked. */
  mapping: Mapping;
  reading: Reading;
};

/** What the first pass keeps for the second, by format. */
export type Readings = {
  csv: TableReading;
  xlsx: TableReading & { sheet: string | undefined; decimal: '.' | ',' | 'auto' };
  json: { objects: Objects; layout: JsonLayout; originals?: Originals };
  xml: { objects: Objects; path: readonly string[] };
};

export type FormatName = keyof Readings;

/** How content becomes text. `isGuess`: nothing proves the encoding. */
export type TextReading = { encoding: Encoding; mark: number; gzip: boolean; isGuess: boolean };

/** How content becomes records. */
export type Reading<Name extends FormatName = FormatName> = {
  [One in Name]: { format: One } & TextReading & Readings[One];
}[Name];

/**
 * `apart` contains, among others, every number whose rows are not adjacent; `shifted` those that a faulty row may
 * belong to, with what is wrong with that row. `hasQuotes`: fields may be in quotes. `cutOffAt`: the line of a last
 * row that may be cut off. `fillDown`: a blank number repeats the one above. `extra`: empty fields behind the header's.
 * `numberedAt`: the line of a row that may only number the columns. `movedAt`: the lines of rows that may lack an empty
 * cell. `otherSignAt`: the line of a quantity that has another decimal sign than the mapping names.
 * `textQuantityAt`: the line of a worksheet's quantity that is text although it has a decimal sign, where other
 * quantities are numbers with a fraction, which end in a zero then.
 */
export type TableReading = {
  delimiter: string;
  hasQuotes: boolean;
  hasSepLine: boolean;
  extra: number;
  fillDown: boolean;
  /** Of a fix file: what its rows were, and what is known about all of them. */
  originals?: Originals;
  fixSummary?: FixSummary;
  cutOffAt?: number;
  numberedAt?: number;
  movedAt?: ReadonlyMap<number, MissingCell>;
  otherSignAt?: number;
  textQuantityAt?: number;
  newlines: readonly string[];
  columns: Columns;
  apart: NumberFilter;
  shifted: ReadonlyMap<string, string>;
};

/**
 * How objects become orders. `orders`: each is one; `repeated` contains, among others, every number that more than one
 * has. `rows`: those of one number are one order; `apart` as in a table. `shifted`: numbers in doubt, as in a table. `named`
 * and `numbered`: of a fix file, as in its summary.
 */
export type Objects =
  | { kind: 'orders'; repeated: NumberFilter; shifted: ReadonlyMap<string, string> }
  | ({ kind: 'rows'; apart: NumberFilter; shifted: ReadonlyMap<string, string> } & Pick<
      FixSummary,
      'named' | 'numbered'
    >);

/** Where a JSON file contains its orders. */
export type JsonLayout =
  /** The file is one order. */
  | { kind: 'object' }
  /** One order after another (NDJSON). */
  | { kind: 'sequence' }
  /** Lists of orders below these keys; `*` stands for every element of an array. `[]`: the file is the list. */
  | { kind: 'list'; path: readonly string[] };

/** How a mapping names a list of orders below an object with that pointer; "" where it cannot. */
export function recordsHint(
  path: readonly string[],
  { pointer = '', isXml }: { pointer?: string; isXml: boolean },
): string {
  const above = pointer.split('/').slice(1);
  // In XML, each name is followed by its number among the elements with that name.
  const steps = isXml
    ? above.filter((_, at) => at % 2 === 0)
    : above.map((step) => (/^\d+$/.test(step) ? '*' : step));
  const all = [...steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')), ...path];
  const records = JSON.stringify(all.join('.'));
  if (records.length > 120 || all.some((step) => step.includes('.'))) return '';
  const list = JSON.stringify(path.join('.'));
  return `. For your operator: if ${list} is the list of orders, name it in the mapping of the source: records: ${records}`;
}
