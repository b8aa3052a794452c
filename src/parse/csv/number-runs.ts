import { LIMITS } from '../../order/limits.ts';
import { shorten, trimBlanks } from '../../order/text.ts';
import type { Columns } from '../columns.ts';
import { unreadable } from '../unreadable.ts';
import {
  createNumberCount,
  createNumberFilter,
  hashesOf,
  type NumberFilter,
} from './number-filter.ts';
import type { Row } from './row-parser.ts';

/**
 * Follows the order numbers of a table's rows in fixed space: `apart` collects each number that occurs again after
 * another one; an order whose rows would not fit in memory makes the file unreadable.
 */
export type Runs = {
  columns: Columns;
  records: number;
  /** Orders that its rows form: a row without a number is one. Undefined when they are too many to count. */
  orders(): number | undefined;
  /** Call once, after the last row. */
  apart(): NumberFilter;
  add(cells: readonly string[], row: Row): void;
  /** Names the orders whose rows are apart, where that is no habit of the file. */
  warnings(): string[];
};

const NONE = createNumberFilter(0);
const BUCKETS = 2 ** 16;

/** Runs over the rows of a table of about `expected` rows; when there are more, more numbers count as apart. */
export function createRuns(columns: Columns, expected: number): Runs {
  const seen = createNumberFilter(Math.min(LIMITS.records, expected));
  const distinct = createNumberCount();
  let unnumbered = 0;
  let apart: NumberFilter | undefined;
  const sizes = new Float64Array(BUCKETS);
  let currentCell = '';
  let current = '';
  let bucket = 0;
  let last = '';
  const separate = watchSeparate();
  const warnings = () => separate.warnings(orders());
  const runs: Runs = {
    columns,
    records: 0,
    orders,
    add,
    apart: () => apart?.folded() ?? NONE,
    warnings,
  };

  function orders(): number | undefined {
    const numbers = distinct.size();
    return numbers === undefined ? undefined : numbers + unnumbered;
  }

  function add(cells: readonly string[], row: Row): void {
    runs.records += 1;
    if (runs.records > LIMITS.records) throw tooMany();
    const cell = cells[columns.at.purchaseOrderNumber] ?? '';
    if (cell !== currentCell) {
      currentCell = cell;
      follow(trimBlanks(cell), row.line);
    }
    if (current === '') unnumbered += 1;
    else weigh(row);
  }

  function follow(number: string, line: number): void {
    if (number === current) return;
    current = number;
    if (number === '') return;
    const hashes = hashesOf(number);
    bucket = hashes.first % BUCKETS;
    const first = distinct.add(number, line, hashes);
    if (first !== undefined && number !== last) separate.add(number, first, line);
    last = number;
    if (!seen.add(number, hashes)) return;
    apart ??= createNumberFilter(Math.min(LIMITS.records, expected));
    apart.add(number, hashes);
  }

  /** The bytes of numbers that share a bucket are added up; ten million rows leave each some kilobytes. */
  function weigh(row: Row): void {
    const size = (sizes[bucket] ?? 0) + row.bytes + LIMITS.rowOverhead;
    sizes[bucket] = size;
    if (size > LIMITS.orderBytes) throw tooLarge(current, row.line);
  }

  return runs;
}

/** Orders with rows apart up to which they may be a mistake: so many, or this share of the orders of the file. */
const FEW = { orders: 3, share: 0.05, most: 1_000 };
/** Orders, and lines of one, that the warning names. */
const SHOWN = 10;

/** Keeps the lines on which rows of an order begin, of few orders whose rows are apart. Not for fix files: people add rows at their end. */
function watchSeparate() {
  const found = new Map<string, Set<number>>();
  return {
    add(number: string, first: number, line: number): void {
      if (found.size > FEW.most) return;
      const lines = found.get(number) ?? new Set([first]);
      found.set(number, lines);
      if (lines.size <= SHOWN) lines.add(line);
    },
    warnings(orders = 0): string[] {
      const most = Math.min(FEW.most, Math.max(FEW.orders, orders * FEW.share));
      if (found.size === 0 || found.size > most) return [];
      const shown = [...found]
        .slice(0, SHOWN)
        .map(([number, lines]) => `${shorten(number, 60)}${placed([...lines])}`);
      const more = found.size > SHOWN ? `, and ${found.size - SHOWN} more` : '';
      const which = found.size === 1 ? 'one order are' : `${found.size} orders are`;
      return [
        `Rows of ${which} not next to each other, and each number is one order: ${shown.join(', ')}${more}. Check that none of these rows has the number of another order by mistake.`,
      ];
    },
  };
}

/** ` (lines 17 and 21)`; empty where all are on one line. */
function placed(lines: readonly number[]): string {
  const named = lines.slice(0, SHOWN);
  const last = lines.length > SHOWN ? 'more' : named.pop();
  return named.length === 0 ? '' : ` (lines ${named.join(', ')} and ${last})`;
}

function tooMany() {
  const message = `The file contains more than ${LIMITS.records} rows.`;
  return unreadable(
    'too-many-records',
    message,
    { limit: LIMITS.records },
    'Split the file and drop the parts.',
  );
}

function tooLarge(number: string, line: number) {
  const shown = shorten(number, 60);
  const message = `Up to line ${line}, the order ${JSON.stringify(shown)} has more rows than one order may have.`;
  return unreadable(
    'order-too-large',
    message,
    { line, value: shown },
    'Check whether that is an order number.',
  );
}
