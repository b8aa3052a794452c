import type { Mapping } from '../config/config.ts';
import { CONFIRMED } from '../order/fixing.ts';
import type { Item } from '../order/order.ts';
import { isDitto, otherReading } from '../order/other-reading.ts';
import { LEAST_CODE, likelyCode, type QuantityText, readQuantity } from '../order/quantity.ts';
import type { Problem, SourceRecord } from '../order/record.ts';
import { PURCHASE_ORDER } from '../order/record-kind.ts';
import { shorten, textFault, trimBlanks } from '../order/text.ts';
import { isUncertain, readingsOf } from '../parse/code-pages.ts';
import type { Columns, Field } from '../parse/columns.ts';
import { type MissingCell, withMissing } from '../parse/csv/moved-cells.ts';
import { isTotalLabel, totalLabelIn } from '../parse/csv/total-rows.ts';
import type { TableReading } from '../parse/inspection.ts';
import {
  columnNumbers,
  doubtProblems,
  type Fault,
  problemOf,
  totalsRow,
  withOthers,
} from './problem.ts';
import { isOnlyDone, type SaidInRow, watchSaid } from './said-beside.ts';

/** One row of a table, or one object without items, read as one line of an order. `item` is there when nothing is wrong. */
export type CheckedRow = {
  record: SourceRecord;
  number: string;
  item?: Item;
  /** What the item would be, of a row that is only done already. */
  ifWanted?: Item;
  /** As read, of a row with a problem; no quantity where its column is not certain. */
  articleCode?: string;
  quantity?: string;
  problems?: Problem[];
  loose?: Loose;
};

/**
 * Why a row may belong to the order above it; `isBoth`: or to the one below. `isWide`: it may contain a row of a
 * neighbor, whatever number it has.
 */
type Loose = { reason: string; isBoth: boolean; isWide?: boolean };

export type RowRecord = Extract<SourceRecord, { kind: 'row' }>;

/** What rows are checked against: the table they are from, and the mapping of its source. */
export type RowRules = {
  table: Pick<
    TableReading,
    'columns' | 'cutOffAt' | 'numberedAt' | 'movedAt' | 'otherSignAt' | 'textQuantityAt'
  > & {
    isGuess: boolean;
  };
  mapping: Mapping;
};

/** What is looked up once for many rows. */
type Lookups = {
  numberFaultOf: typeof faultOf;
  codeFaultOf: typeof faultOf;
  saidIn: SaidInRow;
};

/** Names whose check is remembered. */
const MOST_KNOWN = 2_000;

/** Checks the rows of one table, each with everything wrong with it. */
export function createRowCheck(rules: RowRules): (record: RowRecord) => CheckedRow {
  const { header, at } = rules.table.columns;
  const saidIn = watchSaid(header, at, rules.mapping);
  let last: { number: string; fault: Fault | undefined } | undefined;

  /** Rows of one order are usually adjacent. */
  function numberFaultOf(number: string, mapping: Mapping): Fault | undefined {
    if (mapping !== rules.mapping) return faultOf(number, mapping);
    if (last?.number !== number) last = { number, fault: faultOf(number, mapping) };
    return last.fault;
  }

  const known = new Map<string, Fault | undefined>();

  /** Names with spaces take longest to check, and occur again and again. */
  function codeFaultOf(code: string, mapping: Mapping): Fault | undefined {
    if (mapping !== rules.mapping || !code.includes(' ')) return faultOf(code, mapping);
    if (known.has(code)) return known.get(code);
    if (known.size >= MOST_KNOWN) known.clear();
    const fault = faultOf(code, mapping);
    known.set(code, fault);
    return fault;
  }

  return (record) => checkRow(record, rules, { numberFaultOf, codeFaultOf, saidIn });
}

