import { heldKey } from '../order/dead-letter.ts';
import { type ErrorColumn, errorColumnOf, readFixCheck, readFixNote } from '../order/fixing.ts';
import type { Doubt, FixFacts } from '../order/record.ts';
import { isMoved, isSpreadsheetDamage, restore } from '../order/spreadsheet.ts';
import type { Columns } from './columns.ts';
import { withOtherCells } from './other-cells.ts';
import {
  cellsOf,
  guessedReadings,
  isDamaged,
  isOfOtherBatch,
  leftOut,
  missingIn,
  newIn,
  type Originals,
  placeNamedBy,
  quoted,
  type Returned,
  readingsOfReturned,
  unchanged,
  unknownReadings,
  withOriginal,
} from './read-fix-file.ts';
import { readingsOfEmptied } from './unreadable.ts';

/** A row of a fix file: as it is meant, and as it was `returned`. `restored`: what a program changed, by column. */
export type FixedRow = {
  cells: string[];
  returned: readonly string[];
  facts: FixFacts;
  restored: ReadonlyMap<number, string>;
};

/** What is known about all rows of a fix file after the first pass. */
export type FixSummary = {
  /** No row shows that programs left it unchanged, or one shows that they did not. */
  isRewritten: boolean;
  /** Fields whose values came back in other rows. */
  moved: ReadonlySet<SentField>;
  /** The places of the rows that came back with an order number. */
  numbered: ReadonlySet<string>;
  /** Where each row is that came back, by the place that it names. */
  named: ReadonlyMap<string, string>;
  warnings: string[];
};

type SentField = (typeof SENT)[number];
const SENT = ['purchaseOrderNumber', 'articleCode', 'quantity'] as const;

/** A row with what it says about itself. `original`: undefined if it is not known. */
type Read = {
  own: string[];
  facts: FixFacts;
  original: readonly string[] | undefined;
  mayBeChanged: boolean;
  hasErrorCells: boolean;
  code: string | undefined;
  /** The row alone says that the other rows of its file made it doubtful. */
  isOfTable: boolean;
  before: ReadonlyMap<string, string> | undefined;
};

/** The columns of a fix file, and what is known about its batch and about all of its rows. */
type FixTable = {
  columns: Columns;
  originals: Originals | undefined;
  summary: FixSummary | undefined;
  /** Where the error columns are; -1 without one. */
  index: Record<'line' | 'code' | 'message' | 'check', number>;
  /** The different values of the numbers and articles of the batch. */
  known: Readonly<Record<SentField, readonly string[]>>;
};

/** Reads the rows of a fix file, restores what programs changed, and finds what has two readings. */
export function createFixRows(
  columns: Columns,
  originals: Originals | undefined,
  summary: FixSummary | undefined,
) {
  const columnOf = (name: ErrorColumn) =>
    columns.names.findIndex((cell) => errorColumnOf(cell) === name);
  const index = {
    line: columnOf('_error_line'),
    code: columnOf('_error_code'),
    message: columnOf('_error_message'),
    check: columnOf('_error_check'),
  };
  const [numbers, articles] = [
    valuesOf(originals, 'purchaseOrderNumber'),
    valuesOf(originals, 'articleCode'),
  ];
  const known = { purchaseOrderNumber: numbers, articleCode: articles, quantity: [] };
  const table: FixTable = { columns, originals, summary, index, known };

  function read(cells: readonly string[]): FixedRow {
    const row = look(cells, table);
    const restored = new Map<number, string>();
    const { own: returned, facts } = row;
    if (facts.isConfirmed || returned.length !== columns.header.length)
      return { cells: returned, returned, facts, restored };
    const doubts: Doubt[] = [];
    for (const value of valuesIn(row, table)) {
      const { column, field, now, was } = value;
      const isMade = was !== undefined && isDamaged(value);
      if (isMade) restored.set(column, was);
      // What a program did to a doubtful value is no answer.
      const readings = isMade ? heldReadings(was, row) : readingsOf(value, row, table);
      if (readings !== undefined)
        doubts.push({ field: columns.header[column] ?? field, value: now, readings });
    }
    const ofRow = rowReadings(row, table, restored);
    if (ofRow !== undefined) doubts.push({ field: '', value: '', readings: ofRow });
    const own = withOtherCells(returned, row, table).map(
      (cell, column) => restored.get(column) ?? cell,
    );
    return {
      cells: own,
      returned,
      facts: { ...facts, ...(doubts.length > 0 && { doubts }) },
      restored,
    };
  }

  return {
    read,
    /** The values that are sent and whose original is known. */
    compared: (cells: readonly string[]) =>
      valuesIn(look(cells, table), table).filter(({ was }) => was !== undefined),
    stateOf: (cells: readonly string[]) => readFixCheck(cells[index.check]),
  };
}

