import { plainName } from '../config/mapping-schema.ts';
import { find, isObject, setAt, valueAt } from '../mapping/find-key.ts';
import type { MappedOrder } from '../mapping/group.ts';
import type { Reading } from '../mapping/read-records.ts';
import type { CheckedOrder } from '../order/order.ts';
import type { Problem } from '../order/problem.ts';
import type { Place, SourceRecord } from '../order/record.ts';
import type { RawRecord } from '../parse/record.ts';

/** What makes orders of a file those of the ledger and the report. */
export function createCheckedOrders(reading: Reading): (one: MappedOrder) => CheckedOrder {
  const cellOf = createCells(reading.plan);
  return (one) => {
    const { ordinal, number, place, rows } = one;
    const records = rows.map((row) => sourceRecord(row, reading));
    const common = { ordinal, number, place, records };
    if ('order' in one) return { ...common, valid: true, order: one.order };
    // What is wrong with a value says more than what is wrong with the order.
    const sorted = one.problems.toSorted((a, b) => isOfOrder(a) - isOfOrder(b));
    const problems = sorted.map((problem) => cellOf(withRows(problem), records));
    return { ...common, valid: false, problems };
  };
}

const isOfOrder = ({ field }: Problem): number => Number(field === '');

/** A problem of an object at the value that it names, also where the object lacks that. */
function createCells({ columns, mapping }: Reading['plan']) {
  const list = mapping.items === undefined ? undefined : plainName(mapping.items);
  return (problem: Problem, records: readonly SourceRecord[]): Problem => {
    const { line, pointer, field } = problem;
    const record = records.find(({ place }) => place.line === line && isWithin(pointer, place));
    const column = columns.find(({ name }) => name === field);
    if (pointer === undefined || column === undefined || record?.kind !== 'object') return problem;
    const { isInItems, name, plain } = column;
    const outer = record.place.pointer ?? '';
    const at = isInItems ? pointer : outer;
    const length = isInItems && list !== undefined ? list.length + 1 : 0;
    const names = [name, ...plain].map((one) => one.slice(length));
    const inner = valueAt(record.value, at.slice(outer.length));
    return { ...problem, pointer: at + find(isObject(inner) ? inner : {}, names).pointer };
  };
}

function isWithin(pointer: string | undefined, { pointer: outer }: Place): boolean {
  return outer !== undefined && `${pointer}/`.startsWith(`${outer}/`);
}

function sourceRecord(record: RawRecord, { form, plan }: Reading): SourceRecord {
  const { line } = record;
  if (record.kind === 'row') return { kind: 'row', place: { line }, cells: record.cells };
  const place = { line, pointer: record.pointer };
  const { value } = record;
  const { items } = plan.mapping;
  if (form.isXml && items !== undefined && isObject(value)) {
    const list = find(value, [items]);
    // An element of XML that occurs once is a list of one.
    if (isObject(list.value)) setAt(value, list.pointer, (one) => [one]);
  }
  return { kind: 'object', place, value };
}

function withRows(problem: Problem): Problem {
  return problem.code === 'beside-damaged'
    ? { ...problem, rows: [`line ${problem.facts.damaged}`] }
    : problem;
}
