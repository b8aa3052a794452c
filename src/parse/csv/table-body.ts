import type { Mapping } from '../../config/config.ts';
import { shorten } from '../../order/text.ts';
import { columnNamed, countFields, FIELDS, hasNeededColumns } from '../columns.ts';
import { type OnLeftOut, watchSkippedRows } from '../skip-where.ts';
import { unreadable } from '../unreadable.ts';
import { type Delimiter, likeliestHeader } from './dialect.ts';
import {
  refuseOrdersAbove,
  refuseOtherDelimiter,
  textOfRow,
  watchLastRow,
} from './joined-or-cut.ts';
import type { Row } from './row-parser.ts';
import { createTotalRows, type TotalRows } from './total-rows.ts';

/** Separates a table's rows from its header and from rows that are not data. */
export type TableBody = {
  /** The header, once it was read. */
  header: Row | undefined;
  /** Those of the next rows of the file that contain data. */
  take(rows: readonly Row[]): readonly Row[];
  /** Call after the last row: a table without a header takes its first row for one. */
  end(): void;
  lastRow: ReturnType<typeof watchLastRow>;
  /** Rows that were skipped. */
  warnings(): string[];
};

type TableForm = Pick<Delimiter, 'hasSepLine' | 'extra'>;

type Skipped = 'blank' | 'title' | 'head' | 'rule' | 'pattern' | 'where' | 'total' | 'last';

const NONE = { blank: 0, title: 0, head: 0, rule: 0, pattern: 0, where: 0, total: 0, last: 0 };

/** The header is among the first rows. */
const MOST_TITLES = 50;

/**
 * The header is the row that `headerRow` names, or the first one with a column for every needed field; rows above it are
 * titles. Below it, blank rows, rules (`-----`), repeated headers, rows that match `skipRows` or `skipWhere` or not `onlyWhere`, and proven
 * totals are not data, nor is the row of `lastRow`. PoSyncError `unreadable-header` for a further header with the columns in
 * another order. `onLeftOut` gets each row that `skipWhere` or `onlyWhere` leaves out.
 */
export function createTableBody(
  form: TableForm,
  mapping: Mapping,
  onLeftOut?: OnLeftOut<Row>,
): TableBody {
  const named = watchNamed(mapping);
  const counts: Record<Skipped, number> = { ...NONE };
  const titles: Row[] = [];
  let [isSepLineDue, isAfterGap] = [form.hasSepLine, false];
  let totals: TotalRows | undefined;
  const others = createHeaderWatch(mapping);
  const warnings = () => warningsOf(counts, totals, named.warnings(body.header?.cells ?? []));
  const body: TableBody = {
    header: undefined,
    take,
    end: takeFirst,
    lastRow: named.lastRow,
    warnings,
  };
  function takeFirst(): void {
    body.header ??= likeliestHeader(titles, mapping);
  }

  function take(rows: readonly Row[]): readonly Row[] {
    if (body.header === undefined || isAfterGap || others.isBelow() || rows.some(mayBeSkipped))
      return rows.filter(isData);
    if (totals) for (const row of rows) totals.add(row);
    others.pass(rows.at(-1));
    return rows;
  }

  function mayBeSkipped(row: Row): boolean {
    if (named.hasRules || !isPlain(row) || row.cells[0] === body.header?.cells[0]) return true;
    return totals?.mayBe(row) === true || others.mayBe(row, body.header);
  }

  function isData(row: Row): boolean {
    if (isSepLineDue) {
      isSepLineDue = false;
      return false;
    }
    const skipped = body.header === undefined ? aboveHeader(row) : belowHeader(row, body.header);
    if (skipped !== undefined && skipped !== 'none') counts[skipped] += 1;
    if (skipped === 'where') onLeftOut?.(row, named.because());
    if (skipped === undefined && isAfterGap) row.isAfterGap = true;
    isAfterGap = skipped !== undefined;
    if (skipped === undefined || skipped === 'where') totals?.add(row, skipped);
    return !isAfterGap;
  }

  function belowHeader(row: Row, header: Row): Skipped | undefined {
    const reason = named.reason(row, header);
    if (reason === undefined && others.mayBe(row, header)) refuseOtherHeader(row, header, mapping);
    if (reason === undefined) others.look(row, header, isAfterGap || row.isAfterGap);
    return reason === undefined && totals?.mayBe(row) && totals.is(row) ? 'total' : reason;
  }

  function aboveHeader(row: Row): Skipped | 'none' {
    if (isBlank(row)) return 'blank';
    body.header = headerAt(row, titles, form.extra, mapping);
    if (body.header === undefined) return 'title';
    totals = createTotalRows(body.header.cells, mapping);
    return 'none';
  }

  return body;
}

