import type { Mapping } from '../config/config.ts';
import { nearest } from '../config/problem.ts';
import { errorColumnOf } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import { PURCHASE_ORDER, usualFieldOf } from '../order/record-kind.ts';
import { restore } from '../order/spreadsheet.ts';
import { controlCharacterIn, plainName, shorten } from '../order/text.ts';
import { fieldsToPaste, unreadable } from './unreadable.ts';

/** The fields that a table has a column for. */
export type Field = 'purchaseOrderNumber' | 'orderState' | 'articleCode' | 'quantity';

/** The column of each field in a table's rows. */
export type Columns = {
  /** The file's own column names, without those that a fix file adds. */
  header: readonly string[];
  /** Index of each field among the own columns; absent: the mapping's default applies. */
  at: { purchaseOrderNumber: number; orderState?: number; articleCode?: number; quantity?: number };
  /** All column names of the file. */
  names: readonly string[];
  /** Indexes of a fix file's own added columns; empty: not a fix file. */
  errorColumns: readonly number[];
  /** The last columns of `header` where a fix file came back without them: where its originals have them. */
  missing?: readonly { from: number; otherwise: string }[];
};

/** All of them. */
export const FIELDS: readonly Field[] = [
  'purchaseOrderNumber',
  'orderState',
  'articleCode',
  'quantity',
];
const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Finds the columns by their names; case and spacing do not count. `isText`: not of a workbook. PoSyncError `unreadable-header` for two columns that
 * could be one field and for a dangerous name; `unreadable-column-missing` when a field has no column and no default.
 */
export function resolveColumns(
  cells: readonly string[],
  line: number,
  mapping: Mapping,
  isText = false,
): Columns {
  const errorColumns = cells.flatMap((name, index) =>
    errorColumnOf(name) === undefined ? [] : [index],
  );
  const isFixFile = errorColumns.length > 0;
  const own = cells.filter((_, index) => !errorColumns.includes(index));
  const header = isFixFile ? own.map(restore) : own;
  const needed = FIELDS.filter((field) => defaultOf(field, mapping) === undefined);
  if (countFields(header, mapping) === 0)
    throw missingColumns(needed, header, { line, isText }, mapping);
  refuseBadNames(header, line);
  const found = FIELDS.map((field) => [field, columnOf(field, header, line, mapping)] as const);
  const at = Object.fromEntries(found.filter(([, index]) => index !== undefined));
  const missing = needed.filter((field) => at[field] === undefined);
  if (at.purchaseOrderNumber === undefined || missing.length > 0)
    throw missingColumns(missing, header, { line, isText, isFixFile }, mapping);
  return {
    header,
    at: { ...at, purchaseOrderNumber: at.purchaseOrderNumber },
    names: cells,
    errorColumns,
  };
}

/** The columns that no field is read from. */
export function unusedColumns({ header, at }: Pick<Columns, 'header' | 'at'>): string[] {
  const used = new Set<number>(Object.values(at));
  return header.filter((name, index) => !used.has(index) && name.trim() !== '');
}

/** Whether a row has a column for each field without a default. */
export function hasNeededColumns(cells: readonly string[], mapping: Mapping): boolean {
  const names = new Set(cells.map((name) => plainName(restore(name))));
  const needed = FIELDS.filter((field) => defaultOf(field, mapping) === undefined);
  return needed.every((field) => mapping.fields[field].some((name) => names.has(plainName(name))));
}

/** The first column of a header that is named as a field. */
export function columnNamed(
  field: Field,
  header: readonly string[],
  mapping: Mapping,
): number | undefined {
  const names = new Set(mapping.fields[field].map(plainName));
  const index = header.findIndex((name) => names.has(plainName(name)));
  return index < 0 ? undefined : index;
}

/** How many of the fields a header row has a column for. */
export function countFields(cells: readonly string[], mapping: Mapping): number {
  const names = new Set(cells.map(plainName));
  return FIELDS.filter((field) => mapping.fields[field].some((name) => names.has(plainName(name))))
    .length;
}

