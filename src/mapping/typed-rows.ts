import type { Row } from '../parse/record.ts';
import type { Layout } from './layout.ts';
import { type Mark, type Part, trimmed } from './line.ts';
import type { Plan } from './plan.ts';
import { problemAt } from './problem.ts';
import { createRowEnds, createShape, type Watch } from './rows.ts';
import { createNumbers, createSkips, type Sink, type Sorter } from './sort.ts';

type Kind = 'order' | 'item';

/** The order record above: of an order, left out, or none that an item could belong to. */
type Head = { state: 'good'; number: string; part: Part } | { state: 'leftOut' | 'damaged' };

/** Sorts the rows of a file in which an order has a separate record, and its items follow it. */
export function createTypedSorter(plan: Plan, layout: Layout, sink: Sink, watch?: Watch): Sorter {
  const { types } = plan.mapping;
  if (types === undefined) throw new TypeError('a mapping without types');
  const at = types.at - 1;
  const ignored = new Set(types.ignore);
  const forms = { order: formOf('order', plan, watch), item: formOf('item', plan, watch) };
  const numbers = createNumbers(plan, layout);
  const of = (isInItems: boolean) =>
    plan.rowSkips.filter((index) => plan.columns[index]?.isInItems === isInItems);
  const skips = {
    order: createSkips(of(false), plan, layout),
    item: createSkips(of(true), plan, layout),
  };
  const ends = createRowEnds(plan, sink);
  let head: Head = { state: 'damaged' };

  function addOrder(row: Row) {
    head = { state: 'damaged' };
    const problem = forms.order.faultOf(row);
    const part: Part = { ...forms.order.partOf(row, undefined), isHead: true };
    const number = numbers.read(part);
    const fault = numbers.fault(part, number);
    if (problem !== undefined) return sink.damaged(row, problem, fault === undefined ? number : '');
    if (skips.order?.(part) === true) {
      head = { state: 'leftOut' };
      return sink.leftOut(row, number, false);
    }
    if (fault !== undefined) return sink.damaged(row, numbers.problem(part, number, fault), '');
    head = { state: 'good', number, part };
    sink.line(part, number, true);
  }

  function addItem(row: Row) {
    const problem = forms.item.faultOf(row);
    if (problem !== undefined) return sink.damaged(row, problem, '');
    if (head.state === 'leftOut') return sink.leftOut(row, '', false);
    const part = forms.item.partOf(row, head.state === 'good' ? head.part : undefined);
    const number = head.state === 'good' ? head.number : '';
    if (skips.item?.(part) === true) return sink.leftOut(row, number, head.state === 'good');
    if (head.state === 'damaged')
      return sink.damaged(row, problemAt(row, 'no-order-record', {}), '');
    sink.line(part, number, false);
  }

  return {
    add(record) {
      if (record.kind !== 'row' || record.cells.every((cell) => trimmed(cell) === '')) return;
      if (ends.isSkipped(record)) return;
      const type = trimmed(record.cells[at] ?? '');
      if (ignored.has(type)) return;
      if (watch !== undefined) watch.rows += 1;
      if (type === types.order) return addOrder(record);
      if (type === types.item) return addItem(record);
      watch?.undeclared.add(type || String(types.at), record.cells.join(' '));
    },
    end: ends.end,
  };
}

/** The form of the records of one type: what may be wrong with it, and how one becomes a part. */
function formOf(kind: Kind, plan: Plan, watch?: Watch) {
  const { columns, mapping } = plan;
  const { types, widths } = mapping;
  const type = types?.[kind] ?? '';
  const own = columns.flatMap((column, index) => {
    const isOwn = column.isInItems === (kind === 'item');
    return isOwn ? [{ column, index, at: Number(column.name.slice(type.length + 1)) - 1 }] : [];
  });
  const declared = new Set([...own.map(({ at }) => at), (types?.at ?? 1) - 1]);
  const shape = createShape(own, plan, { nameOf: (at) => `${type}.${at + 1}` });
  const widest = widths?.length ?? Number.MAX_SAFE_INTEGER;

  function faultOf(row: Row) {
    const { cells } = row;
    for (let at = 0; watch !== undefined && at < cells.length && at < widest; at++) {
      const value = declared.has(at) ? '' : trimmed(cells[at] ?? '');
      if (value !== '') watch.undeclared.add(`${type}.${at + 1}`, value);
    }
    return shape(row);
  }

  /** The part that a row is, with the values of its order. */
  function partOf(row: Row, head: Part | undefined): Part {
    const cells = head === undefined ? columns.map(() => '') : [...head.cells];
    const odd: { [at: number]: Mark | undefined } = { ...head?.odd };
    for (const { index, at } of own) {
      cells[index] = row.cells[at] ?? '';
      const mark = row.odd?.[at];
      if (mark !== undefined) odd[index] = mark;
    }
    const isCut =
      row.isOpen && own.some(({ column, at }) => !column.isIgnored && at === row.cells.length - 1);
    return {
      kind: 'part',
      line: row.line,
      cells,
      record: row,
      ...(Object.keys(odd).length > 0 && { odd }),
      ...(isCut && { isOpen: true as const }),
    };
  }

  return { faultOf, partOf };
}
