import type { Mapping } from '../../config/config.ts';
import { plainName, shorten } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import type { Row } from './row-parser.ts';

/** Watches the columns beside those that are read for rows that nobody would send: a second table, or further items. */
type Beside = {
  /** PoSyncError `unreadable-header` for a row with a number, or an item, beside the one that is read. */
  look(cells: readonly string[], row: Row): void;
};

/** A column named as another one with a number behind it: `quantity2`, `quantity.1`, `Qty (2)`. */
const NUMBERED = /^(.*\P{N})[ _.-]?\(?\d{1,2}\)?$/u;
/** A number of fewer characters could be anything. */
const SHORTEST = 4;

/** Undefined if no column can be part of a second table, or the mapping says that none is. */
export function watchBeside(
  { header, at }: Columns,
  { fields, otherReadings }: Mapping,
): Beside | undefined {
  if (otherReadings === 'allow') return undefined;
  const beyond = columnsBeyondGap(header, at.purchaseOrderNumber);
  const [gap = -1] = beyond;
  const hasNames = beyond.some((column) => header[column]?.trim() !== '');
  const [articles, quantities] = [
    numberedLike(header, fields.articleCode),
    numberedLike(header, fields.quantity),
  ];
  const hasItems = articles.length > 0 && quantities.length > 0;
  if (beyond.length === 0 && !hasItems) return undefined;
  return {
    look(cells, { line }) {
      const number = cells[at.purchaseOrderNumber]?.trim() ?? '';
      const filled = beyond.filter((column) => (cells[column] ?? '').trim() !== '');
      // A column with values separates nothing, such as units without a name.
      if (hasNames && filled[0] === gap) filled.length = 0;
      const other = filled.find(
        (column) => number.length >= SHORTEST && isAlike(cells[column] ?? '', number),
      );
      const isRow =
        other !== undefined &&
        filled.length > 2 &&
        filled.some((one) => one > other && isCount(cells[one]));
      if (isRow) throw besides(line, cells[other] ?? '', other);
      const article = articles.find((column) => (cells[column] ?? '').trim() !== '');
      const quantity = quantities.find((column) => isCount(cells[column]));
      if (article !== undefined && quantity !== undefined)
        throw besides(line, cells[article] ?? '', article);
    },
  };
}

/** The columns without a name, and those that one without a name separates from the order number. */
function columnsBeyondGap(header: readonly string[], number: number): number[] {
  const gap = header.findIndex((name, index) => index > number && name.trim() === '');
  return gap < 0 ? [] : header.flatMap((_, index) => (index >= gap ? [index] : []));
}

function numberedLike(header: readonly string[], names: readonly string[]): number[] {
  const plain = new Set(names.map(plainName));
  return header.flatMap((name, index) => {
    const [, own = ''] = NUMBERED.exec(name.trim()) ?? [];
    return !plain.has(plainName(name)) && plain.has(plainName(own.replace(/[ _.(-]+$/, '')))
      ? [index]
      : [];
  });
}

/** Whether two texts have digits and letters in the same places. */
function isAlike(text: string, number: string): boolean {
  return /\d/.test(number) && formOf(text.trim()) === formOf(number);
}

function formOf(text: string): string {
  return text.replace(/\p{L}/gu, 'a').replace(/\d/g, '9');
}

function isCount(cell = ''): boolean {
  return /^\s*[1-9][\d.,]{0,8}\s*$/.test(cell);
}

function besides(line: number, value: string, column: number) {
  const shown = JSON.stringify(shorten(value.trim(), 60));
  const message = `Line ${line} has ${shown} in column ${column + 1}, beside the order that is read: another order or item that would not be sent.`;
  const remedy =
    'Give each item its own row, with all orders below one header. For your operator: if those columns contain no orders, set otherReadings: allow in the mapping.';
  return unreadable('header', message, { line, column: column + 1, value: shown }, remedy);
}