/** Messages, or codes where there are none, of what the other rows of a file make doubtful. */
const OF_TABLE =
  /^(cut-off|two-readings|ambiguous-number|repeated-row)\b|may be only the beginning of the value|empty cell is missing in column|is equal to .{1,40} in every value but the quantity/;

/** What the error columns of a row say. */
function look(cells: readonly string[], { columns, originals, index }: FixTable): Read {
  const { errorColumns } = columns;
  const fixTarget = readFixNote((cells[index.message] ?? '').trim());
  const number = Number(cells[index.line] ?? '');
  const state = readFixCheck(cells[index.check]);
  const hasErrorCells = errorColumns.some((column) => (cells[column] ?? '').trim() !== '');
  const named = { ...(fixTarget && { fixTarget }), ...(number > 0 && { line: number }) };
  const isOfOther = isOfOtherBatch(named, originals);
  const place = isOfOther ? '' : (placeNamedBy({ kind: 'row', ...named }) ?? '');
  const original = cellsOf(originals?.records.get(place));
  return {
    own: withOriginal(
      cells.filter((_, column) => !errorColumns.includes(column)).map(restore),
      original,
      columns,
    ),
    facts: { ...named, ...(state === 'confirmed' && { isConfirmed: true }) },
    original,
    mayBeChanged: hasErrorCells && (state === 'rewritten' || state === 'missing'),
    hasErrorCells,
    code: index.code < 0 ? undefined : (cells[index.code] ?? '').trim(),
    isOfTable:
      (isOfOther || originals?.doubted === undefined) &&
      OF_TABLE.test(cells[index.message] ?? cells[index.code] ?? ''),
    before: originals?.doubted?.get(place),
  };
}

/** A value of a row that is sent. */
type Value = Returned & { column: number; field: SentField };

function valuesIn(
  { own, original, mayBeChanged, code }: Read,
  { columns, originals }: FixTable,
): Value[] {
  return SENT.flatMap((field) => {
    const [column, before] = [columns.at[field], originals?.at?.[field]];
    if (column === undefined) return [];
    const was = before === undefined ? undefined : original?.[before];
    return [
      {
        column,
        field,
        now: own[column] ?? '',
        was,
        isQuantity: field === 'quantity',
        mayBeChanged,
        code,
      },
    ];
  });
}

/** Both readings of a value that a program did not certainly change. */
function readingsOf(value: Value, row: Read, table: FixTable): string | undefined {
  return (
    readingsOfEmptied(value, row.own, table.columns.header, table.originals?.header) ??
    readingsOfReturned(value, row.before?.get(heldKey(value.now))) ??
    movedReadings(value, table) ??
    (row.hasErrorCells ? codeReadings(value, row, table) : addedReadings(value, table))
  );
}

/** Of a value that was held before with its readings. */
function heldReadings(text: string, { before }: Read): string | undefined {
  const readings = before?.get(heldKey(text));
  return readings === undefined ? undefined : unchanged(readings);
}

