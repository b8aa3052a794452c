import { LIMITS } from '../limits.ts';
import type { CellKind, OddCell } from '../record.ts';
import { cut, tooLarge, unreadable } from '../unreadable.ts';
import { type Attribute, createXmlReader, type XmlEvents } from '../xml/xml-reader.ts';
import { numberCell, UNKNOWN } from './number-text.ts';
import { attributeOf, createRichText, isOn, type Sheet, type Workbook } from './workbook-parts.ts';
import type { ZipArchive } from './zip-archive.ts';

/** A row as it goes from the process that reads it to the one that uses it, without the empty cells at its end. */
export type SheetRow = {
  line: number;
  cells: string[];
  odd?: { [at: number]: OddCell };
  isHidden?: true;
};

/** The limits of Excel. */
const ROWS = 1_048_576;
const COLUMNS = 16_384;

/**
 * Reads the rows of a sheet that have a value and hands each to `onRow`. Returns the indexes of its hidden columns that
 * have one. PoSyncError `unreadable-damaged` for what is no sheet, `unreadable-too-large` for a row beyond the limits.
 */
export async function readSheet(
  archive: ZipArchive,
  { part }: Sheet,
  workbook: Workbook,
  onRow: (row: SheetRow) => void,
): Promise<number[]> {
  const sheet = createSheetReader(workbook, onRow);
  const reader = createXmlReader(sheet.events);
  const sparse = dropBlanks();
  for await (const text of archive.textOf(part)) reader.write(sparse(text));
  reader.end();
  if (!sheet.isComplete()) throw damaged('it is not a worksheet');
  return sheet.hiddenColumns();
}

/** Whether a sheet has a cell with a value. */
export async function hasData(archive: ZipArchive, { part }: Sheet): Promise<boolean> {
  let found = false;
  const reader = createXmlReader({
    onOpen(name) {
      if (name === 'v' || name === 'is' || name === 'f') found = true;
    },
    onClose() {},
  });
  const sparse = dropBlanks();
  for await (const text of archive.textOf(part)) {
    reader.write(sparse(text));
    if (found) return true;
  }
  reader.end();
  return false;
}

const BLANK_CELLS = /(?:<c r="[^<>]*\/>\s*)+(?=<c r="|<\/row>)/g;
const BLANK_ROWS = /(?:<row r="[^<>]*(?:\/>|(?<!\/)>\s*<\/row>)\s*)+(?=<row r="|<\/sheetData>)/g;

/**
 * Takes cells and rows without a value out of the text, where the next one names its place: a million formatted blank
 * rows cost nothing then. Not behind a comment or CDATA, which may contain such text.
 */
function dropBlanks(): (text: string) => string {
  let isPlain = true;
  return (text) => {
    isPlain &&= !text.includes('<!');
    return isPlain ? text.replace(BLANK_CELLS, '').replace(BLANK_ROWS, '') : text;
  };
}

type Cell = {
  column: number;
  type: string;
  style: number;
  value: string;
  isStruck: boolean;
  isFormula: boolean;
};

function createSheetReader(workbook: Workbook, onRow: (row: SheetRow) => void) {
  const text = createRichText();
  const hidden = watchHidden();
  let row: SheetRow | undefined;
  let cell: Cell | undefined;
  let line = 0;
  let isValue = false;
  let isComplete = false;

  function endCell(): void {
    if (cell && row) putCell(row, cell, workbook);
  }

  function endRow(): void {
    if (row && trimRow(row)) {
      hidden.look(row);
      onRow(row);
    }
    [row, cell] = [undefined, undefined];
  }

  const events: XmlEvents = {
    onOpen(name, attributes) {
      if (name === 'row') {
        line = rowNumber(attributeOf(attributes, 'r'), line);
        row = { line, cells: [], ...(isHidden(attributes, 'ht') && { isHidden: true }) };
      } else if (name === 'c' && row)
        cell = openCell(attributes, cell === undefined ? 0 : cell.column + 1);
      else if (name === 'is') text.start();
      else if (name === 'v') isValue = true;
      else if (name === 'f' && cell) cell.isFormula = true;
      else if (name === 'col') hidden.column(attributes);
      else text.open(name, attributes);
    },
    onText(piece) {
      if (isValue && cell) cell.value += piece;
      else text.add(piece);
    },
    onClose(name) {
      text.close(name);
      if (name === 'v') isValue = false;
      else if (name === 'is' && cell) {
        cell.isStruck = text.isStruck();
        cell.value = text.take();
      } else if (name === 'c') endCell();
      else if (name === 'row') endRow();
      else if (name === 'worksheet') isComplete = true;
    },
  };
  return { events, hiddenColumns: hidden.columns, isComplete: () => isComplete };
}

