import { shorten } from '../order/text.ts';
import type { TableRow } from './table.ts';

/** The values of a column. */
export type Inventory = {
  /** Rows, and those of them in which the column is empty. */
  rows: number;
  empty: number;
  /** Distinct values that are not empty; `isMore`: at least so many. */
  distinct: number;
  isMore: boolean;
  /** The most frequent ones, the empty one included. */
  top: readonly ValueCount[];
  hasLineBreak: boolean;
};

export type ValueCount = { value: string; rows: number };

const KEPT = 2_000;
/** Values that may be conditions. */
const MOST_TOP = 12;

/** Counts the values of a column, of a bounded number of distinct ones. */
export function inventoryOf(rows: readonly TableRow[], at: number): Inventory {
  const counts = new Map<string, number>();
  let empty = 0;
  let isMore = false;
  let hasLineBreak = false;
  for (const { cells } of rows) {
    const value = cells[at] ?? '';
    if (value === '') empty += 1;
    hasLineBreak ||= /[\r\n]/.test(value);
    const before = counts.get(value);
    if (before !== undefined || counts.size < KEPT) counts.set(value, (before ?? 0) + 1);
    else isMore = true;
  }
  const top = [...counts]
    .map(([value, count]) => ({ value, rows: count }))
    .toSorted((a, b) => b.rows - a.rows)
    .slice(0, MOST_TOP);
  const distinct = counts.size - (counts.has('') ? 1 : 0);
  return { rows: rows.length, empty, distinct, isMore, top, hasLineBreak };
}

/** `98 OPEN, 12 DRAFT and 3 other values`. */
export function valuesText({ top, distinct, isMore, empty }: Inventory, most = 4): string {
  const shown = top.filter(({ value }) => value !== '').slice(0, most);
  const texts = shown.map(({ value, rows }) => `${rows}× ${JSON.stringify(shorten(value, 30))}`);
  if (empty > 0) texts.push(`${empty}× empty`);
  const others = distinct - shown.length;
  if (others > 0)
    texts.push(`${isMore ? 'over ' : ''}${others} more ${others === 1 ? 'value' : 'values'}`);
  return texts.join(', ');
}