export function defaultOf(field: Field, mapping: Mapping): string | undefined {
  switch (field) {
    case 'purchaseOrderNumber':
      return undefined;
    case 'orderState':
      return mapping.defaults.orderState ?? PURCHASE_ORDER.state;
    case 'articleCode':
    case 'quantity':
      return mapping.defaults[field];
  }
}

function refuseBadNames(header: readonly string[], line: number): void {
  if (header.length > LIMITS.columns) {
    const facts = { line, columns: header.length, limit: LIMITS.columns };
    throw unreadable(
      'header',
      `Line ${line} has ${header.length} columns; at most ${LIMITS.columns} are read.`,
      facts,
    );
  }
  for (const [index, raw] of header.entries()) {
    // Programs wrap long names.
    const name = raw
      .trim()
      .normalize('NFC')
      .replace(/[\r\n\t]+/g, ' ');
    const column = index + 1;
    const facts = { line, column, value: shorten(name) };
    if (DANGEROUS.has(name))
      throw unreadable('header', `Column ${column} has the reserved name ${name}.`, facts);
    if (controlCharacterIn(name) !== undefined)
      throw unreadable(
        'header',
        `The name of column ${column} has a control character.`,
        facts,
        'Enter the name again without it.',
      );
  }
}

function columnOf(
  field: Field,
  header: readonly string[],
  line: number,
  mapping: Mapping,
): number | undefined {
  const accepted = new Set(mapping.fields[field].map(plainName));
  const matching = header.flatMap((name, index) => (accepted.has(plainName(name)) ? [index] : []));
  const [first, second] = matching;
  if (first === undefined || second === undefined) return first;
  const names = `"${header[first]}" and "${header[second]}"`;
  const facts = { line, column: second + 1, field };
  throw unreadable(
    'header',
    `The columns ${names} could both be the ${field}.`,
    facts,
    'Rename or remove one of them.',
  );
}

function missingColumns(
  missing: readonly Field[],
  header: readonly string[],
  { line, isText, isFixFile }: { line: number; isText: boolean; isFixFile?: boolean },
  mapping: Mapping,
) {
  const wanted = missing.map((field) => mapping.fields[field].join(' or ')).join(', ');
  const shown = shorten(header.map((name) => JSON.stringify(name)).join(', '));
  return unreadable(
    'column-missing',
    `Missing columns in line ${line}: ${wanted}. It has ${shown}.`,
    { line, field: missing.join(', '), value: shown },
    isFixFile
      ? remedyOfFixFile(wanted)
      : remedyOfMissing(missing, header, mapping, { line, isText }),
  );
}

function remedyOfFixFile(wanted: string): string {
  return `This is a fix file without a column that it had. Bring the column back with its values (${wanted}), or take the fix file of the report again and correct that; drop or upload it again. Its orders stay open until then.`;
}

