import { readQuantity } from '../order/quantity.ts';
import { trimBlanks } from '../order/text.ts';

/** Watches the quantities of a table for the decimal sign they are written with. */
export type DecimalEvidence = {
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
