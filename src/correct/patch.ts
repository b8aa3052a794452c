import { PoSyncError } from '../core/errors.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { isObject } from '../mapping/find-key.ts';
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

/** Reads what a person changed from a file; undefined for a file of orders. */
export async function findPatch(path: string): Promise<FoundPatch | undefined> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const start = await readStart(handle, stamp, await isGzip(handle), LOOKED_AT);
  const text = start.toString('utf8');
  if (text.startsWith(BY_FORM)) return patchInText(await handle.readFile('utf8'));
  if (HEADER.test(text)) throw notAWorkbook();
  if (!text.startsWith('PK\x03\x04')) return undefined;
  // What is wrong with a workbook of orders is found when it is read as such.
  const sheet = await readSheet(path).catch(unlessBroken);
  return sheet && patchInSheet(sheet.header, sheet.rows);
}

/** The rows of a workbook that corrects dead letters; undefined for one of orders. */
async function readSheet(path: string): Promise<{ header: Header; rows: Row[] } | undefined> {
  await using file = await openFile(path, { format: 'xlsx', isWritten: false });
  const rows: Row[] = [];
  let header: Header | undefined;
  for await (const page of file.records()) {
    const own = page.filter((record) => record.kind === 'row');
    header ??= own.map(headerOf).find((found) => found !== undefined);
    if (header === undefined) return undefined;
    rows.push(...own);
  }
  return header && { header, rows };
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

function patchInSheet({ line: top, names }: Header, rows: readonly Row[]): FoundPatch {
  const own = rows.filter(({ line }) => line > top);
  const at = names.indexOf('_id');
  const ids = own.map(({ cells }) => ID.exec(trimBlanks(cells[at] ?? ''))?.groups);
  const batches = new Set(ids.flatMap((id) => id?.['batch'] ?? []));
  const [batch] = batches;
  if (batch === undefined) throw withoutIds();
  if (batches.size > 1) throw ofTwoBatches([...batches]);
  const idOf = (groups: (typeof ids)[number]): Pick<PatchRow, 'id'> =>
    groups === undefined
      ? {}
      : {
          id: {
            ordinal: Number(groups['ordinal']),
            row: Number(groups['row']),
            revision: Number(groups['revision']),
          },
        };
  const read = (decimal: '.' | ',' | undefined): Patch => ({
    batch,
    isForm: false,
    rows: own.flatMap((row, index): PatchRow[] => {
      const texts = textsOf(row, decimal);
      if (texts.every((text) => text.trim() === '')) return [];
      const all = Object.fromEntries(names.map((name, column) => [name, texts[column] ?? '']));
      const { _id: id = '', _do: act = '', _problem: _, ...cells } = all;
      const found = idOf(ids[index]);
      if (id.trim() !== '' && found.id === undefined) throw unknownId(id, row.line);
      return [{ line: row.line, ...found, act: act.trim().toLowerCase(), cells }];
    }),
  });
  return { batch, read };
}

/** The cells of a row; numbers with the decimal sign of the file that is corrected. */
function textsOf({ cells, odd }: Row, decimal: '.' | ',' | undefined): string[] {
  return cells.map((cell, at) =>
    decimal === ',' && odd?.get(at)?.kind === 'number' ? cell.replace('.', ',') : cell,
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

function ofTwoBatches(batches: readonly string[]) {
  const message = `The workbook has rows of the batches ${batches.slice(0, 5).join(' and ')}.`;
  return unreadable('fix-batch', message, {}, 'Drop the fix.xlsx of each batch alone.');
}

/** A row of a correction as a program sends it. */
export type SentRow = { row?: number; act: string; cells: Readonly<Record<string, string>> };

/** Reads the rows of a correction; undefined if they are none. */
export function sentRows(body: unknown): SentRow[] | undefined {
  if (!Array.isArray(body)) return undefined;
  const rows = body.map((one: unknown) => (isObject(one) ? sentRow(one) : undefined));
  return rows.every((row) => row !== undefined) ? rows : undefined;
}

function sentRow(body: Record<string, unknown>): SentRow | undefined {
  const { row, cells = {}, delete: isOut = false, send = false, ...rest } = body;
  const isRow = row === undefined || (Number.isSafeInteger(row) && Number(row) > 0);
  const areMarks = typeof isOut === 'boolean' && typeof send === 'boolean';
  if (!isRow || !areMarks || !isObject(cells) || Object.keys(rest).length > 0) return undefined;
  const texts = Object.entries(cells).flatMap(([name, cell]) =>
    typeof cell === 'string' ? [[name, cell] as const] : [],
  );
  if (texts.length < Object.keys(cells).length) return undefined;
  const act = isOut ? 'delete' : send ? 'send' : '';
  return { ...(row !== undefined && { row: Number(row) }), act, cells: Object.fromEntries(texts) };
}
