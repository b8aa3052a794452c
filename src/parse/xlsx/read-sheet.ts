import { LIMITS } from '../../order/limits.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { createXmlReader, type XmlEvents } from '../xml/read-xml.ts';
import { isTooLong, type SheetRow, type Unseen } from './sheet-row.ts';
import { createNumberShow, type ShownNumber, showText } from './shown-number.ts';
import { createRichText, readPart, type Sheet, type Workbook } from './workbook-parts.ts';
import type { ZipArchive } from './zip-archive.ts';

/** The limits of Excel. */
const ROWS = 1_048_576;
const COLUMNS = 16_384;

/**
 * Reads the rows of a sheet that contain anything and hands each to `onRow`. Returns what of them nobody sees.
 * PoSyncError `unreadable-format` for a damaged sheet, `unreadable-too-large` for a row beyond the limits.
 */
export async function readSheet(
  archive: ZipArchive,
  { part }: Sheet,
  workbook: Workbook,
  onRow: (row: SheetRow) => void,
): Promise<Unseen> {
  const sheet = createSheetReader(workbook, onRow);
  await readPart(archive, part, sheet.events);
  if (!sheet.isComplete()) throw damaged('it is not a worksheet');
  return sheet.unseen();
}

/** Whether a sheet has a cell with a value. */
export async function hasData(archive: ZipArchive, { part }: Sheet): Promise<boolean> {
  let found = false;
  const reader = createXmlReader({
    onOpen(name) {
      if (name === 'v' || name === 'is') found = true;
    },
    onClose() {},
  });
  for await (const text of archive.textOf(part)) {
    reader.write(text);
    if (found) return true;
  }
  reader.end();
  return false;
}

/** Characters of a formula that a message shows. */
const SHOWN_FORMULA = 60;
/** Lines that a message names. */
const SHOWN_LINES = 10;

function watchUnseen({ pale }: Workbook) {
  const unseen: Unseen = {
    rows: { count: 0, lines: [] },
    columns: [],
    pale: [],
    isFiltered: false,
  };

  function count(places: { count: number; lines: number[] }, line: number): void {
    places.count += 1;
    if (places.lines.length < SHOWN_LINES) places.lines.push(line);
  }

  return {
    unseen,
    onOpen(name: string, attributes: ReadonlyMap<string, string>): void {
      if (name === 'filterColumn') unseen.isFiltered = true;
      if (name !== 'col' || !isHidden(attributes, 'width')) return;
      unseen.columns.push([Number(attributes.get('min')) - 1, Number(attributes.get('max')) - 1]);
    },
    row: (line: number) => count(unseen.rows, line),
    cell({ column, style }: Cell, line: number): void {
      if (!pale.has(style)) return;
      unseen.pale[column] ??= { count: 0, lines: [] };
      count(unseen.pale[column], line);
    },
  };
}

type Cell = {
  column: number;
  type: string;
  style: number;
  value: string;
  isStruck: boolean;
  formula?: string;
};

function createSheetReader(workbook: Workbook, onRow: (row: SheetRow) => void) {
  const show = createNumberShow(workbook.is1904);
  const text = createRichText();
  let row: (SheetRow & { isHidden: boolean }) | undefined;
  let cell: Cell | undefined;
  let line = 0;
  let isValue = false;
  let isFormula = false;
  const unseen = watchUnseen(workbook);
  let isComplete = false;

  const events: XmlEvents = {
    onOpen(name, attributes) {
      if (name === 'row') {
        line = rowNumber(attributes.get('r'), line);
        row = { line, cells: [], special: [], isHidden: isHidden(attributes, 'ht') };
      } else if (name === 'c' && row)
        cell = openCell(attributes, cell === undefined ? 0 : cell.column + 1);
      else if (name === 'is') text.start();
      else if (name === 'v') isValue = true;
      else if (name === 'f' && cell) [isFormula, cell.formula] = [true, '='];
      else if (row === undefined) unseen.onOpen(name, attributes);
      else text.open(name, attributes);
    },
    onText(piece) {
      if (isValue && cell) cell.value += piece;
      else if (isFormula && cell) cell.formula = shorten(`${cell.formula}${piece}`, SHOWN_FORMULA);
      else text.add(piece);
    },
    onClose(name) {
      text.close(name);
      if (name === 'v') isValue = false;
      else if (name === 'f') isFormula = false;
      else if (name === 'is' && cell) {
        cell.isStruck = text.isStruck();
        cell.value = text.take();
      } else if (name === 'c' && cell && row) {
        putCell(row, cell, workbook, show);
        if (cell.value.trim() !== '') unseen.cell(cell, line);
      } else if (name === 'row' && row) {
        if (endRow(row, onRow) && row.isHidden) unseen.row(line);
        [row, cell] = [undefined, undefined];
      } else if (name === 'worksheet') isComplete = true;
    },
  };
  return { events, unseen: () => unseen.unseen, isComplete: () => isComplete };
}

