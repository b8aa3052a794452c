import { parse } from 'csv-parse/sync';
import type { Mapping } from '../../config/config.ts';
import { type Decimal, readQuantity } from '../../order/quantity.ts';
import { trimBlanks } from '../../order/text.ts';
import { columnNamed, countFields, type Field, hasNeededColumns } from '../columns.ts';

/**
 * What separates a table's fields. `hasSepLine`: its first line is `sep=;`, as Excel writes and reads it. `extra`: how many
 * empty fields each row has behind those of the header, because it ends with a delimiter.
 */
export type Delimiter = { delimiter: string; hasSepLine: boolean; extra: number };

const CANDIDATES = [',', ';', '\t', '|'];
const SEP_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\r|\n)/i;
const LOOKED_AT = 20;

/**
 * Finds the delimiter from the beginning of a table: the one that shows most of the mapped columns in the header, among
 * equals the one that separates the first rows into the same number of fields.
 */
export function findDelimiter(start: string, mapping: Mapping): Delimiter {
  const named = SEP_LINE.exec(start)?.[1];
  const delimiter =
    mapping.delimiter === 'auto' ? (named ?? bestDelimiter(start, mapping)) : mapping.delimiter;
  return {
    delimiter,
    hasSepLine: named !== undefined,
    extra: extraFields(start, delimiter, mapping),
  };
}

function bestDelimiter(start: string, mapping: Mapping): string {
  const rated = CANDIDATES.map((delimiter) => ({
    delimiter,
    rating: rate(start, delimiter, mapping),
  }));
  return rated.reduce((a, b) => (compare(b.rating, a.rating) > 0 ? b : a)).delimiter;
}

const MOST_COMPARED = 1_000;
/** A shorter beginning is the complete table. */
const LONG = 60 * 1024;

/** Every row below the header must have the same number of them, and no other reading may be likely. */
function extraFields(start: string, delimiter: string, mapping: Mapping): number {
  const rows = firstRows(start, delimiter, mapping, MOST_COMPARED) ?? [];
  const at = rows.findIndex((cells) => hasNeededColumns(cells, mapping));
  const header = rows[at] ?? [];
  const isCut = rows.length < MOST_COMPARED && start.length > LONG;
  const below = rows.slice(at + 1, isCut ? -1 : undefined);
  const data = below.filter(
    (cells) => !cells.every(isBlankCell) && !header.every((name, i) => name === cells[i]),
  );
  const width = data[0]?.length ?? 0;
  if (at < 0 || width <= header.length) return 0;
  const isEven = data.every(
    (cells) => cells.length === width && cells.slice(header.length).every(isBlankCell),
  );
  return isEven && isOnlyReading(header, data, delimiter, mapping) ? width - header.length : 0;
}

/** `1,5,` can be the quantity 1 and a text, or a decimal comma and no text, unless the last column is never empty. */
function isOnlyReading(
  header: readonly string[],
  data: readonly string[][],
  delimiter: string,
  mapping: Mapping,
) {
  const at = (field: Field) => columnNamed(field, header, mapping) ?? Number.NaN;
  const [number, article, quantity] = [
    at('purchaseOrderNumber'),
    at('articleCode'),
    at('quantity'),
  ];
  if (delimiter !== ',' || [number, article, quantity].includes(header.length - 1)) return true;
  return (
    number < quantity &&
    article < quantity &&
    data.some((cells) => !/^\s*\d/.test(cells[quantity + 1] ?? ''))
  );
}

function isBlankCell(cell = ''): boolean {
  return cell.trim() === '';
}

type Rating = readonly number[];

function rate(start: string, delimiter: string, mapping: Mapping): Rating {
  const rows =
    firstRows(start, delimiter, mapping, LOOKED_AT) ??
    firstRows(start, delimiter, mapping, 1) ??
    [];
  const header =
    likeliestHeader(
      rows.map((cells) => ({ cells })),
      mapping,
    )?.cells ?? [];
  const alike = header.length > 1 ? rows.filter((row) => row.length === header.length).length : 0;
  return [countFields(header, mapping), alike, header.length];
}

function compare(a: Rating, b: Rating): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing < 0 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

/** The row that has most of the columns, the first of several: there, a column is missing. Without any, the one below a title. */
export function likeliestHeader<Row extends { cells: readonly string[] }>(
  rows: readonly Row[],
  mapping: Mapping,
) {
  const [first] = rows;
  const most = (of: (cells: readonly string[]) => number) =>
    first && rows.reduce((a, b) => (of(b.cells) > of(a.cells) ? b : a), first);
  const filled = (cells: readonly string[]) => cells.filter((cell) => cell.trim() !== '').length;
  const best = most((cells) => countFields(cells, mapping));
  return best === first &&
    first &&
    filled(first.cells) === 1 &&
    countFields(first.cells, mapping) === 0
    ? most(filled)
    : best;
}

/** Undefined when the rows cannot be separated: the beginning may end within quotes. */
function firstRows(
  start: string,
  delimiter: string,
  { quote }: Mapping,
  count: number,
): string[][] | undefined {
  try {
    return parse(start, {
      delimiter,
      quote: quote === 'none' ? null : '"',
      to: count,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch {
    return undefined;
  }
}

/** Watches the quantities of a table for the decimal sign they are written with. */
type DecimalEvidence = {
  look(cell: string, line: number): void;
  /** The sign that all cells with a sign agree on. */
  sign(): '.' | ',' | undefined;
  /** The line of a quantity that has another sign than the mapping names. */
  otherSignAt(): number | undefined;
  /** Reported when both occur. */
  warnings(): string[];
};

const NEVER = 0;
const NAMES = { '.': 'point', ',': 'comma' } as const;

/** `given`: the sign that the mapping names. */
export function watchDecimals(given: Decimal = 'auto'): DecimalEvidence {
  const first = { '.': NEVER, ',': NEVER };
  const otherSign = given === '.' ? ',' : '.';

  function otherSignAt(): number | undefined {
    return given === 'auto' || first[otherSign] === NEVER ? undefined : first[otherSign];
  }

  return {
    otherSignAt,
    look(cell, line) {
      if (!cell.includes('.') && !cell.includes(',')) return;
      const read = readQuantity(trimBlanks(cell), 'auto', false);
      if ('value' in read && read.sign !== undefined && first[read.sign] === NEVER)
        first[read.sign] = line;
    },
    sign() {
      if (given !== 'auto') return given;
      if (first['.'] !== NEVER && first[','] !== NEVER) return undefined;
      return first['.'] !== NEVER ? '.' : first[','] !== NEVER ? ',' : undefined;
    },
    warnings() {
      const line = otherSignAt();
      if (given !== 'auto')
        return line === undefined
          ? []
          : [
              `The mapping sets decimal: "${given}", and line ${line} has a quantity with a decimal ${NAMES[otherSign]}.`,
            ];
      if (first['.'] === NEVER || first[','] === NEVER) return [];
      return [
        `Quantities are written with decimal point (line ${first['.']}) and decimal comma (line ${first[',']}).`,
      ];
    },
  };
}
