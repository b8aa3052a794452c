import type { ContentWait, Undeclared } from '../order/file-wait.ts';
import type { RawRecord } from '../parse/record.ts';
import { listed } from '../parse/unreadable.ts';
import { createInventory, type Layout, missingIn } from './layout.ts';
import { trimmed } from './line.ts';
import { createNumberFilter, type NumberFilter } from './number-filter.ts';
import { createObjectSorter, type ObjectWatch } from './objects.ts';
import type { Plan } from './plan.ts';
import { createRowSorter, hasLineBreak } from './rows.ts';
import type { Sink, Sorter } from './sort.ts';
import { createTypedSorter } from './typed-rows.ts';
import { unreadable } from './unreadable.ts';

/** What kind of records a file has; rows where `isObjects` is false. */
export type Form = { isObjects: boolean; isXml: boolean };

/** What the first pass over a file found. */
export type Survey = {
  layout: Layout;
  /** The counts are those of another layout, because this one was only known at the end. */
  isStale: boolean;
  /** Rows or objects that are of orders, damaged ones included. */
  records: number;
  skipped: number;
  damaged: number;
  damagedLines: number[];
  /** Keys of all that may be a number in damaged rows. */
  damagedKeys: ReadonlySet<string>;
  /** Orders; where it is not exact, at most. Numbers that may come again after another one are in `repeated`. */
  orders: number;
  isExact: boolean;
  repeated: NumberFilter;
  missing: string[];
  undeclared: Undeclared[];
};

/** Damaged rows of which the file keeps apart whose they may be. */
const MOST_DAMAGED = 100_000;
const SHOWN = 20;

export type SurveyOptions = { keyOf: (number: string) => string; filterBits: number };

/** Follows the first pass over the records of a file. */
export function createSurvey(plan: Plan, layout: Layout, form: Form, options: SurveyOptions) {
  const watch: ObjectWatch = {
    undeclared: createInventory(),
    surplus: createInventory(),
    wider: 0,
    rows: 0,
    seen: [],
    hasList: false,
    items: 0,
  };
  const counts = { records: 0, skipped: 0 };
  const damage = createDamage(options.keyOf);
  const runs = createRuns(plan, options);
  let last: RawRecord | undefined;

  const sink: Sink = {
    line(line, number, begins) {
      // The items of one object are one record.
      const record = line.kind === 'part' ? line.record : line;
      if (record !== last) counts.records += 1;
      last = record;
      runs.add(number, begins);
    },
    damaged(record, { line }, number) {
      counts.records += 1;
      damage.add(line, [number, ...swallowedIn(record)]);
    },
    leftOut(_record, _number, isPart) {
      counts.skipped += 1;
      if (isPart) runs.leftOut();
    },
  };
  const sorter = createSorter(plan, layout, form, sink, watch);

  function end(): Survey {
    sorter.end();
    const isEveryWider = watch.rows > 0 && watch.wider === watch.rows && !layout.isWider;
    if (!isEveryWider) damage.check();
    const isThere = (index: number) =>
      form.isObjects ? isSeen(plan, watch, index) : (layout.at[index] ?? -1) >= 0;
    const { needed, missing } = missingIn(plan, isThere);
    if (needed.length > 0)
      throw unreadable({
        code: 'unreadable-column-missing',
        needed: needed.join(', '),
        names: listed(watch.undeclared.found().map(({ name }) => name)),
      });
    const at = layout.at.map((where, index) => (isThere(index) ? where : -1));
    const isGone = (index: number) => at[index] !== layout.at[index];
    return {
      layout: { ...layout, at, isWider: layout.isWider || isEveryWider },
      isStale: isEveryWider || plan.rowSkips.some(isGone),
      ...counts,
      ...damage.found(),
      ...runs.found(),
      missing,
      undeclared: [...watch.undeclared.found(), ...(isEveryWider ? watch.surplus.found() : [])],
    };
  }

  return { add: sorter.add, end };
}

