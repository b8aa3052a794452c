import type { Mapping } from '../../config/config.ts';
import type { Columns } from '../columns.ts';

/** An empty cell may be missing in a row: before `column`, `count` times. */
export type MissingCell = { column: number; count: number };

/**
 * Finds rows whose values may be too far to the left because somebody deleted an empty cell: they end with an empty
 * cell, at least one value is unlike the others of its column, and all are like them with an empty cell inserted.
 */
export type MovedCells = {
  look(cells: readonly string[], line: number): void;
  /** Such rows by their lines. */
  rows(): ReadonlyMap<number, MissingCell>;
};

/** Rows that are compared: somebody who deletes cells has a file of fewer. */
const MOST_ROWS = 10_000;
/** A kind of values is usual in a column where this share of the other rows has it. */
const USUAL_SHARE = 0.1;
const MOST_MISSING = 3;

/** What a value consists of. */
const KINDS = 6;
const [BLANK, WHOLE, NUMBER, DIGITS, WORDS, CODE] = [0, 1, 2, 3, 4, 5];

/** Undefined where no value can come from a column behind: the last one is sent, and an empty one is reported. */
export function watchMoved(
  { header, at }: Columns,
  { otherReadings }: Mapping,
): MovedCells | undefined {
  const width = header.length;
  const needed = [at.purchaseOrderNumber, at.articleCode, at.quantity].filter(
    (column) => column !== undefined,
  );
  const lastSent = Math.max(...needed);
  if (otherReadings === 'allow' || lastSent >= width - 1) return undefined;
  const counts = new Uint32Array(width * KINDS);
  const candidates: { line: number; kinds: Uint8Array }[] = [];
  let rows = 0;

  function look(cells: readonly string[], line: number): void {
    if (rows >= MOST_ROWS || cells.length !== width) return;
    rows += 1;
    const isCandidate = (cells[width - 1] ?? '').trim() === '';
    const kinds = isCandidate ? new Uint8Array(width) : undefined;
    for (let column = 0; column < width; column += 1) {
      const kind = kindOf(cells[column] ?? '');
      if (kinds !== undefined) kinds[column] = kind;
      counts[column * KINDS + kind] = (counts[column * KINDS + kind] ?? 0) + 1;
    }
    if (kinds !== undefined) candidates.push({ line, kinds });
  }

  /** Whether other rows have such a value there. A whole number is usual among fractions. */
  function isUsual(kind: number, column: number, own: number): boolean {
    const of = (one: number) => (counts[column * KINDS + one] ?? 0) - (one === own ? 1 : 0);
    const others = of(kind) + (kind === WHOLE ? of(NUMBER) : 0);
    return others >= Math.max(1, USUAL_SHARE * (rows - 1));
  }

  function missingIn(kinds: Uint8Array): MissingCell | undefined {
    const first = kinds.findIndex((kind, column) => kind !== BLANK && !isUsual(kind, column, kind));
    if (first < 0) return undefined;
    const blanks = width - 1 - kinds.findLastIndex((kind) => kind !== BLANK);
    for (let count = 1; count <= Math.min(blanks, MOST_MISSING); count += 1)
      for (let column = Math.min(first, lastSent); column >= 0; column -= 1)
        if (fits(kinds, column, count)) return { column, count };
    return undefined;
  }

  function fits(kinds: Uint8Array, from: number, count: number): boolean {
    for (let column = 0; column < width; column += 1) {
      if (column >= from && column < from + count) continue;
      const kind = kinds[column < from ? column : column - count] ?? BLANK;
      if (!isUsual(kind, column, kinds[column] ?? BLANK)) return false;
    }
    return true;
  }

  return {
    look,
    rows: () =>
      new Map(
        candidates.flatMap(({ line, kinds }) => {
          const missing = missingIn(kinds);
          return missing === undefined ? [] : [[line, missing] as const];
        }),
      ),
  };
}

/** A row with the empty cells that it may lack. */
export function withMissing(cells: readonly string[], { column, count }: MissingCell): string[] {
  return cells.toSpliced(column, 0, ...Array<string>(count).fill('')).slice(0, cells.length);
}

function kindOf(cell: string): number {
  const text = cell.trim();
  if (text === '') return BLANK;
  if (/^\d+$/.test(text)) return WHOLE;
  if (/^[-+]?[\d.,]*\d-?$/.test(text)) return NUMBER;
  if (!/\p{L}/u.test(text)) return DIGITS;
  return /\d/.test(text) ? CODE : WORDS;
}
