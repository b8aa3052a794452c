import type { Mapping } from '../../config/config.ts';
import { errorColumnOf } from '../../order/fixing.ts';
import { readQuantity } from '../../order/quantity.ts';
import { shorten, trimBlanks } from '../../order/text.ts';
import { type Columns, columnNamed, type Field } from '../columns.ts';
import type { Row } from './row-parser.ts';

const CLEAR =
  'grand total|sub-?totals?|sous-totaux|sous-total|total g[eé]n[eé]rale?|total geral|totals?|totale|totaux|totaal|sub-?totaal|summe|gesamt|gesamtsumme|gesamtergebnis|gesamtmenge|zwischensumme|endsumme|teilsumme|teilergebnis|razem|celkem|összesen|итого|sum of|summe von|somme de|suma de|somma di|soma de|som van';
const TRAILER =
  'eof|end|ende|fin|end of file|trailer|trl|tlr|footer|counts?|anzahl|records?|rows?|(?:number|no\\.) of (?:records|rows|orders|lines)';
const CARRIED =
  'übertrag|carried forward|brought forward|carry-?over|carried over|à reporter|report à nouveau|riporto|suma y sigue';
const OTHER = `${CLEAR}|${TRAILER}|${CARRIED}|sum total|sums?|summa|somme|soma|suma|ergebnis|insgesamt|i alt|yhteensä|ogółem|spolu|ukupno|(?:genel )?toplam|всего|合計|小計|合计|小计|总计|總計|합계|소계`;

/** `Total`, `* Summe:`. */
const LABEL = new RegExp(`^(?:\\*+ ?)?(?:${OTHER})(?: (?:${OTHER}))? ?[:.=]?$`, 'iu');
/** `Total PO-1`, and `PO-1 Ergebnis` as Excel labels a group. */
const LABEL_OF = new RegExp(`^(?:\\*+ ?)?(?:${CLEAR})[ :]|[ :](?:${CLEAR}|ergebnis)[:.]?$`, 'iu');
const CLEAR_LABEL = new RegExp(`^(?:\\*+ ?)?(?:${CLEAR}) ?[:.=]?$`, 'iu');
/** SAP marks the totals of each level with one star more. */
const STARS = /^\*+$/;

/** Whether a number or an article reads like the label of a totals row. */
export function isTotalLabel(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  const endsInDigit = last >= 48 && last < 58;
  if (endsInDigit && !text.includes(' ') && !text.includes(':')) return false;
  return LABEL.test(text) || LABEL_OF.test(text);
}

/** Without those that a list ends with, such as `End` or `Count`. */
function isClearLabel(text: string): boolean {
  return CLEAR_LABEL.test(text) || LABEL_OF.test(text);
}

/** The label of a row that has nothing else to order, and its field; none where another column has it. */
export type TotalLabel = { field?: Field; label: string };

export function totalLabelIn(
  {
    number,
    articleCode,
    quantity,
    cells,
  }: Record<'number' | 'articleCode' | 'quantity', string> & { cells: readonly string[] },
  { totalRows }: Mapping,
): TotalLabel | undefined {
  if (totalRows === 'allow') return undefined;
  if (articleCode === '' && isTotalLabel(number))
    return { field: 'purchaseOrderNumber', label: number };
  if (number === '' && isTotalLabel(articleCode))
    return { field: 'articleCode', label: articleCode };
  if (number + articleCode !== '') return undefined;
  if (isTotalLabel(quantity)) return { field: 'quantity', label: quantity };
  // What describes an article can begin with such a word.
  const label = cells.map(trimBlanks).find((cell) => LABEL.test(cell));
  return label === undefined ? undefined : { label };
}

/** What a row says, for a message: `"Summe", "7.50"`. */
export function filledCells(cells: readonly string[]): string {
  const filled = cells.map(trimBlanks).filter((cell) => cell !== '');
  return shorten(filled.map((cell) => JSON.stringify(shorten(cell, 60))).join(', '), 160);
}

/** A key of the mapping that leaves out rows with such a label; without a pattern where the label is not at their beginning. */
export function skipRowsFor(label: string): string {
  const [, stars = '', word = ''] = /^(\*+ ?)?(\p{L}+)/u.exec(label) ?? [];
  return isTotalLabel(word) ? `skipRows: ["^${stars === '' ? '' : '[* ]+'}${word}"]` : 'skipRows';
}

