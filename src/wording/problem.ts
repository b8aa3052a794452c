import { counted } from '../core/format.ts';
import { batchTitle, fileTitle } from '../order/named-batch.ts';
import { firstItems } from '../order/order.ts';
import {
  type Origin,
  type OwnReason,
  type ProblemFacts,
  type Reason,
  type ResultFacts,
  saysOf,
  type ValueFacts,
} from '../order/problem.ts';
import { asText, type Sentence, sentence } from '../order/sentence.ts';

/** What a person does to send the values of a row as they are. */

/** What to do with an order whose number was sent with other items. */
export const NUMBER_TAKEN =
  'If this is the same order, discard it. If your file is newer than what was sent, agree on the change with the supplier: the API cannot change an order. Enter another number only if it really is another order.';

/** The same of a number whose order has no outcome yet. What was sent or is wrong is not decided before. */
const NUMBER_IN_PROGRESS =
  'Wait for the outcome of that order: nothing is sent twice. If it is accepted and is the same order, discard this one then. Enter another number only if it really is another order.';

type Facts = ProblemFacts & ResultFacts;
type Code = keyof Facts;
type Table = { readonly [Own in Code]: (facts: Facts[Own]) => string };

/** The sentence for each code. Of a value, its subject is the column. */
const SENTENCES: Table = {
  width: ({ cells, columns }) => `the row has ${counted(cells, 'cell')}, and the header ${columns}`,
  'line-break': () => 'contains a line break, which its column does not allow',
  'stray-quote': () =>
    'has text behind its closing quote: a quote in it may have taken the values beside it',
  'line-length': () => 'the line is longer than the declared widths together',
  'number-missing': () => 'is empty, and the row above has no number to repeat',
  'no-order-record': () => 'no order record is above this item record',
  'beside-damaged': ({ damaged }) => `the row on line ${damaged} may belong to it`,
  'named-by-damaged': () => 'a damaged row of the file has its number',
  condition: ({ send }) => `is not one of the values that are sent: ${list(send)}`,
  'two-values': ({ values }) => `has two values in one order: ${list(values)}`,
  'order-state': ({ state }) => `must be ${state}`,
  items: ({ fault }) =>
    fault === 'none'
      ? 'the order has no items'
      : fault === 'notAList'
        ? 'the items are not a list'
        : 'an item is not an object',
  'equal-rows': ({ first }) => `the row is equal to the one on line ${first}`,
  spelling: ({ spellings }) => `its rows spell its number differently: ${list(spellings)}`,
  'number-twice': ({ first }) => `its number is there again on line ${first}`,
  cut: () => 'the last line of the file has no line end: its last value may be cut',
  'too-many-rows': ({ rows }) => `the order has ${rows} rows, more than one order can have`,
  more: ({ problems }) => `there are ${counted(problems, 'more problem')}`,
  missing: () => 'is empty',
  long: () => 'has more than 256 characters',
  form: () => 'is not in the composed form of Unicode (NFC)',
  character: (facts) => `contains a character that is not allowed${inBrackets(facts)}`,
  space: (facts) => `contains white space that is not a single space${inBrackets(facts)}`,
  formula: () => 'begins with =, as a formula does',
  'sheet-error': () => 'is the error of a spreadsheet',
  exponent: () => 'is a number with an exponent, as spreadsheets write it',
  'no-digit': () => 'has no digit',
  unlike: () => 'is not as the mapping says (like)',
  struck: () => 'is struck through',
  format: () => 'has a number format that can hide what is stored: format the cell as text',
  date: ({ type }) => (type === 'date' ? 'is not a date' : 'is a date'),
  boolean: () => 'is true or false',
  error: () => 'is the error of a formula',
  'no-value': () => 'is a formula without a stored value',
  structure: () => 'is a list or an object, not a value',
  'not-a-number': () => 'is not a number',
  'ambiguous-number': () => 'can be read in two ways: declare decimal in the mapping',
  'not-whole': () => 'is not a whole number',
  'not-positive': () => 'is not above zero',
  'too-large': () => 'is too large',
  'too-precise': () => 'has more digits than can be sent exactly',
  'above-max': ({ max }) => `is more than ${max}`,
  'number-known': ({ state, from, items }) =>
    `this number is already ${state === 'accepted' ? 'accepted' : 'in progress'}${from ? ` from ${fileTitle(from)}` : " (found in the API's list)"}${items ? `, as ${firstItems(items)}` : ''}`,
  invalid: () => 'failed a check; the report shows which one when the batch is finished',
  duplicate: ({ from }) =>
    from === undefined
      ? 'the API already had this order'
      : `the same order is ${from === 'here' ? 'earlier in this file' : `in ${batchTitle(from)}`}`,
  'not-accepted': ({ isDiscarded, ...origin }) =>
    isDiscarded
      ? 'the same order was in another file, and was discarded'
      : `${SENTENCES.duplicate(origin)}, and is not accepted`,
  'known-invalid': ({ from }) =>
    `unchanged, and waits for a person${from ? ` in ${batchTitle(from)}` : ''}`,
  'known-settled': ({ from }) =>
    `unchanged, and needed a person before${from ? ` in ${batchTitle(from)}` : ''}; it was settled since`,
  'other-content': (facts) => `${conflictText(facts)} with different items, ${originText(facts)}`,
  'other-spelling': (facts) => `${conflictText(facts)} as ${facts.as}, ${originText(facts)}`,
  renumbered: (facts) => `${conflictText(facts)} as ${facts.as}, ${originText(facts)}`,
  'being-corrected': () => 'this number waits for a person, and is being corrected in another file',
  outdated: () =>
    'its rows were corrected, settled or sent elsewhere meanwhile: nothing of this correction was sent',
  cancelled: ({ isDoubted }) =>
    isDoubted
      ? "withdrawn: an attempt got no clear answer, and the API's list did not show the order"
      : 'withdrawn before it was sent',
  'created-twice': ({ times }) =>
    `the API's list shows this order ${times} times: it was created twice`,
  listed: ({ attempt, lost }) => `attempt ${attempt}: ${lost}; found in the API's list`,
};

