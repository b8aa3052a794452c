import { patternFault, SEEN } from '../config/mapping-schema.ts';
import { quantityOf } from '../mapping/domain.ts';
import { escaped } from './patterns.ts';
import { isText, type Roles } from './roles.ts';
import type { TableRow } from './table.ts';

/** Rows that fit no order, with the pattern for `skipRows` that finds them. */
export type Skip = { pattern: string; rows: number; example: string };

export type Sorted = {
  /** Rows that can be of orders. */
  fitting: readonly TableRow[];
  skips: readonly Skip[];
  /** Rows that fit no order and have no pattern. */
  others: readonly TableRow[];
};

const MOST_PATTERNS = 10;

/**
 * Separates the rows of totals, titles and rules from those of orders: what has neither a number nor an article, or no
 * number and no quantity. Data that is only wrong stays, so that it is held and not left out.
 */
export function sortRows(rows: readonly TableRow[], { number, article, quantity }: Roles): Sorted {
  const isMisfit = (row: TableRow) => {
    if (number === undefined || isText(row, number.at, true)) return false;
    const hasArticle = article === undefined || (row.cells[article.at] ?? '') !== '';
    const rules = { decimal: 'auto', isWhole: false } as const;
    const read =
      quantity && quantityOf(row.cells[quantity.at] ?? '', row.odd?.[quantity.at], rules);
    const hasQuantity = read === undefined || 'value' in read || read.fault === 'ambiguous-number';
    return !hasArticle || !hasQuantity;
  };
  const fitting = rows.filter((row) => !isMisfit(row));
  const found = new Map<string, Skip>();
  const others: TableRow[] = [];
  for (const row of rows.filter(isMisfit)) {
    const written = row.written ?? '';
    const pattern = found.size <= MOST_PATTERNS ? skipPattern(written, fitting) : undefined;
    if (pattern === undefined) others.push(row);
    else {
      const known = found.get(pattern);
      if (known !== undefined) known.rows += 1;
      else found.set(pattern, { pattern, rows: 1, example: written });
    }
  }
  return { fitting, skips: [...found.values()], others };
}

/** How a line begins, so that it finds none of the lines that fit; undefined where that is impossible. */
export function skipPattern(line: string, fitting: readonly TableRow[]): string | undefined {
  for (const most of [MOST_CHARACTERS, 3 * MOST_CHARACTERS]) {
    const pattern = beginning(line, most);
    if (pattern === undefined || patternFault(pattern, SEEN.line, false) !== undefined) continue;
    const compiled = new RegExp(pattern, 'u');
    if (!fitting.some(({ written = '' }) => compiled.test(written.slice(0, SEEN.line))))
      return pattern;
  }
  return undefined;
}

const MOST_CHARACTERS = 40;

/** The beginning up to the first digits behind letters, as a pattern: digits before are any digits. */
function beginning(line: string, most: number): string | undefined {
  const shown = line.slice(0, most).replace(/[\r\n].*$/s, '');
  const [start = ''] = /^[^\p{L}]*(?:[^\d]*)/u.exec(shown) ?? [];
  const text = /\p{L}/u.test(start) ? start.trimEnd() : shown;
  if (text.replace(/[\s,;|"]/g, '') === '') return undefined;

  return `^${Array.from(text, one).join('')}`;
}

function one(character: string): string {
  if (/\d/.test(character)) return '\\d';
  if (character === '\t') return '\\t';
  return /\p{Cc}/u.test(character) ? '.' : escaped(character);
}
