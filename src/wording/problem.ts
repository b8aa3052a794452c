import { counted } from '../core/format.ts';
import type { Problem } from '../mapping/codes.ts';

/** What people read of a problem. `code`: of a value, what is wrong with it; else what is wrong with the row or the order. */
export type ProblemText = { code: string; message: string };

/** The sentence for a problem of a file; its subject is the column, or the order. */
export function problemText(problem: Problem): ProblemText {
  const said = (code: string, message: string): ProblemText => ({ code, message });
  switch (problem.code) {
    case 'width': {
      const { cells, columns } = problem.facts;
      return said('width', `the row has ${counted(cells, 'cell')}, and the header ${columns}`);
    }
    case 'lineBreak':
      return said('line-break', 'contains a line break, which its column does not allow');
    case 'lineLength':
      return said('line-length', 'the line is longer than the declared widths together');
    case 'nothingToFill':
      return said('number-missing', 'is empty, and the row above has no number to repeat');
    case 'noOrderRecord':
      return said('no-order-record', 'no order record is above this item record');
    case 'besideDamaged':
      return said('beside-damaged', `the row on line ${problem.facts.damaged} may belong to it`);
    case 'namedByDamaged':
      return said('named-by-damaged', 'a damaged row of the file has its number');
    case 'condition':
      return said(
        'condition',
        `is not one of the values that are sent: ${list(problem.facts.send)}`,
      );
    case 'twoValues':
      return said('two-values', `has two values in one order: ${list(problem.facts.values)}`);
    case 'number':
    case 'article':
    case 'field':
    case 'quantity':
      return said(kebab(problem.facts.fault), faultText(problem.facts.fault, problem.facts));
    case 'orderState':
      return said('order-state', `must be ${problem.facts.state}`);
    default:
      return { code: kebab(problem.code), message: orderText(problem) };
  }
}

type OfOrder = Extract<
  Problem,
  { code: 'items' | 'equalRows' | 'spelling' | 'numberTwice' | 'cut' | 'tooLarge' | 'more' }
>;

/** What is wrong with the order, or with its place in the file. */
function orderText(problem: OfOrder): string {
  switch (problem.code) {
    case 'items':
      return ITEMS[problem.facts.fault];
    case 'equalRows':
      return `the row is equal to the one on line ${problem.facts.first}`;
    case 'spelling':
      return `its rows spell its number differently: ${list(problem.facts.spellings)}`;
    case 'numberTwice':
      return `its number is there again on line ${problem.facts.first}`;
    case 'cut':
      return 'the last line of the file has no line end: its last value may be cut';
    case 'tooLarge':
      return `the order has ${problem.facts.rows} rows, more than one order can have`;
    case 'more':
      return `there are ${counted(problem.facts.problems, 'more problem')}`;
    default:
      return problem satisfies never;
  }
}

const ITEMS = {
  none: 'the order has no items',
  notAList: 'the items are not a list',
  notAnObject: 'an item is not an object',
} as const;

type Fault = (Problem & { code: 'number' | 'article' | 'field' | 'quantity' })['facts']['fault'];
type Facts = { character?: string; max?: number; type?: string };

function faultText(fault: Fault, { character, max, type }: Facts): string {
  switch (fault) {
    case 'missing':
      return 'is empty';
    case 'long':
      return 'has more than 256 characters';
    case 'form':
      return 'is not in the composed form of Unicode (NFC)';
    case 'character':
      return `contains a character that is not allowed${inBrackets(character)}`;
    case 'space':
      return `contains white space that is not a single space${inBrackets(character)}`;
    case 'formula':
      return 'begins with =, as a formula does';
    case 'sheetError':
      return 'is the error of a spreadsheet';
    case 'exponent':
      return 'is a number with an exponent, as spreadsheets write it';
    case 'noDigit':
      return 'has no digit';
    case 'unlike':
      return 'is not as the mapping says (like)';
    case 'struck':
      return 'is struck through';
    case 'format':
      return 'has a number format that can hide what is stored: format the cell as text';
    case 'date':
      return 'is a date';
    case 'boolean':
      return 'is true or false';
    case 'error':
      return 'is the error of a formula';
    case 'noValue':
      return 'is a formula without a stored value';
    case 'structure':
      return 'is a list or an object, not a value';
    case 'not-a-number':
      return `is not ${type === undefined || type === 'number' || type === 'integer' ? 'a number' : `a ${type}`}`;
    case 'ambiguous-number':
      return 'can be read in two ways: declare decimal in the mapping';
    case 'not-whole':
      return 'is not a whole number';
    case 'not-positive':
      return 'is not above zero';
    case 'too-large':
      return 'is too large';
    case 'too-precise':
      return 'has more digits than can be sent exactly';
    case 'aboveMax':
      return `is more than ${max}`;
    default:
      return fault satisfies never;
  }
}

/** `character`: as `U+202E`. */
function inBrackets(character: string | undefined): string {
  return character === undefined ? '' : ` (${character})`;
}

function list(values: readonly string[]): string {
  return values.map((value) => (value === '' ? '(empty)' : JSON.stringify(value))).join(', ');
}

/** `notWhole` as `not-whole`. */
function kebab(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
