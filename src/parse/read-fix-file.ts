import type { Mapping } from '../config/config.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { errorColumnOf, readFixCheck, readFixNote } from '../order/fixing.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import type { FixTarget, SourceRecord } from '../order/record.ts';
import { isSpreadsheetDamage } from '../order/spreadsheet.ts';
import { isGzip, readStart } from './bytes.ts';
import { isUncertain } from './code-pages.ts';
import type { Columns } from './columns.ts';
import { byteOrderMarkOf, looksLikeUtf16 } from './encoding.ts';
import { find, isObject, setAt } from './find-key.ts';
import { openWorkbook } from './xlsx/workbook.ts';

/**
 * The rows of the batch that a fix file corrects, by their line, as the fix file was written. `guessed`: the same rows
 * where their encoding was a guess, as they were guessed.
 */
export type Originals = {
  batch: string;
  at: Columns['at'];
  rows: RowsByLine;
  guessed: RowsByLine;
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

  /** A letter that was read by a guess, and that nobody corrected since. */
  function isStillGuessed(cells: readonly string[], number: number): boolean {
    if (!(cells[code] ?? '').includes('encoding-unsure')) return false;
    const guessed = originals?.guessed.get(number);
    return (['purchaseOrderNumber', 'articleCode'] as const).some((field) => {
      const [column, before] = [at[field], originals?.at[field]];
      const text = before === undefined ? '' : (guessed?.[before] ?? '');
      return column !== undefined && isUncertain(text) && own(cells)[column] === text;
    });
  }

  const own = (cells: readonly string[]) => cells.filter((_, index) => !errorColumns.includes(index));

  function read(cells: readonly string[]): FixRow {
    const fixTarget = readFixNote((cells[message] ?? '').trim());
    const number = Number(cells[line] ?? '');
    const state = readFixCheck(cells[check]);
    const mayBeChanged = state === 'rewritten' || (state === 'missing' && number > 0);
    const isOther = fixTarget !== undefined && fixTarget.batch !== originals?.batch;
    const original = isOther ? undefined : originals?.rows.get(number);
    const isUnknown = mayBeChanged && originals !== undefined && original === undefined;
    const isUnproved = isUnknown || isStillGuessed(cells, number);
    return {
      ...(fixTarget && { fixTarget }),
      ...(number > 0 && { line: number }),
      ...(mayBeChanged && original && { original }),
      ...(isUnproved && { isUnproved }),
    };
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

const SENT = ['purchaseOrderNumber', 'articleCode', 'quantity'] as const;

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
  if (originals === undefined || key === undefined || isOther || !isObject(value)) return 0;
  if (readFixCheck(typeof check === 'string' ? check : shownText(check)) === 'intact') return 0;
  const original = originals.objects.get(key);
  if (!isObject(original)) return 'unproved';
  const own = [fields.purchaseOrderNumber, fields.articleCode, fields.quantity];
  let count = restoreIn(value, original, own);
  const [items, before] = [find(value, fields.items).value, find(original, fields.items).value];
  if (!Array.isArray(items) || !Array.isArray(before)) return count;
  for (const [index, item] of items.entries()) {
    const was: unknown = before[index];
    if (isObject(item) && isObject(was)) count += restoreIn(item, was, [fields.articleCode, fields.quantity]);
  }
  return count;
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