/** Sorts the records of a file by what kind of records it has. */
export function createSorter(
  plan: Plan,
  layout: Layout,
  form: Form,
  sink: Sink,
  watch?: ObjectWatch,
): Sorter {
  if (form.isObjects) return createObjectSorter(plan, layout, sink, { isXml: form.isXml, watch });
  if (plan.mapping.types !== undefined) return createTypedSorter(plan, layout, sink, watch);
  return createRowSorter(plan, layout, sink, watch);
}

/** Objects have the columns of all of them together; lists without items have no columns. */
function isSeen({ columns }: Plan, watch: ObjectWatch, index: number): boolean {
  const { seen, hasList, items, rows } = watch;
  const isOfItems = columns[index]?.isInItems === true && hasList;
  return seen[index] !== undefined || (isOfItems ? items : rows) === 0;
}

/** What may be the numbers of rows that a stray quote made part of a damaged one: all values in cells with line breaks. */
function swallowedIn(record: RawRecord): string[] {
  const cells = record.kind === 'row' ? record.cells.filter(hasLineBreak) : [];
  return cells.flatMap((cell) => cell.split(/[\r\n",;\t|]/).map(trimmed));
}

function createDamage(keyOf: SurveyOptions['keyOf']) {
  const damagedLines: number[] = [];
  const damagedKeys = new Set<string>();
  let damaged = 0;
  return {
    add(line: number, numbers: readonly string[]) {
      damaged += 1;
      if (damagedLines.length < SHOWN) damagedLines.push(line);
      for (const number of numbers)
        if (number !== '' && damagedKeys.size <= MOST_DAMAGED) damagedKeys.add(keyOf(number));
    },
    check() {
      if (Math.max(damaged, damagedKeys.size) <= MOST_DAMAGED) return;
      const line = damagedLines[0] ?? 0;
      throw unreadable({ code: 'unreadable-too-many-damaged', line, limit: MOST_DAMAGED });
    },
    found: () => ({ damaged, damagedLines, damagedKeys }),
  };
}

/** Counts orders by their runs, the lines of one number that follow each other. */
function createRuns(plan: Plan, { keyOf, filterBits }: SurveyOptions) {
  const seen = createNumberFilter(filterBits);
  const repeated = createNumberFilter(filterBits);
  let number: string | undefined;
  let key = '';
  let orders = 0;
  let mayRepeat = false;
  /** Whether some of them may be left out: by one value of the order, or with all their items. */
  let mayBeOut = plan.orderSkips.length > 0;

  return {
    add(next: string, begins: boolean) {
      if (!begins && next === number) return;
      const nextKey = keyOf(next);
      if (!begins && number !== undefined && nextKey === key) return;
      number = next;
      key = nextKey;
      orders += 1;
      if (!seen.add(key)) return;
      mayRepeat = true;
      repeated.add(key);
    },
    leftOut() {
      mayBeOut = true;
    },
    found: () => ({
      orders,
      isExact: !mayBeOut && (plan.hasOrderRecords || !mayRepeat),
      repeated,
    }),
  };
}

/** The exact result of the second pass, where the first one can only say what may be. */
export type Exact = {
  orders: number;
  apart: number;
  apartOrders: { number: string; lines: readonly [number, number] }[];
};

/** Why a file waits; undefined when it does not. */
export function waitOf(
  survey: Survey,
  { apart, apartOrders, orders }: Exact,
  plan: Plan,
  maxOrders = Infinity,
): ContentWait | undefined {
  const { missing, undeclared: all, damaged, damagedLines } = survey;
  const isWider = survey.layout.isWider;
  const undeclared = plan.mapping.otherColumns === 'ignore' && !isWider ? [] : all;
  if (missing.length > 0 || undeclared.length > 0)
    return { code: 'layout', facts: { missing, undeclared } };
  if (damaged > 0 && apart > 0)
    return { code: 'shape', facts: { damaged, damagedLines, apart, apartOrders } };
  return orders > maxOrders ? { code: 'volume', facts: { orders, maxOrders } } : undefined;
}
