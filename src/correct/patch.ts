import { PoSyncError } from '../core/errors.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { trimBlanks } from '../order/text.ts';
import { isGzip, readStart } from '../parse/bytes.ts';
import { openFile } from '../parse/open.ts';
import type { Row } from '../parse/record.ts';
import { columnNames } from './letter-rows.ts';
import { unreadable } from './unreadable.ts';

/** The row of a dead letter that a person names; without `row`, a new row of it. */
export type RowId = { ordinal: number; row?: number; revision: number };

/**
 * A row that came back, on a line of its file. Without `id`, it is added to the order that it names. `act`: what a person did
 * with it besides, `send`, `discard` or, in the form, `delete`; any other text is answered.
 */
export type PatchRow = {
  line: number;
  id?: RowId;
  act: string;
  cells: Readonly<Record<string, string>>;
};

/** What a person changed in dead letters of a batch. `isForm`: in the form, where no program changes cells. */
export type Patch = { batch: string; isForm: boolean; rows: readonly PatchRow[] };

/** A patch before the mapping of its batch is known, which says how numbers are written. */
export type FoundPatch = { batch: string; read(decimal: '.' | ',' | undefined): Patch };

const ID =
  /^(?<batch>\d{8}T\d{6}Z-.{1,300})-(?<ordinal>\d{1,10})\.(?<row>\d{1,6})@(?<revision>\d{1,9})$/;
const HEADER = /^(?:\ufeff)?(?:[^\r\n]*[,;\t|])?"?_problem"?[,;\t|]"?_do"?[,;\t|]"?_id"?\s*[\r\n]/;
const BY_FORM = '{"correction":';
const LOOKED_AT = 64 * 1024;

/** Reads what a person changed from a file, batch by batch; undefined for a file of orders. */
export async function findPatches(path: string): Promise<FoundPatch[] | undefined> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const start = await readStart(handle, stamp, await isGzip(handle), LOOKED_AT);
  const text = start.toString('utf8');
  if (text.startsWith(BY_FORM)) return [patchInText(await handle.readFile('utf8'))];
  if (HEADER.test(text)) throw notAWorkbook();
  if (!text.startsWith('PK\x03\x04')) return undefined;
  // What is wrong with a workbook of orders is found when it is read as such.
  const sheets = await readSheets(path).catch(unlessBroken);
  return sheets && patchesIn(sheets);
}

/** The rows of one sheet. `last`: how many lines those before it have: a line is one of the workbook. */
type FixSheet = { header: Header; rows: Row[]; last: number };

/** The sheets of a workbook that corrects dead letters; undefined for one of orders. */
async function readSheets(path: string): Promise<FixSheet[] | undefined> {
  const found = await readSheet(path, undefined, 0);
  if (found === undefined || 'header' in found) return found && [found];
  const sheets: FixSheet[] = [];
  for (const name of found.sheets) {
    const sheet = await readSheet(path, name, sheets.at(-1)?.last ?? 0);
    if (sheet === undefined || !('header' in sheet)) return undefined;
    sheets.push(sheet);
  }
  return sheets;
}

/** Its rows, or the names of all sheets where it is not clear which one is meant. */
async function readSheet(
  path: string,
  sheet: string | undefined,
  before: number,
): Promise<FixSheet | { sheets: readonly string[] } | undefined> {
  const named = sheet === undefined ? {} : { sheet };
  await using file = await openFile(path, { format: 'xlsx', isWritten: false, ...named });
  const rows: Row[] = [];
  let header: Header | undefined;
  for await (const page of file.records()) {
    const own = page.flatMap((record) =>
      record.kind === 'row' ? [{ ...record, line: record.line + before }] : [],
    );
    header ??= own.map(headerOf).find((found) => found !== undefined);
    if (header === undefined) return undefined;
    rows.push(...own);
  }
  if (header !== undefined) return { header, rows, last: rows.at(-1)?.line ?? before };
  const { sheets = [] } = file.summary().workbook ?? {};
  return sheets.length > 1 ? { sheets } : undefined;
}

