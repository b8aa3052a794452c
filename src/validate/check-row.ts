import type { Mapping } from '../config/config.ts';
import type { Item } from '../order/order.ts';
import { type QuantityText, readQuantity } from '../order/quantity.ts';
import type { Problem, SourceRecord } from '../order/record.ts';
import { textFault, trimBlanks } from '../order/text.ts';
import type { Columns, Field } from '../parse/columns.ts';
import { type Fault, problemOf } from './problem.ts';

/** One row, read as one line of an order. `item` is there when nothing is wrong. */
export type CheckedRow = { record: SourceRecord; number: string; item?: Item; problems?: Problem[] };

type RowRecord = Extract<SourceRecord, { kind: 'row' }>;

/** A function that reads the rows of one table; it tells everything wrong with a row, not only the first thing. */
export function rowChecker(columns: Columns, mapping: Mapping): (record: RowRecord) => CheckedRow {
  const { header, at } = columns;
  const width = header.length;
  const isWhole = mapping.quantity === 'integer';
  const states = mapping.defaults.orderState ?? 'NEW';

  function textOf(record: RowRecord, field: Field, ifAbsent = ''): string {
    const index = at[field];
    const text = index === undefined ? '' : trimBlanks(record.cells[index] ?? '');
    return text === '' ? ifAbsent : text;
  }

  function check(record: RowRecord): CheckedRow {
    const number = textOf(record, 'purchaseOrderNumber');
    if (record.cells.length !== width) return { record, number, problems: [widthProblem(record)] };
    const articleCode = textOf(record, 'articleCode', mapping.defaults.articleCode);
    const read = readQuantity(textOf(record, 'quantity', mapping.defaults.quantity), mapping.decimal, isWhole);
    const state = textOf(record, 'orderState', states);
    const isGood = textFault(number) === undefined && textFault(articleCode) === undefined;
    if (isGood && 'value' in read && state === 'NEW')
      return { record, number, item: { articleCode, quantity: read.value } };
    return { record, number, problems: problemsOf(record, number, state, articleCode, read) };
  }

  function problemsOf(record: RowRecord, number: string, state: string, code: string, quantity: QuantityText) {
    const found: [Field, Fault | undefined, string][] = [
      ['purchaseOrderNumber', textFault(number), number],
      ['orderState', state === 'NEW' ? undefined : 'wrong-state', state],
      ['articleCode', textFault(code), code],
      ['quantity', 'fault' in quantity ? quantity.fault : undefined, textOf(record, 'quantity')],
    ];
    return found.flatMap(([field, fault, value]) =>
      fault ? [problemOf(fault, record.place, nameOf(field), value)] : [],
    );
  }

  function widthProblem(record: RowRecord): Problem {
    const fault = record.cells.length < width ? 'too-few-fields' : 'too-many-fields';
    return problemOf(fault, record.place, '', '', `${record.cells.length} instead of ${width}`);
  }

  function nameOf(field: Field): string {
    const index = at[field];
    return (index === undefined ? undefined : header[index]) ?? field;
  }

  return check;
}