function checkRow(
  record: RowRecord,
  rules: RowRules,
  { numberFaultOf, codeFaultOf, saidIn }: Lookups,
): CheckedRow {
  const { table } = rules;
  const mapping = mappingOf(rules.mapping, record);
  const number = textOf(record, 'purchaseOrderNumber', rules);
  const articleCode = textOf(record, 'articleCode', rules, mapping.defaults.articleCode);
  if (record.cells.length !== table.columns.header.length)
    return wrongWidth({ record, number, articleCode }, rules);
  const quantity = textOf(record, 'quantity', rules, mapping.defaults.quantity);
  const amount = likelyQuantityOf(quantityOf(quantity, mapping, rules), mapping);
  const onlyState = mapping.defaults.orderState ?? PURCHASE_ORDER.state;
  const state = textOf(record, 'orderState', rules, onlyState);
  const numberFault = numberFaultOf(number, mapping);
  const codeFault = codeFaultOf(articleCode, mapping);
  const said = mapping === rules.mapping ? saidIn(record.cells, quantity) : undefined;
  const isGood = numberFault === undefined && codeFault === undefined && said === undefined;
  if (isGood && 'value' in amount && state === onlyState && !isUnsure(record, rules))
    return { record, number, item: { articleCode, quantity: amount.value } };
  const found: [Field, Fault | undefined, string][] = [
    ['purchaseOrderNumber', numberFault, number],
    ['orderState', state === onlyState ? undefined : 'wrong-state', state],
    ['articleCode', codeFault, articleCode],
    ['quantity', 'fault' in amount ? amount.fault : undefined, quantity],
  ];
  const total = totalLabelIn({ number, articleCode, quantity, cells: record.cells }, mapping);
  const problems = total
    ? [totalsRow(record, nameOf(total.field, rules), total)]
    : found.flatMap(([field, fault, value]) =>
        fault ? [problemOf(fault, record.place, nameOf(field, rules), value)] : [],
      );
  let more: Problem[] = [];
  if (said !== undefined) {
    const cell = (column: number): [string, string] => [
      table.columns.header[column] ?? '',
      record.cells[column] ?? '',
    ];
    problems.push(
      withOthers(problemOf(said.code, record.place, ...cell(said.column)), said.others.map(cell)),
    );
    more = said.others.map((column) => problemOf('called-off', record.place, ...cell(column)));
  }
  const loose =
    total && (quantity === '' || total.field === 'quantity')
      ? undefined
      : looseRow(record, number, rules);
  const all = [...problems, ...unsureProblems(record, rules, problems)];
  const read = { record, number, articleCode, quantity, problems: all };
  return {
    ...read,
    ...('value' in amount &&
      isOnlyDone([...all, ...more], mapping) && {
        ifWanted: { articleCode, quantity: amount.value },
      }),
    ...(loose && { loose }),
  };
}

/** What is wrong with a number or an article in a row. */
export function faultOf(text: string, mapping: Mapping): Fault | undefined {
  return (
    textOrReadingFault(text, mapping) ??
    (mapping.totalRows === 'hold' && isTotalLabel(text) ? 'total-row' : undefined)
  );
}

/**
 * Where a quantity of the table has the other decimal sign, the sign of the mapping is in doubt: `2.400` has two readings.
 * Where a spreadsheet left a quantity as text, 1.2 may be what it made of `1.200`.
 */
function quantityOf(text: string, mapping: Mapping, { table }: RowRules): QuantityText {
  const read = readQuantity(text, mapping.decimal, mapping.quantity === 'integer');
  if (!('value' in read) || mapping.otherReadings === 'allow') return read;
  if (table.textQuantityAt !== undefined && MAY_BE_THOUSANDS.test(text))
    return { fault: 'ambiguous-number' };
  if (table.otherSignAt === undefined) return read;
  const alone = readQuantity(text, 'auto', false);
  return 'fault' in alone && alone.fault === 'ambiguous-number' ? alone : read;
}

/** The number 1.2 of a worksheet, as `1.20`. */
const MAY_BE_THOUSANDS = /^[1-9]\d{0,2}[.,]\d{1,3}0$/;

/** A quantity, unless it is more likely a date or an article number from another column. */
export function likelyQuantityOf(read: QuantityText, { otherReadings }: Mapping): QuantityText {
  if (!('value' in read) || read.value < LEAST_CODE || otherReadings === 'allow') return read;
  return likelyCode(read.value) === undefined ? read : { fault: 'ambiguous-number' };
}

/** The mapping for a record: what a person confirmed in a fix file has no other reading, and what is in doubt has two already. */
export function mappingOf(mapping: Mapping, { isConfirmed, doubts }: SourceRecord): Mapping {
  return isConfirmed || doubts !== undefined
    ? { ...mapping, otherReadings: 'allow', calledOff: {} }
    : mapping;
}

/** What is wrong with a number or an article, wherever it is. */
export function textOrReadingFault(text: string, { otherReadings }: Mapping): Fault | undefined {
  return (
    textFault(text) ??
    (otherReadings === 'hold' && otherReading(text) !== undefined ? 'two-readings' : undefined)
  );
}

function rawOf(record: RowRecord, field: Field, { table }: RowRules): string {
  const index = table.columns.at[field];
  return index === undefined ? '' : (record.cells[index] ?? '');
}

function textOf(record: RowRecord, field: Field, rules: RowRules, ifAbsent = ''): string {
  const text = trimBlanks(rawOf(record, field, rules));
  return text === '' ? ifAbsent : text;
}

function nameOf(field: Field | undefined, { table: { columns } }: RowRules): string {
  const index = field && columns.at[field];
  return (index === undefined ? undefined : columns.header[index]) ?? field ?? '';
}