const conflictText = ({ state }: ResultFacts['other-content']): string =>
  `this number is already ${state === 'accepted' ? 'accepted' : 'in progress'}`;

function originText({ from }: Origin): string {
  if (from === undefined) return "found in the API's list";
  return from === 'here' ? 'earlier in this file' : `from ${batchTitle(from)}`;
}

/** What a person does about it, where that is not to correct the value. */
const REMEDIES: Partial<Table> = {
  'number-known': ({ state }) => (state === 'accepted' ? NUMBER_TAKEN : NUMBER_IN_PROGRESS),
};

type ReasonOf<Own extends Code> = { code: Own; facts: Facts[Own] };

/** What is wrong, without the name of the column and without what to do. */
export function faultText<Own extends Code>({ code, facts }: ReasonOf<Own>): Sentence {
  return sentence(SENTENCES[code](facts));
}

/** What to do about it; "" for a value to correct. */
function remedyText<Own extends Code>({ code, facts }: ReasonOf<Own>): string {
  return REMEDIES[code]?.(facts) ?? '';
}

/** The same and what to do. */
export function problemText(problem: OwnReason & { field?: string }): Sentence {
  const remedy = remedyText(problem);
  return sentence(`${asText(shortText(problem))}${remedy && `. ${remedy}`}`);
}

/** Several problems, each once. `most` are shown, and all that say that the number is known. */
export function problemsText(
  problems: readonly (OwnReason & { field?: string })[],
  most = Number.POSITIVE_INFINITY,
): Sentence {
  const each = Map.groupBy(problems, (one) => asText(problemText(one)))
    .entries()
    .toArray();
  const first = each.filter(([, [one]], at) => at < most || one?.code === 'number-known');
  const more = each.length - first.length;
  const texts = first.map(([text]) => text);
  return sentence([...texts, ...(more > 0 ? [`and ${more} more`] : [])].join(' | '));
}

/** What is wrong, without what to do. Only values have a column. */
export function shortText({ field = '', ...reason }: OwnReason & { field?: string }): Sentence {
  return sentence(`${field}${field && ' '}${asText(faultText(reason))}`);
}

/** Why an order ended as it did: our sentence and what to do, or the words of whoever answered. */
export function reasonText(reason: Reason): Sentence {
  const { code, facts } = reason;
  const says = saysOf(reason);
  return says === undefined ? problemText({ code, facts } as OwnReason) : sentence(says);
}

/** `character`: as `U+202E`. */
function inBrackets({ character }: ValueFacts): string {
  return character === undefined ? '' : ` (${character})`;
}

function list(values: readonly string[]): string {
  return values.map((value) => (value === '' ? '(empty)' : JSON.stringify(value))).join(', ');
}
