import type { Mapping } from '../config/config.ts';
import { PoSyncError } from '../core/errors.ts';
import { fixNote, placeText, readFixNote } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import {
  type CheckedOrder,
  createPager,
  type Item,
  keptAsRead,
  type ReadItem,
} from '../order/order.ts';
import { parseExactly } from '../order/quantity.ts';
import type { SourceRecord } from '../order/record.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';
import type { FixSummary } from '../parse/fix-rows.ts';
import type { TableReading } from '../parse/inspection.ts';
import type { Originals } from '../parse/read-fix-file.ts';
import type { CheckedRow } from './check-row.ts';
import { missingRows, wereApart, withAddedRows } from './fixed-order.ts';
import type { LateRecords } from './late-records.ts';
import { type LooseRows, looseRowsIn, unansweredDoubts } from './order-places.ts';
import { problemOf } from './problem.ts';
import { correctedTwice, hasOneArticleTwice, repeatedRow } from './repeated-row.ts';

/** Joins the rows of one order number into orders, in the file's order; orders with rows apart come at the end. */
export type RowGroups = {
  /** The orders that are complete with these rows. */
  add(rows: readonly CheckedRow[]): CheckedOrder[];
  /** The rest, after the last row. */
  finish(): Generator<CheckedOrder[]>;
};

/** Adjacent rows of one number. `doubt`: why a row may be missing; `beside`: the numbers that rows without one may have. */
type Group = { rows: CheckedRow[]; doubt?: string | undefined; beside?: Set<string> };

export type GroupOptions = {
  reading: Pick<TableReading, 'apart' | 'shifted' | 'originals' | 'fixSummary'> &
    Partial<Pick<TableReading, 'columns'> & Pick<FixSummary, 'named' | 'numbered'>>;
  /** Checks a row again that was kept until the end. */
  check(record: SourceRecord): CheckedRow;
  mapping: Mapping;
  /** Keeps rows whose order has more rows further down. */
  late: LateRecords;
};

/** Orders returned at once at the end. */
const PAGE = 500;

/** A row that may belong to a neighbor puts that order in doubt, so each group waits until the next one is complete. */
export function groupRows({ reading, check, mapping, late }: GroupOptions): RowGroups {
  const { apart, shifted, ...given } = reading;
  const rules = { ...given, loose: looseRowsIn(given.originals) };
  const doubts = createDoubts(rules);
  let current: Group | undefined;
  let ordinal = 0;

  const next = (rows: readonly CheckedRow[], doubt: string | undefined) =>
    orderOf(rows, doubt, ordinal++, { mapping, ...rules });

  /** An order, unless more of its rows follow. */
  function place(group: Group | undefined): CheckedOrder[] {
    if (group === undefined) return [];
    const number = group.rows[0]?.number ?? '';
    if (number === '' || !apart.has(number)) {
      const order = next(group.rows, group.doubt ?? shifted.get(number));
      return [
        order.valid || group.beside === undefined ? order : { ...order, beside: [...group.beside] },
      ];
    }
    for (const { record } of group.rows) {
      late.add({ number, content: '', place: '', text: toText(record, group.doubt) });
    }
    return [];
  }

  function* lateOrders(): Generator<CheckedOrder> {
    let current: { group: number; rows: CheckedRow[]; doubt: string | undefined } | undefined;
    for (const { group, text } of late.ordered()) {
      if (current && current.group !== group) yield next(current.rows, current.doubt);
      const { record, doubt } = fromText(text);
      const row = check(record);
      if (current?.group !== group) current = { group, rows: [], doubt: shifted.get(row.number) };
      current.rows.push(row);
      if (doubt !== '') current.doubt = doubt;
    }
    if (current) yield next(current.rows, current.doubt);
  }

  return {
    add(rows) {
      const orders: CheckedOrder[] = [];
      for (const row of rows) {
        if (current && row.number !== '' && current.rows[0]?.number === row.number) {
          current.rows.push(row);
          continue;
        }
        if (current) orders.push(...place(doubts.next(current)));
        current = { rows: [row] };
      }
      return orders;
    },
    *finish() {
      const pager = createPager(PAGE);
      const last = [...(current ? place(doubts.next(current)) : []), ...place(doubts.rest())];
      for (const order of last) yield* pager.add(order);
      for (const order of lateOrders()) yield* pager.add(order);
      yield pager.rest();
    },
  };
}

/** Puts the neighbors of rows in doubt that may belong to them. Returns each group after the one below it is known. */
function createDoubts({ originals, loose }: { originals?: Originals; loose: LooseRows }) {
  let above: Group | undefined;
  let hasOrder = false;

  function compare(upper: Group, lower: Group): void {
    const [looseAbove, looseBelow] = [looseOf(upper), looseOf(lower)];
    if (looseAbove === undefined) hasOrder = true;
    if (originals && wereApart(upper.rows, lower.rows, { originals, loose })) return;
    if (looseBelow && !looseAbove) doubt(upper, looseBelow.reason, lower);
    if (looseAbove && !looseBelow && (looseAbove.isBoth || !hasOrder))
      doubt(lower, looseAbove.reason, upper);
    // Merged cells: each row below the first one may belong to the order above them all.
    if (looseAbove && upper.beside && lower.rows[0]?.number === '')
      lower.beside = new Set(upper.beside);
    const [last, first] = [upper.rows.at(-1)?.loose, lower.rows[0]?.loose];
    if (last?.isWide) lower.doubt ??= last.reason;
    if (first?.isWide) upper.doubt ??= first.reason;
  }

  return {
    next(group: Group): Group | undefined {
      if (above) compare(above, group);
      const done = above;
      above = group;
      return done;
    },
    rest: (): Group | undefined => above,
  };
}