/** Whether nobody sees a row or a column: it is hidden or has no height or width. */
function isHidden(attributes: ReadonlyMap<string, string>, size: 'ht' | 'width'): boolean {
  return (
    /^(?:1|true)$/.test(attributes.get('hidden') ?? '') || Number(attributes.get(size) ?? 1) === 0
  );
}

/** A row without a number follows the one before it. */
function rowNumber(reference: string | undefined, before: number): number {
  const line = reference === undefined ? before + 1 : Number(reference);
  if (!Number.isInteger(line) || line <= before || line > ROWS)
    throw damaged(`row ${shorten(reference ?? '', 20)}`);
  return line;
}

/** A cell without a reference follows the one before it. */
function openCell(attributes: ReadonlyMap<string, string>, next: number): Cell {
  const reference = attributes.get('r');
  const column = reference === undefined ? next : columnOf(reference);
  if (column < next || column >= COLUMNS) throw damaged(`cell ${shorten(reference ?? '', 20)}`);
  return {
    column,
    type: attributes.get('t') ?? 'n',
    style: Number(attributes.get('s') ?? 0),
    value: '',
    isStruck: false,
  };
}

/** The index of a column: 0 for `A7`, 26 for `AA7`; -1 for what is not a reference. */
function columnOf(reference: string): number {
  const [, letters = ''] = /^([A-Z]{1,3})\d*$/.exec(reference) ?? [];
  return (
    Array.from(letters).reduce((index, letter) => index * 26 + letter.charCodeAt(0) - 64, 0) - 1
  );
}

function putCell(row: SheetRow, cell: Cell, workbook: Workbook, show: Show): void {
  const { column, type, style, value, formula } = cell;
  // A text that is empty has a type; without one, the program that wrote the formula did not calculate it.
  const isUnknown = formula !== undefined && value === '' && type !== 'str';
  if (value === '' && !isUnknown) return;
  while (row.cells.length < column) row.cells.push('');
  if (isUnknown) {
    row.cells.push(formula);
    row.special.push([column, formula, 'formula']);
    return;
  }
  putValue(row, cell, workbook, show);
  // The last entry of a cell counts.
  const isStruck = cell.isStruck || (type === 's' && workbook.struckStrings.has(Number(value)));
  if (isStruck || workbook.struck.has(style)) row.special.push([column, value, 'struck']);
}

function putValue(
  row: SheetRow,
  { column, type, style, value }: Cell,
  workbook: Workbook,
  show: Show,
): void {
  switch (type) {
    case 's':
      putText(row, column, stringAt(value, workbook), workbook.formats[style]);
      return;
    case 'e':
      row.cells.push(value);
      return;
    case 'b':
      row.cells.push(value === '1' ? 'TRUE' : 'FALSE');
      row.special.push([column, value, 'boolean']);
      return;
    case 'd':
      row.cells.push(value);
      row.special.push([column, value, 'date']);
      return;
    case 'n': {
      const { shown, plain, fault } = show(value, workbook.formats[style] ?? 'General');
      row.cells.push(shown);
      if (fault !== undefined || shown !== plain) row.special.push([column, plain, fault ?? '']);
      return;
    }
    default:
      putText(row, column, value, workbook.formats[style]);
  }
}

function putText(row: SheetRow, column: number, text: string, code = 'General'): void {
  const shown = showText(text, code);
  row.cells.push(shown);
  if (shown !== text) row.special.push([column, text, shown === '' ? 'hidden' : 'labeled']);
}

type Show = (raw: string, code: string) => ShownNumber;

function stringAt(value: string, { strings }: Workbook): string {
  const string = strings[Number(value)];
  if (string === undefined) throw damaged(`text ${shorten(value, 20)} is missing`);
  return string;
}

/** Hands on a row with any value. */
function endRow({ line, cells, special }: SheetRow, onRow: (row: SheetRow) => void): boolean {
  while (cells.length > 0 && cells.at(-1)?.trim() === '') cells.pop();
  if (cells.length === 0) return false;
  const row = { line, cells, special: special.filter(([column]) => column < cells.length) };
  if (cells.length > LIMITS.columns || isTooLong(row)) throw tooLong(line);
  onRow(row);
  return true;
}

function damaged(reason: string) {
  const message = `The workbook cannot be read: ${reason}.`;
  return unreadable('format', message, { reason }, 'Save it again, or save it as CSV (UTF-8).');
}

function tooLong(line: number) {
  const message = `Row ${line} is longer than ${LIMITS.recordBytes} bytes or ${LIMITS.columns} columns.`;
  return unreadable('too-large', message, { line, limit: LIMITS.recordBytes });
}
