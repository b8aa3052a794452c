import type { CellFault, TextFault, ValueFault } from '../order/problem.ts';
import { type Decimal, readJsonQuantity, readQuantity } from '../order/quantity.ts';
import { type Mark, notComparable } from './line.ts';
import type { Field } from './plan.ts';

// Rule 4: every value that is sent is in its domain.

/** Characters of a number, an article or a further text. */
const LONGEST = 256;

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
const CHARACTER = /[\p{C}\ufffd]/u;
const SPACE = /[^\S ]|[\p{Z}--[ ]]| {2}|^ | $/v;
const DIGIT = /\p{Nd}/u;
const EXPONENT = /^[+-]?(?:\d*[.,]\d*[eE][+-]?\d+|\d+[eE][+-]\d+)$/;

export type TextDomain = { like: RegExp | undefined; needsDigit: boolean };

/** What is wrong with a text; undefined when it is in its domain. */
export function textFault(text: string, { like, needsDigit }: TextDomain): TextFault | undefined {
  if (text === '') return 'missing';
  const fault = plainFault(text);
  if (fault !== undefined) return fault;
  if (like !== undefined) return like.test(text) ? undefined : 'unlike';
  if (text.startsWith('=')) return 'formula';
  if ((text.startsWith('#') && !DIGIT.test(text)) || text.endsWith('!') || text.endsWith('?'))
    return 'sheet-error';
  if (EXPONENT.test(text)) return 'exponent';
  return needsDigit && !DIGIT.test(text) ? 'no-digit' : undefined;
}

/** What no text may have, whatever is declared. */
function plainFault(text: string): TextFault | undefined {
  if (text.length > LONGEST && (text.length > 2 * LONGEST || Array.from(text).length > LONGEST))
    return 'long';
  if (PLAIN.test(text)) return undefined;
  if (CHARACTER.test(text)) return 'character';
  if (SPACE.test(text)) return 'space';
  return text.normalize('NFC') === text ? undefined : 'form';
}

/** The first character of a text that is not allowed, as `U+0009`. */
export function characterIn(text: string): string | undefined {
  const code = (CHARACTER.exec(text) ?? SPACE.exec(text))?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Formats whose number is the text that the workbook shows. */
const AS_SHOWN = new Set(['General', '0', '@']);

/** What makes a cell no text: of a number, only one that is shown as it is stored is a text. */
export function cellFault(mark: Mark | undefined, text: string): CellFault | undefined {
  if (mark === undefined) return undefined;
  const fault = notComparable(mark);
  if (fault !== undefined) return fault;
  switch (mark.kind) {
    case 'number':
      return AS_SHOWN.has(mark.format) ? undefined : 'format';
    case 'exact':
      return /^\d+$/.test(text) ? undefined : 'format';
    case 'date':
    case 'boolean':
      return mark.kind;
    default:
      return undefined;
  }
}

/** `General`, `0`, `0.00`, `#,##0`, `#,##0.00`. */
const NUMBER_FORMAT = /^(?:General|(?:#,##)?0(?:\.0+)?)$/;

export type NumberRules = { decimal: Decimal; isWhole: boolean };

/** Reads a quantity; stored numbers by their own text, others as the mapping says. */
export function quantityOf(
  text: string,
  mark: Mark | undefined,
  { decimal, isWhole }: NumberRules,
): { value: number } | { fault: ValueFault } {
  if (mark === undefined) return readQuantity(text, decimal, isWhole);
  const fault = notComparable(mark);
  if (fault !== undefined) return { fault };
  switch (mark.kind) {
    case 'number':
      return NUMBER_FORMAT.test(mark.format)
        ? readJsonQuantity(text, isWhole)
        : { fault: 'format' };
    case 'exact':
      return readJsonQuantity(text, isWhole);
    case 'date':
    case 'boolean':
      return { fault: mark.kind };
    default:
      return readQuantity(text, decimal, isWhole);
  }
}

/** A value of a further field as it is sent. */
export type FieldValue = string | number;

/** Reads the value of a further field, which is not empty. */
export function fieldOf(
  { type, date }: Field,
  text: string,
  mark: Mark | undefined,
  decimal: Decimal,
): { value: FieldValue } | { fault: ValueFault } {
  switch (type) {
    case 'text': {
      const fault = cellFault(mark, text) ?? plainFault(text);
      return fault === undefined ? { value: text } : { fault };
    }
    case 'integer':
    case 'number':
      return numberOf(text, mark, { decimal, isWhole: type === 'integer' });
    case 'date': {
      const isDate = mark?.kind === 'date' && notComparable(mark) === undefined;
      const fault = isDate ? undefined : cellFault(mark, text);
      if (fault !== undefined) return { fault };
      const day = isDate ? mark.date.slice(0, 10) : date(text);
      return day === undefined ? { fault: 'date' } : { value: day };
    }
  }
}

/** A number in the notation of quantities, which may also be zero or below. */
function numberOf(text: string, mark: Mark | undefined, rules: NumberRules) {
  const isNegative = /^-[^-+]/.test(text);
  const read = quantityOf(isNegative ? text.slice(1) : text, mark, rules);
  if ('value' in read) return isNegative ? { value: -read.value } : read;
  const isZero = read.fault === 'not-positive' && /^[+-]?0+(?:[.,]0+)?$/.test(text);
  return isZero ? { value: 0 } : read;
}