function unlessBroken(error: unknown): undefined {
  const isOfFile = error instanceof PoSyncError && error.code.startsWith('unreadable-');
  if (!isOfFile || error.code.startsWith('unreadable-fix')) throw error;
}

/** The text of a file with what a person entered in the form. */
export function patchText(patch: Omit<Patch, 'isForm'>): string {
  return `${BY_FORM}${JSON.stringify(patch)}}\n`;
}

function patchInText(text: string): FoundPatch {
  const { correction } = Object(JSON.parse(text)) as { correction: Omit<Patch, 'isForm'> };
  return { batch: correction.batch, read: () => ({ ...correction, isForm: true }) };
}

type Header = { line: number; names: string[] };

function headerOf({ cells, line }: Row): Header | undefined {
  const names = columnNames(cells);
  if (names.includes('_id') && (names.includes('_do') || names.includes('_problem')))
    return { line, names };
  if (names.includes('_do') && names.includes('_problem')) throw withoutIds();
  return undefined;
}

function patchesIn(sheets: readonly FixSheet[]): FoundPatch[] {
  const rows = sheets.flatMap(({ header, rows: all }) => rowsIn(header, all));
  const batches = [...new Set(rows.flatMap(({ id }) => id?.['batch'] ?? []))];
  if (batches.length === 0) throw withoutIds();
  return batches.map((batch) => ({
    batch,
    read: (decimal) => ({
      batch,
      isForm: false,
      rows: rows.flatMap((row) => patchRow(row, batch, decimal)),
    }),
  }));
}

/** A row with the parts of its `_id`; without one, `near`: the batch of the row above it. */
type SheetRow = { row: Row; names: string[]; id: Record<string, string> | undefined; near: string };

function rowsIn({ line: top, names }: Header, rows: readonly Row[]): SheetRow[] {
  const at = names.indexOf('_id');
  let near = '';
  return rows
    .filter(({ line }) => line > top)
    .map((row) => {
      const id = ID.exec(trimBlanks(row.cells[at] ?? ''))?.groups;
      near = id?.['batch'] ?? near;
      return { row, names, id, near };
    });
}

function patchRow(
  { row, names, id, near }: SheetRow,
  batch: string,
  decimal: '.' | ',' | undefined,
): PatchRow[] {
  const texts = textsOf(row, decimal);
  if (texts.every((text) => text.trim() === '')) return [];
  const all = Object.fromEntries(names.map((name, column) => [name, texts[column] ?? '']));
  const { _id: given = '', _do: act = '', _problem: _, ...cells } = all;
  if (given.trim() !== '' && id === undefined) throw unknownId(given, row.line);
  if (near !== batch) return [];
  const of = (name: string) => Number(id?.[name]);
  const own = { ordinal: of('ordinal'), row: of('row'), revision: of('revision') };
  return [{ line: row.line, ...(id && { id: own }), act: act.trim().toLowerCase(), cells }];
}

/** The cells of a row; numbers with the decimal sign of the file that is corrected. */
function textsOf({ cells, odd }: Row, decimal: '.' | ',' | undefined): string[] {
  return cells.map((cell, at) =>
    decimal === ',' && odd?.[at]?.kind === 'number' ? cell.replace('.', ',') : cell,
  );
}

const AGAIN = 'Take fix.xlsx of the report again, correct a copy of it, and drop that.';

function notAWorkbook() {
  const message = 'The file is a fix.xlsx that was saved in another format.';
  return unreadable('fix-columns', message, {}, `Save it as an Excel workbook. ${AGAIN}`);
}

function withoutIds() {
  const message = 'The workbook is a fix.xlsx without its column _id, or without any value in it.';
  return unreadable('fix-columns', message, {}, AGAIN);
}

function unknownId(id: string, line: number) {
  const message = `The _id on line ${line} is not one of a fix.xlsx.`;
  return unreadable('fix-columns', message, { line, value: id.slice(0, 200) }, AGAIN);
}

/** A row of a correction as a program sends it. */
export type SentRow = { row?: number; act: string; cells: Readonly<Record<string, string>> };
