import { createHash } from 'node:crypto';
import path from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import {
  CONFIRMED,
  ERROR_COLUMNS,
  errorColumnOf,
  placeText,
  readFixNote,
} from '../../order/fixing.ts';
import type { CheckedOrder } from '../../order/order.ts';
import type { FileShape, Problem } from '../../order/record.ts';
import { escapeFormula, restore } from '../../order/spreadsheet.ts';
import { fixDelimiterOf, fixEncodingOf } from '../../report/encode.ts';
import { fixFileName } from '../../report/fix-file/fix-file.ts';
import { csvLine, readText, splitCells, splitLines } from '../../report/lines.ts';
import { type Leaf, leavesOf, withLeaves } from './fix-leaves.ts';

/** A value of a row as the fix file has it. `name`: its column, or for an object the JSON pointer within it. */
export type FixCell = { name: string; value: string };

/** A row of the fix file: its place in the batch, what is wrong with it, and its cells without the error columns. */
export type FixRow = { place: string; code: string; message: string; cells: FixCell[] };

/**
 * A row as a person corrected it: the values of its cells, in their order. `confirmed`: they are right as they are.
 * `leave`: it is left out of the fix file, as if it was deleted there.
 */
export type CorrectedRow = { values: readonly string[]; confirmed: boolean; leave?: boolean };

/** The rows of one dead letter. `version` changes with them. `write`: a fix file of these rows only. */
export type FixRows = {
  rows: readonly FixRow[];
  /** Of a table: a row that a person can add, with only the number of the order. */
  added?: FixRow;
  version: string;
  /** How the name of the file ends. */
  ending: '.fix.csv' | '.fix.json';
  write(corrected: readonly CorrectedRow[]): string;
};

/** The legends of the rows that are in the file, in their order. */
export function legendsOf({ rows }: FixRows, corrected: readonly CorrectedRow[]): string[] {
  return corrected.flatMap(({ leave }, row) =>
    leave ? [] : (rows[row]?.place ?? 'the added row'),
  );
}

/** Rows and cells that a page can show. */
const MOST_ROWS = 200;
const MOST_CELLS = 5_000;

type Letter = Pick<DeadLetter, 'location' | 'purchaseOrderNumber'> & { batch: string };

/**
 * Reads the rows of a dead letter from the fix file of its batch in the folder of reports. PoSyncError `rows-unknown` if
 * the fix file does not have them, `rows-too-many`.
 */
export async function readFixRows(
  letter: Letter,
  shape: FileShape,
  reports: string,
): Promise<FixRows> {
  const file = path.join(reports, letter.batch, fixFileName(shape.format));
  const isTable = shape.format.type === 'csv' || shape.format.type === 'xlsx';
  const lines = splitLines(readText(file, fixEncodingOf(shape.format).encoding), isTable);
  const reading: Promise<Omit<FixRows, 'version'>> = isTable
    ? tableRows(lines, letter, shape)
    : objectRows(lines, letter);
  const found = await reading.catch(() => undefined);
  if (found === undefined || found.rows.length === 0) throw rowsUnknown();
  if (
    found.rows.length > MOST_ROWS ||
    found.rows.reduce((sum, { cells }) => sum + cells.length, 0) > MOST_CELLS
  ) {
    throw new PoSyncError(
      'rows-too-many',
      `The order has more than ${MOST_ROWS} rows or ${MOST_CELLS} cells.`,
      {
        remedy: 'Correct it in the fix file of its batch.',
      },
    );
  }
  const version = createHash('sha256')
    .update(JSON.stringify(found.rows))
    .digest('hex')
    .slice(0, 16);
  return { ...found, version };
}

function rowsUnknown(): PoSyncError {
  return new PoSyncError(
    'rows-unknown',
    'The fix file of the batch does not have the rows of this order.',
    {
      remedy: 'The order may have been settled. Drop the corrected order as a new file.',
    },
  );
}

/** Whether an error message ends with the note of one of the rows of a dead letter. */
function noteOf({
  batch,
  location,
}: Pick<Letter, 'batch' | 'location'>): (message: string) => string | undefined {
  const { line, lines = [], pointer } = location;
  const places = new Set([
    placeText(location),
    ...(pointer === undefined ? [line, ...lines].map(lineText) : []),
  ]);
  return (message) => {
    const note = readFixNote(message.trim());
    return note?.batch === batch && places.has(note.place) ? note.place : undefined;
  };
}

function lineText(line: number): string {
  return placeText({ line });
}

