import type { Mapping } from '../config/config.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { errorColumnOf, readFixCheck, readFixNote } from '../order/fixing.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { FixTarget, SourceRecord } from '../order/record.ts';
import { isSpreadsheetDamage, isUnsureDamage, restore } from '../order/spreadsheet.ts';
import { isGzip, readStart } from './bytes.ts';
import { isUncertain } from './code-pages.ts';
import type { Columns } from './columns.ts';
import { byteOrderMarkOf, looksLikeUtf16 } from './encoding.ts';
import { find, isObject, setAt } from './find-key.ts';
import { openWorkbook } from './xlsx/workbook.ts';

/** The rows of the batch that a fix file corrects, by their line, as the fix file was written. */
export type Originals = {
  batch: string;
  at: Columns['at'];
  rows: RowsByLine;
  /** The numbers and articles beyond ASCII by the place that their record names, read without a named encoding. */
  guessed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of JSON: the objects by the place that they name. */
  objects: ReadonlyMap<string, unknown>;
};

export type RowsByLine = ReadonlyMap<number, readonly string[]>;

/**
 * What a row of a fix file says about itself. `original` is its row before a spreadsheet may have changed it;
 * `isUnproved`: that row is not known.
 */
export type FixRow = { fixTarget?: FixTarget; line?: number; original?: readonly string[]; isUnproved?: boolean };

const MESSAGE = '_error_message';
const ANY_NOTE = /\((?:line \d{1,15}|\/[^\n]{1,500}?) of batch [\w.-]{1,200}\)/;
const LOOKED_AT = 256 * 1024;

/** The batch that a fix file names at its beginning; undefined for any other file. */
export async function batchNamedIn(path: string): Promise<string | undefined> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const start = await readStart(handle, stamp, await isGzip(handle), LOOKED_AT);
  if (start.subarray(0, 4).toString('latin1') !== 'PK\x03\x04') return batchIn(textOf(start));
  await using workbook = await openWorkbook(handle, stamp, { sheet: undefined });
  for await (const rows of workbook.pages()) return batchIn(rows.map(({ cells }) => cells.join('\n')).join('\n'));
  return undefined;
}

function batchIn(text: string): string | undefined {
  if (!text.toLowerCase().includes(MESSAGE)) return undefined;
  const [note = ''] = ANY_NOTE.exec(text) ?? [];
  return readFixNote(` ${note}`)?.batch;
}

/** Names of columns and batches are ASCII in every encoding. */
function textOf(start: Buffer): string {
  const encoding = byteOrderMarkOf(start)?.encoding ?? looksLikeUtf16(start);
  return encoding === 'utf-16le' || encoding === 'utf-16be'
    ? new TextDecoder(encoding).decode(start)
    : start.toString('latin1');
}

/** The mapping of a fix file: the fields of the batch it corrects, in the form that we write and spreadsheets rewrite. */
export function fixMapping(mapping: Mapping): Mapping {
  const delimiter = [',', ';', '\t', '|'].includes(mapping.delimiter) ? 'auto' : mapping.delimiter;
  const { sheet: _, records: __, ...rest } = mapping;
  return { ...rest, format: 'auto', delimiter, quote: '"', ...PLAIN };
}

const PLAIN = { headerRow: 'auto', skipRows: [], fillDown: false, finalNewline: 'required' } satisfies Partial<Mapping>;

/** Reads what the error columns of the rows of one table say, and undoes what a spreadsheet did to them. */
export function createFixColumns({ names, at, errorColumns }: Columns, originals: Originals | undefined) {
  const columnOf = (name: string) => names.findIndex((cell) => errorColumnOf(cell) === name);
  const [line, code, message] = [columnOf('_error_line'), columnOf('_error_code'), columnOf(MESSAGE)];
  const check = columnOf('_error_check');

  const own = (cells: readonly string[]) => cells.filter((_, index) => !errorColumns.includes(index));

  function read(cells: readonly string[]): FixRow {
    const fixTarget = readFixNote((cells[message] ?? '').trim());
    const number = Number(cells[line] ?? '');
    const state = readFixCheck(cells[check]);
    const mayBeChanged = state === 'rewritten' || (state === 'missing' && number > 0);
    const isOther = fixTarget !== undefined && fixTarget.batch !== originals?.batch;
    const original = isOther ? undefined : originals?.rows.get(number);
    const isUnknown =
      originals === undefined
        ? state === 'rewritten' && textsInRow(own(cells), at).some(mayHaveLostZeros)
        : mayBeChanged && original === undefined;
    const guessed = isOther ? undefined : originals?.guessed.get(`line ${number}`);
    const isUnsure = mayBeChanged && original !== undefined && isUnsureRow(own(cells).map(restore), original);
    const isUnproved = isUnknown || isUnsure || isStillGuessed(textsInRow(own(cells), at), cells[code], guessed);
    return {
      ...(fixTarget && { fixTarget }),
      ...(number > 0 && { line: number }),
      ...(mayBeChanged && original && { original }),
      ...(isUnproved && { isUnproved }),
    };
  }

  function isUnsureRow(cells: readonly string[], original: readonly string[]): boolean {
    return SENT.some((field) => {
      const [column, before] = [at[field], originals?.at[field]];
      if (column === undefined || before === undefined) return false;
      return isUnsureDamage(original[before] ?? '', cells[column] ?? '');
    });
  }

  /** The column of each cell that a spreadsheet changed, with what it was. */
  function changed(cells: readonly string[], { original }: FixRow): Map<number, string> {
    const restored = new Map<number, string>();
    for (const field of original === undefined ? [] : SENT) {
      const [column, before] = [at[field], originals?.at[field]];
      if (column === undefined || before === undefined) continue;
      const was = original?.[before] ?? '';
      if (isSpreadsheetDamage(was, cells[column] ?? '')) restored.set(column, was);
    }
    return restored;
  }

  return { read, changed };
}