/** The header, if this row is it, or if too many rows are above it; else the row is a title. */
function headerAt(row: Row, titles: Row[], extra: number, mapping: Mapping): Row | undefined {
  if (isHeader(row, mapping)) {
    refuseOrdersAbove(titles, row, mapping);
    return widened(row, extra);
  }
  titles.push(row);
  return titles.length > MOST_TITLES ? likeliestHeader(titles, mapping) : undefined;
}

function isHeader({ cells, line }: Row, mapping: Mapping): boolean {
  return mapping.headerRow === 'auto'
    ? hasNeededColumns(cells, mapping)
    : line >= mapping.headerRow;
}

function widened(header: Row, extra: number): Row {
  return { ...header, cells: [...header.cells, ...Array<string>(extra).fill('')] };
}

function reasonToSkip(row: Row, header: Row): Skipped | undefined {
  if (isBlank(row)) return 'blank';
  if (isRule(row)) return 'rule';
  return isSame(row, header) ? 'head' : undefined;
}

/** Finds the rows that are not data; the mapping names some with `skipRows`, `skipWhere`, `onlyWhere` and `lastRow`. */
function watchNamed(mapping: Mapping) {
  const patterns = mapping.skipRows.map((pattern) => new RegExp(pattern, 'u'));
  const { hasRules, skips, because, warnings } = watchSkippedRows(mapping);
  const lastRow = watchLastRow(mapping);

  function isNamed(row: Row): boolean {
    const text = patterns.length === 0 ? '' : textOfRow(row);
    return patterns.some((pattern) => pattern.test(text));
  }

  return {
    hasRules: hasRules || lastRow.isNamed || patterns.length > 0,
    reason(row: Row, header: Row): Skipped | undefined {
      const reason = reasonToSkip(row, header);
      if (reason !== 'blank' && lastRow.is(row)) return 'last';
      if (reason !== undefined) return reason;
      if (isNamed(row)) return 'pattern';
      return skips(row.cells, header.cells, header.line) ? 'where' : undefined;
    },
    because,
    warnings,
    lastRow,
  };
}

/** The first character of nearly every row shows that it is neither blank nor a rule. */
function isPlain({ cells }: Row): boolean {
  const code = cells[0]?.charCodeAt(0) ?? 0;
  return (code >= 48 && code < 58) || (code >= 65 && code < 91) || (code >= 97 && code < 123);
}

function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell.trim() === '') || (cells.length === 1 && cells[0] === '\u001a');
}

function isRule({ cells }: Row): boolean {
  return (
    cells.every((cell) => /^[-=+|_\s]*$/.test(cell)) &&
    cells.join('').replace(/\s/g, '').length >= 3
  );
}