function remedyOfMissing(
  missing: readonly Field[],
  header: readonly string[],
  mapping: Mapping,
  { line, isText }: { line: number; isText: boolean },
): string {
  const mixed = mixedDelimiter(missing, header, mapping);
  if (mixed !== undefined)
    return `The header has two delimiters: the name ${JSON.stringify(shorten(mixed.name, 60))} contains ${named(mixed.delimiter)}. Use one delimiter in the complete file.`;
  const found = missing.flatMap((field) => likelyColumn(field, header, mapping) ?? []);
  // A single word such as "order" is in any title.
  const isHeader = found.length + countFields(header, mapping) > 1;
  const likely = new Map(
    found.filter(({ isNear }) => isNear || isHeader).map((one) => [one.field, one]),
  );
  if (likely.size > 0) {
    const names = [...likely.values()]
      .map(({ name, found }) => `"${shorten(found, 60)}" to "${name}"`)
      .join(', ');
    const set = fieldsToPaste(
      new Map([...likely].map(([field, { found }]) => [field, found])),
      mapping,
    );
    const rest = missing.filter((field) => !likely.has(field));
    const more = rest.length === 0 ? '' : `. Name the column of ${rest.join(' and ')} there, too`;
    return `If you mean these, rename them in the file: ${names}. For your operator: or ${set}${more}.`;
  }
  const [first = ''] = header;
  const { delimiter } = mapping;
  const others = /[,;\t|]/.exec(first)?.[0];
  if (
    header.length === 1 &&
    others !== undefined &&
    delimiter !== 'auto' &&
    !first.includes(delimiter)
  )
    return `The mapping of its source sets the delimiter ${named(delimiter)}, but the line has ${named(others)}. Use ${named(delimiter)} in the file. For your operator: or correct delimiter in the mapping.`;
  if (header.length === 1 && others !== undefined)
    return 'The complete line is in quotes, so it is one field. Put quotes around single fields only.';
  const none = `No line with the names of the columns was found. If the file has no such header, add one above the orders. If line ${line} is the header,`;
  const set =
    'For your operator: fields in the mapping sets these names (docs/files.md), also for a header below a title';
  if (header.length === 1 && isText)
    return `${none} ask your operator. ${set}; if another sign than a comma, semicolon, tab or | separates them, set delimiter.`;
  const names = missing.map((field) =>
    mapping.fields[field].map((name) => JSON.stringify(name)).join(' or '),
  );
  return `${none} add or rename these columns: ${names.join('; ')}. If that is not possible, ask your operator. ${set}.`;
}

/** The column that has nearly the name of a field, or one that such columns usually have. */
function likelyColumn(field: Field, header: readonly string[], mapping: Mapping) {
  for (const name of mapping.fields[field]) {
    const found = nearest(name, header);
    if (found !== undefined) return { field, name, found, isNear: true };
  }
  const usual = header.filter((name) => usualFieldOf(name) === field && !isRead(name, mapping));
  const [found, ...others] =
    usual.length === 1
      ? usual
      : usual.filter((name) => /(?:n[or]|num(?:ber|mer)?)\W*$/i.test(name));
  return found === undefined || others.length > 0
    ? undefined
    : { field, name: mapping.fields[field][0] ?? field, found, isNear: false };
}

function isRead(name: string, { fields }: Mapping): boolean {
  return Object.values(fields)
    .flat()
    .some((one) => plainName(one) === plainName(name));
}

/** A name among others that, split at another delimiter, contains the column of a missing field. */
function mixedDelimiter(missing: readonly Field[], header: readonly string[], mapping: Mapping) {
  if (header.length === 1) return undefined;
  const all = header.flatMap((name) =>
    [',', ';', '\t', '|'].map((delimiter) => ({ name, delimiter })),
  );
  return all.find(({ name, delimiter }) => {
    const parts = name.split(delimiter);
    return (
      parts.length > 1 && missing.some((field) => columnNamed(field, parts, mapping) !== undefined)
    );
  });
}

function named(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : JSON.stringify(delimiter);
}

/** PoSyncError `unreadable-column-missing` for names of `onlyWhere`: without its column, nothing says which orders are wanted. */
export function refuseMissing(
  missing: readonly { by: string; names: readonly [string] }[],
  header?: readonly string[],
  line?: number,
): void {
  const only = missing.flatMap(({ by, names: [name] }) =>
    by === 'onlyWhere' ? [JSON.stringify(name)] : [],
  );
  if (only.length === 0) return;
  const has = header
    ? ` Line ${line} has ${shorten(header.map((name) => JSON.stringify(name)).join(', '))}.`
    : '';
  const message = `onlyWhere in the mapping names ${only.join(', ')}, which this file does not have, or has more than once.${has}`;
  const remedy =
    'Correct the name in the file. Nothing of the file is sent, because nothing says which of its orders are wanted. For your operator: or correct the name in the mapping.';
  throw unreadable(
    'column-missing',
    message,
    { ...(line !== undefined && { line }), field: only.join(', ') },
    remedy,
  );
}
