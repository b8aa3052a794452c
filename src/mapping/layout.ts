import type { Undeclared } from '../order/file-wait.ts';
import { shorten } from '../order/text.ts';
import { trimmed } from './line.ts';
import type { Plan } from './plan.ts';
import { unreadable } from './unreadable.ts';
import { plainKey } from './value.ts';

// Rule 1: the columns of the file are the declared ones.

/** Where the declared columns are in the rows of a file. */
export type Layout = {
  /** For each declared column its index in a row's cells; -1 where the file does not have it. */
  at: readonly number[];
  /** What the file calls each declared column. */
  names: readonly string[];
  /** The trimmed cells of the header and its line; without a header none. */
  header: readonly string[] | undefined;
  line: number;
  /** Columns of the header that nobody declared. */
  undeclaredAt: readonly number[];
  /** Every row is wider than the header, and a person said that it is read all the same. */
  isWider: boolean;
};

/** Rows among which the header is. */
export const HEADER_ROWS = 50;

/** The layout of the file whose first rows these are; undefined when none of them has the columns that are needed. */
export function findHeader(
  rows: readonly { line: number; cells: readonly string[] }[],
  plan: Plan,
): Layout | undefined {
  for (const { line, cells } of rows.slice(0, HEADER_ROWS)) {
    const layout = layoutOf(cells.map(trimmed), line, plan);
    if (layout !== undefined) return layout;
  }
  return undefined;
}

function layoutOf(header: readonly string[], line: number, plan: Plan): Layout | undefined {
  const places = new Map<string, number[]>();
  const put = (name: string, at: number) => {
    const before = places.get(name);
    if (before === undefined) places.set(name, [at]);
    else before.push(at);
  };
  for (const [at, name] of header.entries()) if (name !== '') put(plainKey(name), at);
  // One without a name is called by its position.
  for (const [at, name] of header.entries())
    if (name === '' && !places.has(String(at + 1))) put(String(at + 1), at);

  const found = plan.columns.map(({ plain }) => plain.flatMap((name) => places.get(name) ?? []));
  if (plan.needed.some((index) => found[index]?.length === 0)) return undefined;
  const twice = found.findIndex((matching) => matching.length > 1);
  if (twice >= 0)
    throw unreadable({
      code: 'unreadable-two-columns',
      column: plan.columns[twice]?.name ?? '',
      line,
    });

  const at = found.map(([first = -1]) => first);
  const declared = new Set(at);
  return {
    at,
    names: at.map((index, column) => header[index] || (plan.columns[column]?.name ?? '')),
    header,
    line,
    undeclaredAt: header.flatMap((_, index) => (declared.has(index) ? [] : [index])),
    isWider: false,
  };
}

/** The layout of a file without a header: the declared positions, or for parts the declared columns in their order. */
export function fixedLayout({ columns, mapping }: Plan): Layout {
  const isByPosition = mapping.header === 'none';
  return {
    at: columns.map(({ name }, index) => (isByPosition ? Number(name) - 1 : index)),
    names: columns.map(({ name }) => name),
    header: undefined,
    line: 0,
    undeclaredAt: [],
    isWider: false,
  };
}

/** The declared columns that a file must have and does not. */
export function missingIn(
  { columns, needed }: Plan,
  isThere: (index: number) => boolean,
): { needed: string[]; missing: string[] } {
  const lacking = columns.flatMap(({ name, mayBeMissing }, index) =>
    mayBeMissing || isThere(index) ? [] : [{ name, index }],
  );
  const names = (isNeeded: boolean) =>
    lacking.filter(({ index }) => needed.includes(index) === isNeeded).map(({ name }) => name);
  return { needed: names(true), missing: names(false) };
}

/** Collects what columns that nobody declared have in them. */
export type Inventory = {
  add(name: string, value: string): void;
  /** A column that counts although it never has a value. */
  name(name: string): void;
  found(): Undeclared[];
};

/** Columns, and values of each, that are kept. */
const KEPT = { columns: 100, values: 20 } as const;

/** Begins an inventory; its size has a bound, whatever the file has. */
export function createInventory(): Inventory {
  type Column = { name: string; values: Map<string, number>; rows: number; more: number };
  const columns = new Map<string, Column>();

  function columnOf(name: string) {
    const known = columns.get(plainKey(name));
    if (known !== undefined || columns.size >= KEPT.columns) return known;
    const column = { name: shorten(name), values: new Map<string, number>(), rows: 0, more: 0 };
    columns.set(plainKey(name), column);
    return column;
  }

  return {
    name: (name) => void columnOf(name),
    add(name, value) {
      const column = columnOf(name);
      if (column === undefined) return;
      column.rows += 1;
      const shown = shorten(value);
      const rows = column.values.get(shown) ?? 0;
      if (rows > 0 || column.values.size < KEPT.values) column.values.set(shown, rows + 1);
      else column.more += 1;
    },
    found: () =>
      [...columns.values()].map(({ name, values, rows, more }) => ({
        name,
        values: [...values].map(([value, count]) => ({ value, rows: count })),
        rows,
        ...(more > 0 && { more }),
      })),
  };
}
