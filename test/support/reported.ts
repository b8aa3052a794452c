import { type DeadLetterKind, noOutcomes, type Outcome } from '../../src/order/outcome.ts';
import type { Problem } from '../../src/order/problem.ts';
import type { FileShape, SourceRecord } from '../../src/order/record.ts';
import { sentence } from '../../src/order/sentence.ts';
import { deadLetterOf, deliveryDeadLetterOf } from '../../src/report/dead-letters.ts';
import type { Report } from '../../src/report/report.ts';
import type { ReportedOrder, ReportInput } from '../../src/report/write-report.ts';

const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';
export const AT = '2026-11-21T07:15:04.000Z';

const CSV_SHAPE: FileShape = {
  format: { type: 'csv', delimiter: ';', encoding: 'utf-8', decimal: ',' },
  header: ['PO_NO', 'MATNR', 'MENGE'],
  newline: '\n',
};

/** Rows of a table, the first on `line`. */
export function rows(line: number, ...cells: string[][]): SourceRecord[] {
  return cells.map((row, index) => ({ kind: 'row', place: { line: line + index }, cells: row }));
}

/** An order of these rows that the API took, or any other outcome without a dead letter. */
export function done(records: SourceRecord[], outcome: Outcome = 'accepted'): ReportedOrder {
  const { order, result } = base(records);
  return { order, result: { ...result, outcome } };
}

/** A valid order of these records that needs a person. */
export function dead(
  records: SourceRecord[],
  kind: DeadLetterKind,
  code: string,
  message: string,
): ReportedOrder {
  const { order, result } = base(records);
  const deadLetter = deliveryDeadLetterOf(BATCH, order, {
    kind,
    code,
    facts: { says: message },
    attempts: 1,
    firstAt: AT,
    lastAt: AT,
  });
  return {
    order,
    result: { ...result, outcome: kind, code, message: sentence(message) },
    deadLetter: deadLetter,
  };
}

/** An order with problems: never sent. */
export function wrong(records: SourceRecord[], ...problems: Problem[]): ReportedOrder {
  const { order, result } = base(records);
  const [first] = problems;
  const places = records.map(({ place }) => place).filter(({ line }) => line === first?.line);
  const faulty =
    places.find(({ pointer }) => first?.pointer?.startsWith(`${pointer}/`)) ??
    places[0] ??
    order.place;
  const { order: _, ...common } = order;
  const invalid = { ...common, place: faulty, valid: false as const, problems };
  const deadLetter = deadLetterOf(BATCH, invalid, AT);
  const { code, message } = deadLetter;
  return {
    order: invalid,
    result: { ...result, line: faulty.line, outcome: 'invalid', attempts: 0, code, message },
    deadLetter: deadLetter,
  };
}

export function problem(line: number, more: Partial<Problem> = {}): Problem {
  const facts = { of: 'quantity' };
  return { line, field: 'MENGE', code: 'not-whole', facts, value: '1,5', ...more } as Problem;
}

/** A finished batch's report that counts these orders. */
export function reportOf(orders: readonly ReportedOrder[], more: Partial<Report> = {}): Report {
  const outcomes = noOutcomes();
  for (const { result } of orders) outcomes[result.outcome] += 1;
  const records = orders.reduce((sum, { order }) => sum + order.records.length, 0);
  return {
    version: 1,
    batch: BATCH,
    environment: 'staging',
    source: 'inbox',
    file: 'orders.csv',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    bytes: 1234,
    format: CSV_SHAPE.format,
    startedAt: '2026-11-21T07:15:00.000Z',
    finishedAt: '2026-11-21T07:18:09.000Z',
    state: 'finished',
    counts: { records, orders: orders.length, skipped: 0, ...outcomes },
    warnings: [],
    pauses: [],
    ...more,
  };
}

/** What `writeReport` takes for these orders. */
export function inputOf(
  folder: string,
  orders: readonly ReportedOrder[],
  more: Partial<ReportInput> = {},
): ReportInput {
  return { folder, report: reportOf(orders), shape: CSV_SHAPE, orders: each(orders), ...more };
}

export async function* each<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

function base(records: SourceRecord[]) {
  const [first] = records;
  if (first === undefined) throw new Error('An order has at least one record.');
  const number = first.kind === 'row' ? (first.cells[0] ?? '') : '';
  const order = {
    ordinal: 0,
    number,
    place: first.place,
    records,
    valid: true as const,
    order: { purchaseOrderNumber: number, orderState: 'NEW' as const, items: [] },
  };
  const result = {
    line: first.place.line,
    purchaseOrderNumber: number,
    outcome: 'accepted' as const,
    attempts: 1,
    at: AT,
    code: '',
    message: sentence(''),
  };
  return { order, result };
}
