import { parse } from 'csv-parse/sync';
import type { Mapping } from '../../config/config.ts';
import { readQuantity } from '../../order/quantity.ts';
import { trimBlanks } from '../../order/text.ts';
import { countFields } from '../columns.ts';

/** What separates a table's fields. `hasSepLine`: its first line is `sep=;`, as Excel writes and reads it. */
export type Delimiter = { delimiter: string; hasSepLine: boolean };

const CANDIDATES = [',', ';', '\t', '|'];
const SEP_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\r|\n)/i;
const LOOKED_AT = 20;

/**
 * Finds the delimiter from the beginning of a table: the one that shows most of the mapped columns in the header,
 * among equals the one that parts the first rows into equally many fields.
 */
export function findDelimiter(start: string, mapping: Mapping): Delimiter {
  const named = SEP_LINE.exec(start)?.[1];
  const hasSepLine = named !== undefined;
  if (mapping.delimiter !== 'auto') return { delimiter: mapping.delimiter, hasSepLine };
  if (named !== undefined) return { delimiter: named, hasSepLine };
  const rated = CANDIDATES.map((delimiter) => ({ delimiter, rating: rate(start, delimiter, mapping) }));
  const best = rated.reduce((a, b) => (compare(b.rating, a.rating) > 0 ? b : a));
  return { delimiter: best.delimiter, hasSepLine };
}

type Rating = readonly number[];

function rate(start: string, delimiter: string, mapping: Mapping): Rating {
  const rows = firstRows(start, delimiter, mapping, LOOKED_AT) ?? firstRows(start, delimiter, mapping, 1) ?? [];
  const header = rows.reduce((a, b) => (countFields(b, mapping) > countFields(a, mapping) ? b : a), rows[0] ?? []);
  const alike = header.length > 1 ? rows.filter((row) => row.length === header.length).length : 0;
  return [countFields(header, mapping), alike, header.length];
}

function compare(a: Rating, b: Rating): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing < 0 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

/** Undefined when the rows cannot be separated: the beginning may end within quotes. */
function firstRows(start: string, delimiter: string, { quote }: Mapping, count: number): string[][] | undefined {
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
  /** Said when both occur. */
  warnings(): string[];
};

const NEVER = 0;

export function watchDecimals(): DecimalEvidence {
  const first = { '.': NEVER, ',': NEVER };
  return {
    look(cell, line) {
      if (!cell.includes('.') && !cell.includes(',')) return;
      const read = readQuantity(trimBlanks(cell), 'auto', false);
      if ('value' in read && read.sign !== undefined && first[read.sign] === NEVER) first[read.sign] = line;
    },
    sign() {
      if (first['.'] !== NEVER && first[','] !== NEVER) return undefined;
      return first['.'] !== NEVER ? '.' : first[','] !== NEVER ? ',' : undefined;
    },
    warnings() {
      if (first['.'] === NEVER || first[','] === NEVER) return [];
      return [`Quantities are written with decimal point (line ${first['.']}) and decimal comma (line ${first[',']}).`];
    },
  };
}
