import { cellFault, quantityOf, textFault } from '../mapping/domain.ts';
import { type Kind, nameScore } from './names.ts';
import type { Table, TableColumn, TableRow } from './table.ts';

export const ROLES = ['number', 'article', 'quantity'] as const;
export type Role = (typeof ROLES)[number];

/** The column that a role probably has, and why; none where no column can be it. */
export type Found = { at: number; by: 'name' | 'values' };
export type Roles = Partial<Record<Role, Found>>;

/** Rows whose values decide. */
const LOOKED_AT = 5_000;
const LEAST_NAME = 38;

/** Finds what is probably the number, the article and the quantity: by the name first, then by the values. */
export function findRoles({ columns, rows }: Pick<Table, 'columns' | 'rows'>): Roles {
  const seen = rows.slice(0, LOOKED_AT);
  const hasItems = columns.some(({ isInItems }) => isInItems);
  const scores = columns.flatMap((column, at) =>
    ROLES.flatMap((role) => {
      if (role === 'number' && column.isInItems) return [];
      const score = scoreOf(column, role, { at, rows: seen, hasItems });
      return score === undefined ? [] : [{ at, role, ...score }];
    }),
  );

  const roles: Roles = {};
  const taken = new Set<number>();
  for (const { at, role, by } of scores.toSorted((a, b) => b.score - a.score)) {
    if (roles[role] !== undefined || taken.has(at)) continue;
    roles[role] = { at, by };
    taken.add(at);
  }
  return roles;
}

type Seen = { at: number; rows: readonly TableRow[]; hasItems: boolean };

function scoreOf(column: TableColumn, role: Role, { at, rows, hasItems }: Seen) {
  const filled = rows.filter(({ cells }) => cells[at] !== '');
  const fit = filled.length === 0 ? 0 : FITS[role](filled, at);
  const named = nameScore(column.name, role);
  const isNamed = named >= LEAST_NAME && (fit > 0 || filled.length === 0);
  if (!isNamed && fit < LEAST_FIT) return undefined;

  // What is in the items is rather theirs, and what has a value in each row rather needed.
  const place = hasItems && role !== 'number' ? (column.isInItems ? 20 : -20) : 0;
  const share = filled.length / Math.max(1, rows.length);
  const other = otherKind(column.name) && !isNamed ? -25 : 0;
  const score = (isNamed ? named : 0) + fit * 20 + share * 5 + place + other;
  return { score, by: isNamed ? ('name' as const) : ('values' as const) };
}

const LEAST_FIT = 0.25;

function otherKind(name: string): boolean {
  return (['condition', 'unit', 'number', 'article', 'quantity'] satisfies Kind[]).some(
    (kind) => nameScore(name, kind) >= LEAST_NAME,
  );
}

type Fit = (rows: readonly TableRow[], at: number) => number;

/** From 0 to 1, how far the values can be that of the role. */
const FITS: Readonly<Record<Role, Fit>> = {
  number(rows, at) {
    const fine = shareOf(rows, (row) => isText(row, at, true) && !isDate(row.cells[at] ?? ''));
    const values = rows.map(({ cells }) => cells[at] ?? '');
    const distinct = new Set(values).size;
    const runs = values.filter((value, nth) => value !== values[nth - 1]).length;
    const isTogether = runs <= distinct * 1.1;
    const isCode = shareOf(rows, ({ cells }) => /^(?=.*\d)[^.,@]{3,}$/.test(cells[at] ?? ''));
    return fine * (isTogether ? 1 : 0.4) * (0.4 + 0.6 * isCode) * (distinct > 1 ? 1 : 0.5);
  },
  article(rows, at) {
    const fine = shareOf(rows, (row) => isText(row, at, false) && !isDate(row.cells[at] ?? ''));
    const distinct = new Set(rows.map(({ cells }) => cells[at])).size;
    const isCode = shareOf(rows, ({ cells }) => /^(?=.*\d)[^,@ ]{2,}$/.test(cells[at] ?? ''));
    const isAmount = shareOf(rows, ({ cells }) => /^\d+[.,]\d+$|^\d{1,2}$/.test(cells[at] ?? ''));
    const variety = Math.min(1, 0.3 + distinct / Math.min(rows.length, 20));
    return fine * variety * (0.4 + 0.6 * isCode) * (1 - 0.8 * isAmount);
  },
  quantity(rows, at) {
    const rules = { decimal: 'auto', isWhole: false } as const;
    const isRead = (row: TableRow) => {
      const read = quantityOf(row.cells[at] ?? '', row.odd?.[at], rules);
      return 'value' in read ? read.value < 1e6 : read.fault === 'ambiguous-number';
    };
    const isPlain = (row: TableRow) => /^(?!0\d)\d{1,5}(?:[.,]0+)?$/.test(row.cells[at] ?? '');
    const share = shareOf(rows, isRead) * (0.6 + 0.4 * shareOf(rows, isPlain));
    return isCounted(rows, at) ? share / 2 : share;
  },
};

/** Whether a column counts the rows of each order: 1, 2, 3, 1, 2. */
function isCounted(rows: readonly TableRow[], at: number): boolean {
  const values = rows.map(({ cells }) => Number(cells[at]));
  const [first = 0] = values;
  const isNext = (value: number, nth: number) => value === (values[nth - 1] ?? 0) + first;
  return (
    values.some((value, nth) => nth > 0 && isNext(value, nth)) &&
    values.every((value, nth) => value === first || isNext(value, nth))
  );
}

function shareOf(rows: readonly TableRow[], is: (row: TableRow) => boolean): number {
  return rows.filter(is).length / Math.max(1, rows.length);
}

/** Whether a value can be sent as a number or an article. */
export function isText(row: TableRow, at: number, needsDigit: boolean): boolean {
  const text = row.cells[at] ?? '';
  const mark = row.odd?.[at];
  return (
    cellFault(mark, text) === undefined &&
    textFault(text, { like: undefined, needsDigit }) === undefined
  );
}

function isDate(text: string): boolean {
  return /^(?:(?:19|20)\d\d([-/])\d\d\1\d\d|\d{1,2}([-./])\d{1,2}\2(?:19|20)\d\d)/.test(text);
}