/** Quickly finds rows that may be a further header: a name is in place of the quantity, which begins with a digit. */
function createHeaderWatch(mapping: Mapping) {
  let known: Row | undefined;
  let quantity: number | undefined;
  let number = -1;
  let other: Row | undefined;
  let above: Row | undefined;
  let isBelowTitle = false;

  /** Names below a row with digits: two tables were joined without a gap. */
  function areNamesBelowData({ cells }: Row): boolean {
    const isFilled = [cells[number], cells[quantity ?? -1]].every(
      (cell) => (cell ?? '').trim() !== '',
    );
    return (
      isFilled &&
      /\d/.test(above?.cells[number] ?? '') &&
      /^\s*\d/.test(above?.cells[quantity ?? -1] ?? '')
    );
  }

  return {
    /** Remembers a row that is data. */
    pass(row: Row | undefined): void {
      above = row ?? above;
    },
    /** A row below a gap or data that may be the header of another table was found. */
    isBelow: () => other !== undefined,
    /** PoSyncError `unreadable-header` for a row with a quantity below such a header. */
    look(row: Row, header: Row, isAfterGap: boolean): void {
      const cell = row.cells[quantity ?? -1]?.trim() ?? '';
      if (other !== undefined && /^\d/.test(cell)) throw otherTable(other, header);
      const isBelow = isAfterGap || isBelowTitle;
      const mayBeNames = cell !== '' && !/^\d/.test(cell) && row.cells[0]?.trim() !== '';
      if (mayBeNames && (isBelow || areNamesBelowData(row)) && !/\d/.test(row.cells.join('')))
        other = row;
      above = row;
      isBelowTitle = isBelow && row.cells.filter((one) => one.trim() !== '').length === 1;
    },
    mayBe({ cells }: Row, header: Row | undefined): boolean {
      if (header !== known) {
        quantity = columnNamed('quantity', header?.cells ?? [], mapping);
        number = columnNamed('purchaseOrderNumber', header?.cells ?? [], mapping) ?? -1;
      }
      known = header;
      if (quantity === undefined) return !/\d/.test(cells[0] ?? '');
      const code = cells[quantity]?.charCodeAt(0) ?? 0;
      return !(code >= 48 && code < 58);
    },
  };
}

/** The rows below such a header would be read with the columns of the first one. */
function refuseOtherHeader(row: Row, header: Row, mapping: Mapping): void {
  const { line, cells } = row;
  refuseOtherDelimiter(row, header, mapping);
  if (countFields(cells, mapping) < 2) return;
  const at = (names: readonly string[]) =>
    FIELDS.map((field) => columnNamed(field, names, mapping) ?? -1).join();
  if (at(cells) === at(header.cells)) return;
  const message = `Line ${line} is a second header, with the columns ${shown(cells)}; the header on line ${header.line} has ${shown(header.cells)}.`;
  const remedy = 'Split the file before each header and drop the parts.';
  throw unreadable('header', message, { line }, remedy);
}

function otherTable({ line, cells }: Row, header: Row) {
  const message = `Line ${line} (${shown(cells)}) looks like the header of another table; the header on line ${header.line} has ${shown(header.cells)}.`;
  const remedy =
    'Split the file before each header and drop the parts that are orders. For your operator: skipRows in the mapping names other lines.';
  return unreadable('header', message, { line }, remedy);
}

function shown(cells: readonly string[]): string {
  return shorten(cells.map((cell) => JSON.stringify(cell)).join(', '));
}

function isSame(row: Row, header: Row): boolean {
  if (row.cells.length > header.cells.length) return false;
  return header.cells.every((cell, index) => cell.trim() === (row.cells[index] ?? '').trim());
}

function warningsOf(
  counts: typeof NONE,
  totals: TotalRows | undefined,
  named: readonly string[],
): string[] {
  return [
    ...counted(counts.title, 'row above the header was', 'rows above the header were'),
    ...counted(counts.blank, 'row without any value was', 'rows without any value were'),
    ...counted(counts.head, 'repeated header was', 'repeated headers were'),
    ...counted(counts.rule, 'separator line was', 'separator lines were'),
    ...(totals?.warnings() ?? []),
    ...counted(counts.pattern, 'row that matches skipRows was', 'rows that match skipRows were'),
    ...named,
  ];
}

function counted(rows: number, one: string, several: string): string[] {
  return rows === 0 ? [] : [rows === 1 ? `One ${one} skipped.` : `${rows} ${several} skipped.`];
}