/**
 * Recognizes the totals rows of a table; call `add` for each of its other rows, in their order. The program that wrote a total
 * also counted the rows that `skipWhere` or `onlyWhere` leaves out (`where`).
 */
export type TotalRows = {
  /** Whether the row may be a totals row: quick, because it is asked for every row. */
  mayBe(row: Row): boolean;
  /**
   * Whether the row is one for certain: it is marked with stars, or it has no article and no usable number, and its
   * quantity is the sum of the rows above it, as far as their quantities are readable.
   */
  is(row: Row): boolean;
  add(row: Row, leftOut?: 'where'): void;
  /** How many were found, and the first of them: a person sees that none was an order. */
  warnings(): string[];
};

/** Totals rows that a warning names. */
const NAMED = 3;
const PROOF = 'marked with stars, or the sum of the rows above, as far as it can be checked';

/**
 * The sum of the readable quantities of `rows` rows; `unread`: rows with another quantity, such as `twelve`, of which `twice` can be
 * read in two ways, such as `1.000`: with a point as the decimal sign, they add `point`, with a comma `comma`.
 */
type Sum = {
  value: number;
  rows: number;
  unread: number;
  twice: number;
  point: number;
  comma: number;
};

const NONE: Readonly<Sum> = { value: 0, rows: 0, unread: 0, twice: 0, point: 0, comma: 0 };

/** Totals rows below a header. A fix file has none: its rows are those of other tables. */
export function createTotalRows(
  header: readonly string[],
  mapping: Mapping,
): TotalRows | undefined {
  const number = columnNamed('purchaseOrderNumber', header, mapping);
  const article = columnNamed('articleCode', header, mapping);
  const quantity = columnNamed('quantity', header, mapping);
  const isFixFile = header.some((name) => errorColumnOf(name) !== undefined);
  if (isFixFile || number === undefined || quantity === undefined || mapping.totalRows === 'allow')
    return undefined;
  const all: Sum = { ...NONE };
  const group: Sum = { ...NONE };
  const [allWritten, groupWritten]: [Sum, Sum] = [{ ...all }, { ...group }];
  const named: string[] = [];
  let skipped = 0;
  let lastCell = '';
  let mayLast = true;
  const textIn = ({ cells }: Row, column: number | undefined) =>
    column === undefined ? '' : trimBlanks(cells[column] ?? '');

  function isTotal(row: Row): boolean {
    const [own, code] = [textIn(row, number), textIn(row, article)];
    if (STARS.test(own)) return true;
    if ((own !== '' && !isTotalLabel(own)) || (code !== '' && !isTotalLabel(code))) return false;
    if (row.cells.length !== header.length || !row.cells.every(isBlankLabelOrFigure)) return false;
    const labels = row.cells.map(trimBlanks).filter(isTotalLabel);
    const label =
      labels.length === 0 ? 'none' : code === '' && labels.some(isClearLabel) ? 'sure' : 'some';
    return isSum(textIn(row, quantity), [all, group, allWritten, groupWritten], label);
  }

  return {
    mayBe({ cells }) {
      const cell = cells[number] ?? '';
      if (cell === lastCell) return mayLast;
      lastCell = cell;
      const own = trimBlanks(cell);
      mayLast = own === '' || STARS.test(own) || isTotalLabel(own);
      return mayLast;
    },
    is(row) {
      const found = isTotal(row);
      if (!found) return false;
      for (const sum of [group, groupWritten]) Object.assign(sum, NONE);
      skipped += 1;
      if (named.length < NAMED) named.push(`line ${row.line} (${filledCells(row.cells)})`);
      return true;
    },
    add(row, leftOut) {
      const text = textIn(row, quantity);
      // A heading is no item.
      if (text === '' && textIn(row, article) === '') return;
      const read = readQuantity(text, mapping.decimal, false);
      for (const sum of leftOut
        ? [allWritten, groupWritten]
        : [all, group, allWritten, groupWritten]) {
        if ('value' in read) sum.value += read.value;
        sum['value' in read ? 'rows' : 'unread'] += 1;
        if ('fault' in read && read.fault === 'ambiguous-number') addBoth(sum, text);
      }
    },
    warnings: () => (skipped === 0 ? [] : [skippedText(skipped, named)]),
  };
}

