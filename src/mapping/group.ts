import { LIMITS } from '../order/limits.ts';
import type { Problem } from '../order/problem.ts';
import type { RawRecord } from '../parse/record.ts';
import type { Circumstances, Group, Judgment, SentOrder } from './judge.ts';
import type { LateOrders } from './late-orders.ts';
import { type Line, recordOf } from './line.ts';
import type { NumberFilter } from './number-filter.ts';
import { packed, unpacked } from './pack.ts';
import type { Sink } from './sort.ts';

/**
 * An order of a file, or a damaged row, which is a dead letter without a number. `ordinal` counts them from 0 and is the same
 * whenever the same bytes are read; `number` is as read.
 */
export type MappedOrder = {
  ordinal: number;
  number: string;
  place: { line: number; pointer?: string };
  rows: RawRecord[];
} & ({ order: SentOrder } | { problems: Problem[] });

export type GroupOptions = {
  keyOf: (number: string) => string;
  judge: (group: Group, circumstances: Circumstances) => Judgment;
  /** Keys that may occur again later in the file. */
  repeated: Pick<NumberFilter, 'has'>;
  /** Keys of all that may be a number in damaged rows. */
  damagedKeys: ReadonlySet<string>;
  late: LateOrders;
  /** Objects that are orders stand for themselves: a damaged one says nothing about its neighbors. */
  isBesideHeld: boolean;
  withoutRows: boolean;
  onLeftOut: (record: RawRecord, number: string) => void;
  /** An order whose rows are in two places, by its first row in each. */
  onApart?: (number: string, lines: readonly [number, number]) => void;
};

/** Joins lines to orders. What may have more lines later waits in `late`. */
export function createGrouping(options: GroupOptions) {
  const { keyOf, judge, repeated, late, damagedKeys } = options;
  let out: MappedOrder[] = [];
  let ordinal = 0;
  let open: Group | undefined;
  let isLate = false;
  let damagedAbove = 0;

  function emit(group: Group, elsewhere?: number) {
    const judgment = judge(group, { isNamedByDamaged: damagedKeys.has(group.key), elsewhere });
    const rows = recordsOf(group.lines);
    const [first] = group.lines;
    if (first === undefined) return;
    if (judgment === undefined) {
      for (const record of rows) options.onLeftOut(record, group.number);
      return;
    }
    const place = placeOf('problems' in judgment ? (judgment.problems[0] ?? first) : first);
    out.push({ ordinal: ordinal++, number: group.number, place, rows, ...judgment });
  }

  function close() {
    if (open === undefined) return;
    if (isLate) late.add(open.key, packed(open));
    else emit(open);
    open = undefined;
  }

  function begin(number: string, key: string): Group {
    close();
    isLate = repeated.has(key);
    open = {
      number,
      key,
      lines: [],
      other: undefined,
      beside: damagedAbove,
      leftOut: 0,
      rows: 0,
      size: 0,
    };
    return open;
  }

  const sink: Sink = {
    line(line, number, begins) {
      let group = open;
      if (group === undefined || begins) group = begin(number, keyOf(number));
      else if (group.number !== number) {
        const key = keyOf(number);
        if (group.key === key) group.other ??= number;
        else group = begin(number, key);
      }
      damagedAbove = 0;
      keep(group, line);
    },
    damaged(record, problem, number) {
      if (options.withoutRows) return options.onLeftOut(record, number);
      if (options.isBesideHeld) {
        if (open !== undefined) open.beside ||= problem.line;
        damagedAbove = problem.line;
      }
      const place = placeOf(problem);
      out.push({ ordinal: ordinal++, number: '', place, rows: [record], problems: [problem] });
    },
    leftOut(record, number, isPart) {
      if (isPart && open !== undefined) open.leftOut += 1;
      options.onLeftOut(record, number);
    },
  };

  function take(): MappedOrder[] {
    const page = out;
    out = [];
    return page;
  }

  /** The orders that waited for the end of the file, in pages. `isOne`: all rows of a number are one order. */
  function* finish(isOne: boolean): Generator<MappedOrder[]> {
    close();
    yield take();
    const merge = isOne ? createMerge(emit, options.onApart) : createTwins(emit);
    let last: string | undefined;
    for (const { key, text } of late.ordered()) {
      if (last !== undefined && last !== key) merge.end();
      last = key;
      merge.add(unpacked(text, key));
      if (out.length >= PAGE) yield take();
    }
    merge.end();
    yield take();
  }

  return { sink, take, finish };
}

const PAGE = 50;

/** Adds a line to its order, unless the order has more than one may have. */
function keep(group: Group, line: Line) {
  group.rows += 1;
  for (const cell of line.cells) group.size += cell.length;
  const isFull = group.lines.length >= LIMITS.items || group.size > LIMITS.orderBytes;
  if (!isFull) group.lines.push(line);
}

type Emit = (group: Group, elsewhere?: number) => void;

/** Joins the parts of one order that are apart in the file. */
function createMerge(emit: Emit, onApart: GroupOptions['onApart']) {
  let whole: Group | undefined;
  let second: number | undefined;

  return {
    add(group: Group) {
      if (whole === undefined) {
        whole = group;
        return;
      }
      second ??= group.lines[0]?.line;
      const other = [group.number, group.other].find(
        (one) => one !== undefined && one !== whole?.number,
      );
      whole.other ??= other;
      whole.beside ||= group.beside;
      whole.rows += group.rows - group.lines.length;
      for (const line of group.lines) keep(whole, line);
    },
    end() {
      if (whole === undefined) return;
      const [first] = whole.lines;
      if (second !== undefined && first !== undefined)
        onApart?.(whole.number, [first.line, second]);
      emit(whole);
      whole = undefined;
      second = undefined;
    },
  };
}

/** Holds all orders that have one number, where each has its own record. */
function createTwins(emit: Emit) {
  let before: Group | undefined;
  let first: number | undefined;
  return {
    add(group: Group) {
      const line = group.lines[0]?.line ?? 0;
      if (before !== undefined) emit(before, first ?? line);
      first ??= before?.lines[0]?.line;
      before = group;
    },
    end() {
      if (before !== undefined) emit(before, first);
      before = undefined;
      first = undefined;
    },
  };
}

function placeOf({ line, pointer }: { line: number; pointer?: string }) {
  return pointer === undefined ? { line } : { line, pointer };
}

/** The records of lines, each once. */
function recordsOf(lines: readonly Line[]): RawRecord[] {
  const records: RawRecord[] = [];
  for (const line of lines) {
    const record = recordOf(line);
    if (record !== records.at(-1)) records.push(record);
  }
  return records;
}