/** Whether the row's reading depends on a guess, or on an end of the file that may be missing. */
function isUnsure(record: RowRecord, rules: RowRules): boolean {
  const { line } = record.place;
  if (line === rules.table.cutOffAt || record.doubts !== undefined) return true;
  const mayBeOther = line === rules.table.numberedAt || rules.table.movedAt?.has(line) === true;
  if (mayBeOther && !record.isConfirmed) return true;
  return rules.table.isGuess && uncertainFields(record, rules).length > 0;
}

function unsureProblems(record: RowRecord, rules: RowRules, own: readonly Problem[]): Problem[] {
  const { isGuess, cutOffAt, numberedAt, movedAt, columns } = rules.table;
  const problems = (isGuess ? uncertainFields(record, rules) : []).map((field) => {
    const text = rawOf(record, field, rules);
    const readings = readingsOf(text, rules.mapping.encoding);
    return problemOf('encoding-unsure', record.place, nameOf(field, rules), text, readings);
  });
  // What is wrong with a value says more than that it was held before.
  const doubts = record.doubts?.filter(({ field }) => !own.some((one) => one.field === field));
  problems.push(...doubtProblems(doubts, record.place));
  if (record.place.line === numberedAt && !record.isConfirmed)
    problems.push(
      columnNumbers(
        record,
        nameOf('purchaseOrderNumber', rules),
        rawOf(record, 'purchaseOrderNumber', rules),
      ),
    );
  const missing = movedAt?.get(record.place.line);
  if (missing !== undefined && !record.isConfirmed)
    problems.push(...movedValues(record, missing, columns, own));
  if (record.place.line !== cutOffAt) return problems;
  return [
    ...problems,
    problemOf('cut-off', record.place, columns.header.at(-1) ?? '', record.cells.at(-1) ?? ''),
  ];
}

/** Both readings of a row that may lack an empty cell; none of a quantity in words, which the empty cell would only remove. */
function movedValues(
  { place, cells }: RowRecord,
  gap: MissingCell,
  { header, at }: Columns,
  own: readonly Problem[],
) {
  const moved = withMissing(cells, gap);
  if (
    moved[at.quantity ?? -1] === '' &&
    own.some(({ field }) => field === header[at.quantity ?? -1])
  )
    return [];
  const sent = [at.purchaseOrderNumber, at.articleCode, at.quantity].filter(
    (column) => column !== undefined,
  );
  const reading = (row: readonly string[]) =>
    shorten(
      sent.map((column) => `${header[column]} ${JSON.stringify(row[column] ?? '')}`).join(', '),
      120,
    );
  const message = `the row can be read as it is (${reading(cells)}), or an empty cell is missing in column ${JSON.stringify(shorten(header[gap.column] ?? '', 60))} (${reading(moved)}), because its values then look like those of other rows; insert the empty cell, or write ${CONFIRMED} into _error_check of the fix file if the row is right as it is`;
  return [{ ...problemOf('two-readings', place, '', ''), message }];
}

/** Checks the unchanged cells, because a letter in one encoding can be a space in another. */
function uncertainFields(record: RowRecord, rules: RowRules): Field[] {
  return (['purchaseOrderNumber', 'articleCode'] as const).filter((field) =>
    isUncertain(rawOf(record, field, rules)),
  );
}

function wrongWidth(
  read: { record: RowRecord; number: string; articleCode: string },
  { table }: RowRules,
): CheckedRow {
  const { place, cells } = read.record;
  const { header, errorColumns, missing = [] } = table.columns;
  const isWide = cells.length > header.length;
  // The cells are those of the own columns. A wide row has all columns, also those that a fix file adds.
  const added = (isWide ? errorColumns.length : 0) - missing.length;
  const fields = `${cells.length + added} instead of ${header.length + added}`;
  const problems = [
    problemOf(isWide ? 'too-many-fields' : 'too-few-fields', place, '', '', fields),
  ];
  const shown =
    read.number === '' ? '' : ` (read as order ${JSON.stringify(shorten(read.number, 60))})`;
  const reason = `line ${place.line}${shown} has ${fields} fields`;
  return { ...read, problems, loose: { reason, isBoth: true, isWide } };
}

function looseRow(
  { place, cells }: RowRecord,
  number: string,
  { table }: RowRules,
): Loose | undefined {
  if (isDitto(number))
    return { reason: `line ${place.line} repeats the order number above it`, isBoth: false };
  const fault = textFault(number);
  if (fault === undefined) return undefined;
  if (fault !== 'missing')
    return { reason: `the order number on line ${place.line} cannot be used`, isBoth: true };
  const { articleCode, quantity } = table.columns.at;
  const hasItem = [articleCode, quantity].some(
    (index) => index !== undefined && cells[index]?.trim() !== '',
  );
  return hasItem ? { reason: `line ${place.line} has no order number`, isBoth: true } : undefined;
}
