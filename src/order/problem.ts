import type { NamedBatch } from './named-batch.ts';
import type { QuantityFault } from './quantity.ts';

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
  | 'sheet-error'
  /** A number with an exponent, as spreadsheets write it. */
  | 'exponent'
  | 'no-digit'
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
  | 'no-value'
  | 'structure';

export type ValueFault = TextFault | QuantityFault | 'above-max';

/** Which value is wrong. `character`: the first one that is not allowed. `field`, `type`: of a further field. */
export type ValueFacts = {
  of: 'number' | 'article' | 'quantity' | 'field';
  character?: string;
  max?: number;
  field?: string;
  type?: string;
};

/** What can be wrong with an order, each code with its facts. Lines are those of the file. */
export type ProblemFacts = { [Fault in ValueFault]: ValueFacts } & FileFacts & LedgerFacts;

type FileFacts = {
  /** Rule 2: the row has other columns than the header. */
  width: { cells: number; columns: number };
  /** Rule 2: a cell has a line break that its column does not allow. */
  'line-break': object;
  /** Rule 2: a quoted cell has text behind its quotes, so that it may have taken the cells beside it. */
  'stray-quote': object;
  /** Rule 2: the line is longer than the widths together. */
  'line-length': object;
  /** Rule 2: under `fillDown`, the number is blank, and the row above is damaged or there is none. */
  'number-missing': object;
  /** Rule 2: an item record without an order record above it. */
  'no-order-record': object;
  /** Rule 2: a damaged row is directly above or below the order, and may belong to it. */
  'beside-damaged': { damaged: number };
  /** Rule 2: a damaged row has the number of the order, or swallowed a row with it. */
  'named-by-damaged': object;
  /** Rule 3: the value of a condition is none that is sent. */
  condition: { send: readonly string[] };
  /** Rules 3 and 4: two rows of the order have different values where the order has one. */
  'two-values': { values: readonly [string, string] };
  /** Rule 4. */
  'order-state': { state: string };
  /** Rule 4: objects that are orders have their items in a list of objects. */
  items: { fault: 'none' | 'notAList' | 'notAnObject' };
  /** Rule 5: two rows of the order are equal in every cell. */
  'equal-rows': { first: number };
  /** Rule 5: the rows of the order spell its number differently. */
  spelling: { spellings: readonly [string, string] };
  /** Rule 5: the number occurs in several orders of the file. `first`: where it is first, or next. */
  'number-twice': { first: number };
  /** The last line of the file has no end, and its last value may be cut. */
  cut: object;
  /** The order has more rows than can be one order. */
  'too-many-rows': { rows: number };
  /** There are more problems than are kept. */
  more: { problems: number };
};

/** Orders that the ledger has elsewhere. `from`: the batch that brought them; absent where only the API's list has them. */
type LedgerFacts = {
  /** The number of a faulty order is accepted or in progress, with these items. */
  'number-known': {
    state: 'accepted' | 'inProgress';
    from?: NamedBatch | undefined;
    items?: readonly { articleCode: string; quantity: number }[];
  };
  /** It failed a check, and which one is not kept until its report is written. */
  invalid: object;
};

export type ProblemCode = keyof ProblemFacts;

/** Where an order is known from: another file, an earlier row of this one (`here`), or only the API's list. */
export type Origin = { from?: NamedBatch | 'here' | undefined };

type ConflictFacts = Origin & { state: 'accepted' | 'inProgress' };

/** Why an order that was not simply accepted ended as it did, each code with its facts. */
export type ResultFacts = {
  /** The same order is accepted or in progress. */
  duplicate: Origin;
  /** The same order needs a person, or was discarded. */
  'not-accepted': Origin & { isDiscarded?: true };
  /** Its content needs a person in the dead letter of `from`. */
  'known-invalid': { from?: NamedBatch };
  /** The same, and that is settled. */
  'known-settled': { from?: NamedBatch };
  /** The number is known with other items. */
  'other-content': ConflictFacts;
  /** The number is known as `as`. */
  'other-spelling': ConflictFacts & { as: string };
  /** A person gave the order the number `as`. */
  renumbered: ConflictFacts & { as: string };
  /** Another file corrects an order with its number at the same moment. */
  'being-corrected': object;
  /** Its dead letter was not to be corrected any more. */
  outdated: object;
  /** A person withdrew it; `isDoubted`: after an attempt without a clear answer. */
  cancelled: { isDoubted?: true };
  /** The API's list shows it so often. */
  'created-twice': { times: number };
  /** Only the API's list shows that it was created: that attempt had no clear answer. */
  listed: { attempt: number; lost: string };
};

export type ResultCode = keyof ResultFacts;

/** Why an order ended as it did, in a code of po-sync. */
export type OwnReason =
  | Fault
  | { [Code in ResultCode]: { code: Code; facts: ResultFacts[Code] } }[ResultCode];

/** The same; or the code and the words of whoever answered. */
export type Reason = OwnReason | { code: string; facts: { says: string } };

/** The words of whoever answered; undefined for a reason of po-sync. */
export function saysOf({ facts }: Reason): string | undefined {
  return 'says' in facts ? facts.says : undefined;
}

/** What is wrong, without its place. */
export type Fault = {
  [Code in ProblemCode]: { code: Code; facts: ProblemFacts[Code] };
}[ProblemCode];

/**
 * One problem of one value, row or order. `field`: the column of the file or the JSON property, as the file names it; "" for
 * the complete row. `value`: as read, shortened. `rows`: of an order in doubt, the places of the rows that may belong to it.
 */
export type Problem = Fault & {
  line: number;
  pointer?: string;
  field: string;
  value: string;
  rows?: readonly string[];
};

/** Of an order that failed a check, where nothing says which one. */
export const UNEXPLAINED: Fault & { field: string } = { code: 'invalid', facts: {}, field: '' };

/** Codes that say that the ledger has the number, or the row, from another file. */
export function isKnownElsewhere({ code }: { code: string }): boolean {
  return code === 'number-known';
}