/** Puts an order in doubt for the `loose` rows next to it. */
function doubt(order: Group, reason: string, loose: Group): void {
  order.doubt ??= reason;
  const [number = '', own] = [order.rows[0]?.number, loose.rows[0]?.number];
  if (own === '' && number !== '') loose.beside = new Set(loose.beside).add(number);
}

/** Why the rows of a group may belong to a neighbor; undefined when one of them certainly has its own number. */
function looseOf({ rows }: Group): CheckedRow['loose'] {
  return rows.every((row) => row.loose) ? rows[0]?.loose : undefined;
}

type OrderRules = Omit<GroupOptions['reading'], 'apart' | 'shifted'> & {
  mapping: Mapping;
  loose: LooseRows;
};

/** One order of all its rows: if any of them is wrong, the complete order is. */
function orderOf(
  group: readonly CheckedRow[],
  found: string | undefined,
  ordinal: number,
  { mapping, originals, fixSummary, columns, loose, ...answers }: OrderRules,
): CheckedOrder {
  const rows = withoutHeading(group);
  const given = rows.map(({ record }) => record);
  const { named, numbered } = fixSummary ?? answers;
  const at = columns?.at;
  const records = withAddedRows(given, originals, { at, numbered, loose });
  const items = rows.flatMap(({ item }) => item ?? []);
  const number = rows[0]?.number ?? '';
  const place = records[0]?.place ?? { line: 1 };
  // Also of rows that are wrong: once they are corrected, nobody sees what was between them.
  const articles = items.length === rows.length ? items : rows.flatMap(articleIn);
  const from = { columns, originals };
  const repeat =
    mapping.repeatedRows === 'hold' && hasOneArticleTwice(articles)
      ? repeatedRow(rows, mapping, from)
      : undefined;
  const twice = correctedTwice(records);
  const missing = missingRows(records, originals, named);
  const isConfirmed = records.every((record) => record.isConfirmed);
  const doubts = isConfirmed
    ? []
    : unansweredDoubts(records, found, { originals, numbered, named, loose, at });
  const isSound =
    doubts.length === 0 && repeat === undefined && twice === undefined && missing.length === 0;
  const wanted = rows.flatMap(({ item, ifWanted }) => item ?? ifWanted ?? []);
  const isComplete = wanted.length === rows.length && wanted.length <= LIMITS.items && isSound;
  const order = { purchaseOrderNumber: number, orderState: PURCHASE_ORDER.state, items: wanted };
  if (isComplete && items.length === rows.length)
    return { ordinal, number, place, records, valid: true, order };
  const problems = rows.flatMap((row) => row.problems ?? []);
  if (rows.length > LIMITS.items)
    problems.push(problemOf('too-many-items', place, '', '', String(rows.length)));
  if (repeat !== undefined)
    problems.push(problemOf('repeated-row', repeat.place, '', '', repeat.how));
  if (twice !== undefined)
    problems.push(problemOf('fix-row-twice', twice.place, '', '', placeText(twice.first)));
  problems.push(...missing.map((what) => problemOf('fix-row-missing', place, '', '', what)));
  for (const { what, from } of doubts)
    problems.push({
      ...problemOf('row-in-doubt', place, '', '', what),
      ...(from && { row: from }),
    });
  const faulty = rows.find((row) => row.problems)?.record.place ?? place;
  const read = { ...keptAsRead(rows.map(itemAsRead)), ...(isComplete && { ifWanted: order }) };
  return { ordinal, number, place: faulty, records, valid: false, problems, ...read };
}

function articleIn({ item, articleCode = '' }: CheckedRow): Item[] {
  return articleCode === '' ? (item ? [item] : []) : [{ articleCode, quantity: 0 }];
}

function itemAsRead({ item, articleCode = '', quantity = '' }: CheckedRow): ReadItem {
  return item === undefined
    ? { articleCode, quantity }
    : { ...item, quantity: String(item.quantity) };
}

/** With `fillDown`, a row with nothing but the number may be the heading of those below, which repeat it. */
function withoutHeading(rows: readonly CheckedRow[]): readonly CheckedRow[] {
  const [first, second] = rows;
  if (second?.record.kind !== 'row' || !second.record.inherits || first?.problems === undefined)
    return rows;
  const hasNothing =
    first.problems.length === 2 && first.problems.every(({ code }) => code === 'missing');
  return hasNothing && /^\S*\d\S*$/.test(first.number) ? rows.slice(1) : rows;
}

/** A record as text, with what is doubtful about its order. */
function toText(record: SourceRecord, doubt = ''): string {
  const { fixTarget, ...rest } = record;
  return JSON.stringify([doubt, fixTarget === undefined ? '' : fixNote(fixTarget), rest]);
}

type Kept = [doubt: string, note: string, record: SourceRecord];

function fromText(text: string): { record: SourceRecord; doubt: string } {
  const [doubt, note, record] = parseExactly(text) as Kept;
  if (typeof doubt !== 'string')
    throw new PoSyncError('late-rows-damaged', 'Rows that were stored on disk are damaged.', {
      remedy: 'Check the disk of the temporary folder (TMPDIR).',
    });
  const fixTarget = readFixNote(note);
  return { record: { ...record, ...(fixTarget && { fixTarget }) }, doubt };
}