function addBoth(sum: Sum, text: string): void {
  const [point, comma] = [readQuantity(text, '.', false), readQuantity(text, ',', false)];
  if (!('value' in point && 'value' in comma)) return;
  sum.twice += 1;
  sum.point += point.value;
  sum.comma += comma.value;
}

function skippedText(number: number, named: readonly string[]): string {
  const [rows, were] = number === 1 ? ['One totals row', 'was'] : [`${number} totals rows`, 'were'];
  const more = number > NAMED ? ` and ${number - NAMED} more` : '';
  return `${rows} (${PROOF}) ${were} skipped: ${named.join(', ')}${more}.`;
}

/** What else a row says of being a total. `sure`: it has a clear label, and no article that could be an item of a neighbor. */
type Label = 'none' | 'some' | 'sure';

/**
 * A sum of one row proves nothing without a label. Where a quantity above is not readable, a program left it out of its sum,
 * or the sum is larger than what is readable, and then only a sure label proves it. Where each of these can be read in two ways, the
 * sum must be that of one of them.
 */
function isSum(text: string, sums: readonly Sum[], label: Label): boolean {
  const readings = (['.', ','] as const).flatMap((decimal) => {
    const read = readQuantity(text, decimal, false);
    return 'value' in read ? [read.value] : [];
  });
  const isRead = (sum: number) => readings.some((reading) => Math.abs(reading - sum) < 1e-6);
  return sums.some(({ value, rows, unread, twice, point, comma }) => {
    const isExact = isRead(value);
    if (unread === 0) return isExact && rows >= (label === 'none' ? 2 : 1);
    if (label === 'none') return false;
    if (isExact && rows >= 2) return true;
    if (label !== 'sure') return false;
    if (twice === unread) return isRead(value + point) || isRead(value + comma);
    return rows > 0 && readings.some((reading) => reading > value);
  });
}

function isBlankLabelOrFigure(cell: string): boolean {
  const text = trimBlanks(cell);
  return !/\p{L}/u.test(text) || isTotalLabel(text);
}

/** Looks for a first row that may only number the columns (`1,2,3`), as printed forms have it. */
export function watchColumnNumbers(
  { header, at, names, errorColumns }: Columns,
  { otherReadings }: Mapping,
) {
  const code = names.findIndex((name) => errorColumnOf(name) === '_error_code');
  const isFixFile = errorColumns.length > 0;
  let rows = 0;
  let line: number | undefined;
  let isLikeOthers = true;

  /** In a fix file, only what was held before has two readings, wherever its row is now. */
  function mayNumber(cells: readonly string[], row: Row): boolean {
    if (otherReadings === 'allow' || cells.length < 3 || cells.length !== header.length)
      return false;
    if (isFixFile ? row.cells[code]?.includes('two-readings') === false : rows > 1) return false;
    return cells.every((cell, index) => trimBlanks(cell) === String(index + 1));
  }

  function isLike(cells: readonly string[]): boolean {
    const sent = [at.purchaseOrderNumber, at.articleCode].filter((index) => index !== undefined);
    return sent.every((index) => /^\d{1,3}$/.test(trimBlanks(cells[index] ?? '')));
  }

  /** Other rows have such numbers too, or there are none that need numbered columns. */
  function isOrder(): boolean {
    return !isFixFile && (rows === 1 ? header.length === 3 : isLikeOthers);
  }

  return {
    look(cells: readonly string[], row: Row): void {
      rows += 1;
      if (line === undefined && mayNumber(cells, row)) line = row.line;
      else if (line !== undefined && isLikeOthers) isLikeOthers = isLike(cells);
    },
    /** The line of the row to hold, if any. */
    held: () => (line === undefined || isOrder() ? {} : { numberedAt: line }),
    warnings(): string[] {
      if (line === undefined || !isOrder()) return [];
      return [
        `Line ${line} is read as an order. If it only numbers the columns, ask your operator. For your operator: name it in skipRows.`,
      ];
    },
  };
}
