import { type ErrorFacts, PoSyncError } from '../core/errors.ts';
import type { QuantityFault } from '../order/quantity.ts';

/** Why a value is outside the domain of texts. */
export type TextFault =
  | 'missing'
  /** More than 256 characters. */
  | 'long'
  /** Not in the composed form of Unicode (NFC). */
  | 'form'
  /** A control, format, private, unassigned or replacement character, or half of one. */
  | 'character'
  /** White space other than single ordinary spaces inside. */
  | 'space'
  /** Begins with `=`. */
  | 'formula'
  /** A spreadsheet error, in whatever language. */
  | 'sheetError'
  /** A number with an exponent, as spreadsheets write it. */
  | 'exponent'
  | 'noDigit'
  /** Not as the mapping's `like` says. */
  | 'unlike'
  | CellFault;

/** What a cell of a workbook, or a JSON value, is in place of a value that can be sent. */
export type CellFault =
  | 'struck'
  | 'format'
  | 'date'
  | 'boolean'
  | 'error'
  | 'noValue'
  | 'structure';

export type ValueFault = TextFault | QuantityFault | 'aboveMax';

/** What can be wrong with an order, each code with its facts. Lines are those of the file. */
export type ProblemFacts = {
  /** Rule 2: the row has other columns than the header. */
  width: { cells: number; columns: number };
  /** Rule 2: a cell has a line break that its column does not allow. */
  lineBreak: object;
  /** Rule 2: the line is longer than the widths together. */
  lineLength: object;
  /** Rule 2: the number is missing or outside its domain. `character`: the first one that is not allowed. */
  number: { fault: TextFault; character?: string };
  /** Rule 2: under `fillDown`, the number is blank, and the row above is damaged or there is none. */
  nothingToFill: object;
  /** Rule 2: an item record without an order record above it. */
  noOrderRecord: object;
  /** Rule 2: a damaged row is directly above or below the order, and may belong to it. */
  besideDamaged: { damaged: number };
  /** Rule 2: a damaged row has the number of the order, or swallowed a row with it. */
  namedByDamaged: object;
  /** Rule 3: the value of a condition is none that is sent. */
  condition: { send: readonly string[] };
  /** Rules 3 and 4: two rows of the order have different values where the order has one. */
  twoValues: { values: readonly [string, string] };
  /** Rule 4. */
  article: { fault: TextFault; character?: string };
  quantity: { fault: ValueFault; max?: number };
  orderState: { state: string };
  field: { field: string; type: string; fault: ValueFault; character?: string };
  /** Rule 4: objects that are orders have their items in a list of objects. */
  items: { fault: 'none' | 'notAList' | 'notAnObject' };
  /** Rule 5: two rows of the order are equal in every cell. */
  equalRows: { first: number };
  /** Rule 5: the rows of the order spell its number differently. */
  spelling: { spellings: readonly [string, string] };
  /** Rule 5: the number occurs in several orders of the file. `first`: where it is first, or next. */
  numberTwice: { first: number };
  /** The last line of the file has no end, and its last value may be cut. */
  cut: object;
  /** The order has more rows than can be one order. */
  tooLarge: { rows: number };
  /** There are more problems than are kept. */
  more: { problems: number };
};

export type ProblemCode = keyof ProblemFacts;

/** One problem of one value, row or order. `value`: as read, shortened. */
export type Problem = {
  [Code in ProblemCode]: {
    code: Code;
    facts: ProblemFacts[Code];
    line: number;
    pointer?: string;
    column?: string;
    value?: string;
  };
}[ProblemCode];

/** What makes a readable file unreadable with a mapping, each code with its facts. */
export type LayoutFault =
  /** No row among the first ones has the columns that are needed. `isOpenEnded`: the last one has no line end. */
  | { code: 'unreadable-header'; needed: string; rows: number; isOpenEnded: boolean }
  /** A declared name matches two columns. */
  | { code: 'unreadable-two-columns'; column: string; line: number }
  /** Objects never have a key that is needed. `names`: keys that they have and nobody declared. */
  | { code: 'unreadable-column-missing'; needed: string; names: string }
  /** A row after the last row. */
  | { code: 'unreadable-after-last-row'; line: number }
  /** The row that ends each file is not there. */
  | { code: 'unreadable-no-last-row' }
  /** More damaged rows than can be kept apart. */
  | { code: 'unreadable-too-many-damaged'; line: number; limit: number };

/** The error for a file that cannot be read with its mapping. Its sentence is made from code and facts elsewhere. */
export function unreadable({ code, ...facts }: LayoutFault): PoSyncError {
  const all: ErrorFacts = { ...facts };
  return new PoSyncError(code, `${code} ${JSON.stringify(all)}`, { facts: all });
}