/** Of a complete row that was held, until its article or its quantity is changed. Another number is no answer. */
function rowReadings(
  row: Read,
  table: FixTable,
  restored: ReadonlyMap<number, string>,
): string | undefined {
  const { before, original, code = '', isOfTable, facts } = row;
  const { header, missing = [] } = table.columns;
  // Only a row that a person added had nothing in the columns that are missing.
  if (missing.length > 0 && original === undefined && (facts.line ?? facts.fixTarget) !== undefined)
    return `the row came back without ${header.slice(-missing.length).slice(0, 5).map(quoted).join(', ')}, and what it had there is not known`;
  const readings = before?.get('') ?? (isOfTable ? `this row was held (${code})` : undefined);
  if (readings === undefined) return undefined;
  if (original === undefined) return `${readings}, and whether it was changed is not known`;
  const item = valuesIn(row, table).filter(({ field }) => field !== 'purchaseOrderNumber');
  const isSame = item.every(
    ({ column, now, was = '' }) => (restored.get(column) ?? now).trim() === was.trim(),
  );
  return isSame ? unchanged(readings) : undefined;
}

function movedReadings({ field, was, now }: Value, { summary }: FixTable): string | undefined {
  if (was === undefined || was === now || summary?.moved.has(field) !== true) return undefined;
  return `${quoted(now)} was ${quoted(was)}, and values of this column are in other rows than before: they can be corrected, or sorted without their rows`;
}

/** Of a value that was held before, where nothing but the code of its row shows it. */
function codeReadings(
  { was, now, isQuantity, code }: Value,
  row: Read,
  { originals }: FixTable,
): string | undefined {
  const isKnown = row.original !== undefined && originals?.doubted !== undefined;
  return isKnown || (was !== undefined && was !== now)
    ? undefined
    : guessedReadings(code, now, isQuantity);
}

/** Of a row that a person added, in a file that a program rewrote. */
function addedReadings(
  { field, now, isQuantity }: Value,
  { summary, known }: FixTable,
): string | undefined {
  if (isQuantity || summary?.isRewritten !== true) return undefined;
  const other = known[field].find((was) => isSpreadsheetDamage(was, now));
  if (other !== undefined)
    return `${quoted(now)} can be a new value, or what a program made of ${quoted(other)}`;
  return known[field].length > 0 ? undefined : unknownReadings(now, isQuantity);
}

function valuesOf(originals: Originals | undefined, field: SentField): string[] {
  const column = originals?.at?.[field];
  if (originals === undefined || column === undefined) return [];
  return [...new Set(originals.records.values().map((record) => cellsOf(record)?.[column] ?? ''))];
}

/** Watches all rows of a fix file in the first pass. */
export function watchFixRows(columns: Columns, originals: Originals | undefined) {
  const rows = createFixRows(columns, originals, undefined);
  const states = { intact: 0, rewritten: 0, missing: 0, confirmed: 0 };
  const changed = new Map<SentField, { was: string[]; now: string[] }>();
  const named = new Map<string, string>();
  const [numbered, kept, added] = [new Set<string>(), new Set<string>(), new Set<string>()];

  return {
    look(cells: readonly string[], { fixTarget, line }: FixFacts, at: string): void {
      states[rows.stateOf(cells)] += 1;
      if (originals === undefined) return;
      if (!isOfOtherBatch({ ...(fixTarget && { fixTarget }) }, originals)) {
        const places = [fixTarget?.place, line === undefined ? undefined : `line ${line}`];
        const number = (cells[columns.at.purchaseOrderNumber ?? -1] ?? '').trim();
        if (number !== '')
          (fixTarget === undefined && line === undefined ? added : kept).add(number);
        for (const place of places) {
          if (place !== undefined) named.set(place, at);
          if (place !== undefined && number !== '') numbered.add(place);
        }
      }
      for (const { field, was = '', now } of rows.compared(cells)) {
        if (was === now || isSpreadsheetDamage(was, now)) continue;
        const values = changed.get(field) ?? { was: [], now: [] };
        changed.set(field, values);
        values.was.push(was);
        values.now.push(now);
      }
    },
    summary(): FixSummary {
      const moved = [...changed]
        .filter(([, { was, now }]) => isMoved(was, now))
        .map(([field]) => field);
      const isRewritten = states.rewritten > 0 || states.intact + states.confirmed === 0;
      const names = columns.header.slice(columns.header.length - (columns.missing?.length ?? 0));
      const lost = missingIn('columns', names.map(quoted));
      const warnings = [
        ...lost,
        ...leftOut(originals, named),
        ...newIn(added.difference(kept), originals),
      ];
      return { isRewritten, moved: new Set(moved), numbered, named, warnings };
    },
  };
}