async function tableRows(
  lines: AsyncIterable<string>,
  letter: Letter,
  { format, newline = '\r\n' }: FileShape,
) {
  const delimiter = fixDelimiterOf(format);
  const place = noteOf(letter);
  let header: string[] | undefined;
  const found: { cells: string[]; place: string }[] = [];
  for await (const line of lines) {
    const cells = splitCells(line.replace(/^\ufeff/, ''), delimiter).map(restore);
    header ??= cells;
    const at = place(cells[header.indexOf('_error_message')] ?? '');
    if (at !== undefined && found.length <= MOST_ROWS) found.push({ cells, place: at });
  }
  const names = header ?? [];
  const isError = (column: number) => errorColumnOf(names[column] ?? '') !== undefined;
  const own = (cells: readonly string[]) =>
    cells.flatMap((_, column) => (isError(column) ? [] : [column]));

  const rows = found.map(({ cells, place: at }): FixRow => {
    return {
      place: at,
      code: cells[names.indexOf('_error_code')] ?? '',
      message: withoutNote(cells[names.indexOf('_error_message')] ?? ''),
      cells: own(cells).map((column) => ({
        name: names[column] ?? '',
        value: cells[column] ?? '',
      })),
    };
  });

  /** In UTF-8 with a byte order mark: a corrected value may have characters that the file's own encoding lacks. */
  function write(corrected: readonly CorrectedRow[]): string {
    const lineOf = (cells: readonly string[]) =>
      csvLine(cells.map(escapeFormula), { delimiter, newline });
    const bodies = corrected.map(({ values, confirmed, leave }, row) => {
      if (leave) return '';
      // A row that was added has none of the columns that po-sync added.
      const cells = found[row]?.cells ?? names.map(() => '');
      const now = [...cells];
      own(cells).forEach((column, i) => {
        now[column] = values[i] ?? '';
      });
      if (confirmed) now[names.indexOf('_error_check')] = CONFIRMED;
      // A cell after the last column is one only while something is in it.
      while (now.length > names.length && now.at(-1) === '') now.pop();
      return lineOf(now);
    });
    return `\ufeff${lineOf(names)}${bodies.join('')}`;
  }

  const number = letter.purchaseOrderNumber;
  const prefilled = (column: number) =>
    found.every(({ cells }) => cells[column] === number) ? number : '';
  const blank = own(names).map((column) => ({
    name: names[column] ?? '',
    value: prefilled(column),
  }));
  const added: FixRow = { place: 'added row', code: '', message: '', cells: blank };
  return { rows, added, ending: '.fix.csv' as const, write };
}

async function objectRows(lines: AsyncIterable<string>, letter: Letter) {
  const place = noteOf(letter);
  const found: {
    text: string;
    place: string;
    leaves: readonly Leaf[];
    errors: Record<string, string>;
  }[] = [];
  for await (const line of lines) {
    const text = line.replace(/^\ufeff/, '').replace(/,?[\r\n]*$/, '');
    if (!text.startsWith('{') || found.length > MOST_ROWS) continue;
    const errors = Object.fromEntries(ERROR_COLUMNS.map((name) => [name, errorText(text, name)]));
    const at = place(errors['_error_message'] ?? '');
    if (at !== undefined) found.push({ text, place: at, leaves: leavesOf(text), errors });
  }
  const rows = found.map(({ place: at, leaves, errors }): FixRow => {
    return {
      place: at,
      code: errors['_error_code'] ?? '',
      message: withoutNote(errors['_error_message'] ?? ''),
      cells: leaves.map(({ pointer, text }) => ({ name: pointer.slice(1), value: text })),
    };
  });

  function write(corrected: readonly CorrectedRow[]): string {
    const objects = found.flatMap(({ text, leaves }, row) => {
      const { values = [], confirmed = false, leave } = corrected[row] ?? {};
      if (leave) return [];
      return withLeaves(text, leaves, values, confirmed ? { _error_check: CONFIRMED } : {});
    });
    return `[\n${objects.join(',\n')}\n]\n`;
  }

  return { rows, ending: '.fix.json' as const, write };
}

function errorText(text: string, name: string): string {
  const value = (JSON.parse(text) as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

function withoutNote(message: string): string {
  return message.replace(/ \([^()]* of batch [\w.-]+\)$/, '');
}

/** The index of the row that begins on a line of a fix file, or of the object at a pointer. */
export type RowOf = (line: number, pointer?: string) => number | undefined;

/** Rows by the line on which they begin; objects by their place in the list. */
export function rowsIn(orders: readonly Pick<CheckedOrder, 'records'>[]): RowOf {
  const all = new Set(orders.flatMap(({ records }) => records.map(({ place }) => place.line)));
  const rows = new Map([...all].sort((a, b) => a - b).map((line, row) => [line, row]));
  return (line, pointer) => {
    const index = /^\/(\d+)(?:\/|$)/.exec(pointer ?? '')?.[1];
    return index === undefined ? rows.get(line) : Number(index);
  };
}

/** Codes of problems whose messages name rows by their place in the fix file, which nobody sees in the form. */
const NAME_ROWS: ReadonlySet<string> = new Set([
  'repeated-row',
  'fix-row-twice',
  'fix-row-missing',
  'row-in-doubt',
]);

/** Values of a row are in quotes or parentheses. A place of another file is followed by its name. */
const ROW = /"(?:[^"\\]|\\.)*"|\([^()]*\)|\bline (\d+)\b(?! of )|(?<![\w/])(\/\d+)\b(?![^ ]* of )/g;

/** A message with the legends of rows in the form, in place of their places in the fix file. */
export function inLegends(
  { code, message }: Pick<Problem, 'code' | 'message'>,
  rowOf: RowOf,
  legends: readonly string[],
) {
  if (!NAME_ROWS.has(code)) return message;
  return message.replace(ROW, (text, line?: string, pointer?: string) => {
    const row =
      line === undefined && pointer === undefined ? undefined : rowOf(Number(line), pointer);
    return legends[row ?? -1] ?? text;
  });
}
