import type { Problem, TextFault } from '../order/problem.ts';
import type { RawRecord } from '../parse/record.ts';
import { isSkipped } from './condition.ts';
import { cellFault, textFault } from './domain.ts';
import type { Layout } from './layout.ts';
import { type Line, recordOf, trimmed } from './line.ts';
import type { Column, Plan } from './plan.ts';
import { problemAt, valueFacts } from './problem.ts';

/** What the records of a file are, one after the other. */
export type Sink = {
  /** A line of the order `number`. `begins`: it is the record with which a separate order begins. */
  line(line: Line, number: string, begins: boolean): void;
  /** A row that is none of any order. `number`: as far as it can be read. */
  damaged(record: RawRecord, problem: Problem, number: string): void;
  /** What `skipRows` or `skip` leaves out. `isPart`: an item of the order that began last. */
  leftOut(record: RawRecord, number: string, isPart: boolean): void;
};

/** What sorts the records of one pass over a file. */
export type Sorter = {
  add(record: RawRecord): void;
  /** Call once, after the last record. */
  end(): void;
};

/** The number of each line, with what is wrong with it. Rows of one order are usually adjacent. */
export function createNumbers({ columns, number: index }: Plan, { at, names }: Layout) {
  const where = at[index] ?? -1;
  const domain = { like: columns[index]?.like, needsDigit: true };
  let lastCell: string | undefined;
  let last = '';
  let lastFault: TextFault | undefined;

  function faultOf(text: string): TextFault | undefined {
    return textFault(text, domain);
  }

  return {
    /** The number as it is written, which may be none. */
    read(line: Line): string {
      const cell = line.cells[where] ?? '';
      if (cell !== lastCell) {
        lastCell = cell;
        last = trimmed(cell);
        lastFault = faultOf(last);
      }
      return last;
    },
    /** What is wrong with a number that `read` or a line above gave. */
    fault(line: Line, text: string): TextFault | undefined {
      const mark = line.odd === undefined ? undefined : cellFault(line.odd[where], text);
      return mark ?? (text === last ? lastFault : faultOf(text));
    },
    /** The problem that makes its row a damaged one. */
    problem(line: Line, text: string, fault: TextFault): Problem {
      const facts = valueFacts('number', fault, text);
      return problemAt(line, fault, facts, { column: names[index], value: text });
    },
  };
}

/** Decides for lines of tables and of objects that are rows: left out, damaged, or of an order. */
export function createPlacing(plan: Plan, layout: Layout, sink: Sink) {
  const numbers = createNumbers(plan, layout);
  const isSkippedRow = createSkips(plan.rowSkips, plan, layout);
  const { fillDown } = plan.mapping;
  let above: string | undefined;

  return {
    place(line: Line) {
      const own = numbers.read(line);
      const number = own === '' && fillDown ? above : own;
      const isOut = isSkippedRow?.(line) === true;
      if (isOut) {
        above = number;
        return sink.leftOut(recordOf(line), number ?? '', false);
      }

      if (number === undefined)
        return sink.damaged(recordOf(line), problemAt(line, 'number-missing', {}), '');
      const fault = numbers.fault(line, number);
      above = fault === undefined ? number : undefined;
      if (fault === undefined) return sink.line(line, number, false);
      sink.damaged(recordOf(line), numbers.problem(line, number, fault), '');
    },
    /** A row that is damaged for another reason; its number may still be readable. */
    damaged(line: Line, problem: Problem) {
      above = undefined;
      const number = numbers.read(line);
      const fault = numbers.fault(line, number);
      sink.damaged(recordOf(line), problem, fault === undefined ? number : '');
    },
  };
}

/** Whether one of some columns leaves a line out; undefined where none can. */
export function createSkips(
  indexes: readonly number[],
  { columns }: Plan,
  { at }: Layout,
): ((line: Line) => boolean) | undefined {
  const skips = indexes.flatMap((index): [Column, number][] => {
    const column = columns[index];
    const where = at[index] ?? -1;
    return column === undefined || where < 0 ? [] : [[column, where]];
  });
  if (skips.length === 0) return undefined;
  return (line) => skips.some(([column, where]) => isSkipped(column, line, where));
}