/** Whether a number or article of a file that a program rewrote may have had zeros before it. */
function mayHaveLostZeros(text: string): boolean {
  return /^\s*\d[\d.,\s]*(?:e[+-]?\d+)?\s*$/i.test(text);
}

const SENT = ['purchaseOrderNumber', 'articleCode', 'quantity'] as const;

/** The codes of a record that a guess may have changed. */
const UNSURE = /encoding-unsure|spreadsheet-rewrite/;

/** Whether a record has text that was read by a guess and not corrected since. `guessed`: undefined if that is not known. */
function isStillGuessed(texts: readonly string[], code: unknown, guessed: ReadonlySet<string> | undefined): boolean {
  if (typeof code !== 'string' || !UNSURE.test(code)) return false;
  return texts.some((text) => isUncertain(text) && (guessed === undefined || guessed.has(text)));
}

/** The numbers and articles of a record that depend on the encoding of its file. */
export function uncertainTextsIn(record: SourceRecord, { fields }: Mapping, at: Columns['at']): string[] {
  const texts = record.kind === 'row' ? textsInRow(record.cells, at) : textsInObject(record.value, fields);
  return texts.filter(isUncertain);
}

function textsInRow(cells: readonly string[], at: Columns['at']): string[] {
  const columns = [at.purchaseOrderNumber, at.articleCode];
  return columns.map((column) => (column === undefined ? '' : (cells[column] ?? '')));
}

function textsInObject(value: unknown, fields: Mapping['fields']): string[] {
  if (!isObject(value)) return [];
  const { value: items } = find(value, fields.items);
  const parts = [value, ...(Array.isArray(items) ? items.filter(isObject) : [])];
  const found = parts.flatMap((part) =>
    [fields.purchaseOrderNumber, fields.articleCode].map((names) => find(part, names)),
  );
  return found.map(({ value: text }) => shownText(text));
}

/** Whether an object of a fix file still has text that was read by a guess. */
export function isGuessedObject(
  record: ObjectRecord,
  code: unknown,
  originals: Originals | undefined,
  { fields }: Mapping,
): boolean {
  const isOther = record.fixTarget !== undefined && record.fixTarget.batch !== originals?.batch;
  const guessed = isOther ? undefined : originals?.guessed.get(placeNamedBy(record) ?? '');
  return isStillGuessed(textsInObject(record.value, fields), code, guessed);
}

type ObjectRecord = Extract<SourceRecord, { kind: 'object' }>;

/** The place that an object of a fix file names: of its dead letter, or its line. */
export function placeNamedBy({ fixTarget, line }: Pick<ObjectRecord, 'fixTarget' | 'line'>): string | undefined {
  return fixTarget?.place ?? (line === undefined ? undefined : `line ${line}`);
}

/**
 * Restores what a program changed in an object of a fix file, as its check shows. Returns how many values that were, or
 * `unproved` if the original is not known.
 */
export function restoreObject(
  record: ObjectRecord,
  check: unknown,
  originals: Originals | undefined,
  { fields }: Mapping,
): number | 'unproved' {
  const { value } = record;
  const key = placeNamedBy(record);
  const isOther = record.fixTarget !== undefined && record.fixTarget.batch !== originals?.batch;
  const state = readFixCheck(typeof check === 'string' ? check : shownText(check));
  if (originals === undefined)
    return state === 'rewritten' && textsInObject(value, fields).some(mayHaveLostZeros) ? 'unproved' : 0;
  if (state === 'intact' || key === undefined || isOther || !isObject(value)) return 0;
  const original = originals.objects.get(key);
  if (!isObject(original)) return 'unproved';
  const own = [fields.purchaseOrderNumber, fields.articleCode, fields.quantity];
  let count = restoreIn(value, original, own);
  let isUnsure = isUnsureIn(value, original, own);
  const [items, before] = [find(value, fields.items).value, find(original, fields.items).value];
  if (!Array.isArray(items) || !Array.isArray(before)) return isUnsure ? 'unproved' : count;
  for (const [index, item] of items.entries()) {
    const was: unknown = before[index];
    if (!isObject(item) || !isObject(was)) continue;
    count += restoreIn(item, was, [fields.articleCode, fields.quantity]);
    isUnsure ||= isUnsureIn(item, was, [fields.articleCode, fields.quantity]);
  }
  return isUnsure ? 'unproved' : count;
}

function isUnsureIn(now: object, was: object, fields: readonly (readonly string[])[]): boolean {
  return fields.some((names) => isUnsureDamage(shownText(find(was, names).value), shownText(find(now, names).value)));
}

function restoreIn(now: Record<string, unknown>, was: object, fields: readonly (readonly string[])[]): number {
  let count = 0;
  for (const names of fields) {
    const [found, before] = [find(now, names), find(was, names)];
    if (before.value === undefined || !isSpreadsheetDamage(shownText(before.value), shownText(found.value))) continue;
    setAt(now, found.value === undefined ? before.pointer : found.pointer, before.value);
    count += 1;
  }
  return count;
}

function shownText(value: unknown): string {
  return typeof value === 'string' ? value : (sourceOfNumber(value) ?? '');
}