function watchHidden() {
  const ranges: [from: number, to: number][] = [];
  const used = new Set<number>();
  return {
    column(attributes: readonly Attribute[]): void {
      if (!isHidden(attributes, 'width')) return;
      const at = (name: string) => Number(attributeOf(attributes, name)) - 1;
      ranges.push([at('min'), Math.min(at('max'), COLUMNS)]);
    },
    look({ cells }: SheetRow): void {
      for (const [from, to] of ranges)
        for (let column = from; column <= to && column < cells.length; column++)
          if (cells[column] !== '') used.add(column);
    },
    columns: () => [...used].toSorted((a, b) => a - b),
  };
}

/** Whether nobody sees a row or a column: it is hidden or has no height or width. */
function isHidden(attributes: readonly Attribute[], size: 'ht' | 'width'): boolean {
  return (
    isOn(attributeOf(attributes, 'hidden') ?? '0') ||
    Number(attributeOf(attributes, size) ?? 1) === 0
  );
}

/** A row without a number follows the one before it. */
function rowNumber(reference: string | undefined, before: number): number {
  const line = reference === undefined ? before + 1 : Number(reference);
  if (!Number.isInteger(line) || line <= before || line > ROWS)
    throw damaged(`row ${cut(reference ?? '', 20)}`);
  return line;
}

/** A cell without a reference follows the one before it. */
function openCell(attributes: readonly Attribute[], next: number): Cell {
  const reference = attributeOf(attributes, 'r');
  const column = reference === undefined ? next : columnOf(reference);
  if (column < next || column >= COLUMNS) throw damaged(`cell ${cut(reference ?? '', 20)}`);
  return {
    column,
    type: attributeOf(attributes, 't') ?? 'n',
    style: Number(attributeOf(attributes, 's') ?? 0),
    value: '',
    isStruck: false,
    isFormula: false,
  };
}

/** The index of a column: 0 for `A7`, 26 for `AA7`; -1 for what is not a reference. */
function columnOf(reference: string): number {
  const [, letters = ''] = /^([A-Z]{1,3})\d*$/.exec(reference) ?? [];
  return (
    Array.from(letters).reduce((index, letter) => index * 26 + letter.charCodeAt(0) - 64, 0) - 1
  );
}

function putCell(row: SheetRow, cell: Cell, workbook: Workbook): void {
  const { column, type, style, value, isFormula } = cell;
  // A text that is empty has a type; without one, the program that wrote the formula did not calculate it.
  const isUnknown = isFormula && value === '' && type !== 'str';
  if (value === '' && !isUnknown) return;
  const { text, kind }: { text: string; kind: CellKind } = isUnknown
    ? { text: '', kind: { kind: 'no-value' } }
    : contentOf(cell, workbook);

  while (row.cells.length < column) row.cells.push('');
  row.cells.push(text);
  const isStruck =
    cell.isStruck ||
    workbook.struck.has(style) ||
    (type === 's' && workbook.struckStrings.has(Number(value)));
  const odd: OddCell = isStruck ? { ...kind, isStruck: true } : kind;
  if (isStruck || kind.kind !== 'text') row.odd = { ...row.odd, [column]: odd };
}

function contentOf(
  { type, style, value }: Cell,
  { strings, formats, is1904 }: Workbook,
): { text: string; kind: CellKind } {
  switch (type) {
    case 's': {
      const text = strings[Number(value)];
      if (text === undefined) throw damaged(`text ${cut(value, 20)} is missing`);
      return { text, kind: { kind: 'text' } };
    }
    case 'e':
      return { text: value, kind: { kind: 'error' } };
    case 'b':
      return { text: value.trim() === '1' ? 'TRUE' : 'FALSE', kind: { kind: 'boolean' } };
    case 'd': {
      const date = value.trim().replace(/T00:00:00(?:\.0+)?Z?$/, '');
      return { text: date, kind: { kind: 'date', date } };
    }
    case 'n':
      return numberCell(value, formats[style] ?? (style === 0 ? 'General' : UNKNOWN), is1904);
    default:
      return { text: value, kind: { kind: 'text' } };
  }
}

/** Cuts empty cells at the end; whether there is a value. */
function trimRow(row: SheetRow): boolean {
  const { line, cells } = row;
  const isOdd = (column: number) => row.odd?.[column] !== undefined;
  while (cells.length > 0 && cells.at(-1)?.trim() === '' && !isOdd(cells.length - 1)) cells.pop();
  if (cells.length > LIMITS.cells) throw tooLarge(`Row ${line}`, LIMITS.cells, 'cells', line);
  const length = cells.reduce((sum, cell) => sum + cell.length + 1, 0);
  if (length > LIMITS.record) throw tooLarge(`Row ${line}`, LIMITS.record, 'characters', line);
  return cells.length > 0;
}

function damaged(reason: string) {
  return unreadable({ code: 'damaged', what: 'workbook', reason });
}
