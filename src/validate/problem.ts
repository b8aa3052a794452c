import { CONFIRMED } from '../order/fixing.ts';
import { LIMITS } from '../order/limits.ts';
import { otherReading } from '../order/other-reading.ts';
import {
  bothReadings,
  decimalHint,
  likelyCode,
  notANumberSentence,
  type QuantityFault,
} from '../order/quantity.ts';
import type { Doubt, Place, Problem } from '../order/record.ts';
import {
  characters,
  controlCharacterIn,
  escapeHidden,
  hiddenCharacterIn,
  isNothing,
  shorten,
  type TextFault,
} from '../order/text.ts';
import { encodingRemedy } from '../order/wrong-encoding.ts';
import { filledCells, skipRowsFor, type TotalLabel } from '../parse/csv/total-rows.ts';
import { wrongStateSentence } from './called-off-rules.ts';
import { calledOffSentence } from './said-beside.ts';

/** Everything that can be wrong with a record; the word is the problem's stable code. */
export type Fault =
  | TextFault
  | QuantityFault
  | 'not-text'
  | 'wrong-state'
  | 'too-few-fields'
  | 'too-many-fields'
  | 'not-an-object'
  | 'ambiguous-key'
  | 'no-items'
  | 'not-a-list'
  | 'too-many-items'
  | 'row-in-doubt'
  | 'cut-off'
  | 'encoding-unsure'
  | 'two-readings'
  | 'repeated-number'
  | 'repeated-row'
  | 'fix-row-twice'
  | 'fix-row-missing'
  | 'total-row'
  | 'called-off'
  | 'other-value'
  | 'nested'
  | 'other-order'
  | 'spreadsheet-rewrite';

/**
 * One thing wrong with one field, with a message that says how to correct it. `detail` is what the message shows where
 * that is not the value found.
 */
export function problemOf(
  fault: Fault,
  place: Place,
  field: string,
  value: string,
  detail = value,
): Problem {
  return {
    line: place.line,
    ...(place.pointer !== undefined && { pointer: place.pointer }),
    field,
    code: fault,
    value: shorten(value),
    // Only a table has a fix file in that form.
    message: sentence(fault, field, detail).replace(
      place.pointer === undefined ? '' : XLSX_FORM,
      '',
    ),
  };
}

/** The problem of a row that says more in other cells: what confirms the row confirms them, too. */
export function withOthers(
  problem: Problem,
  cells: readonly [name: string, value: string][],
): Problem {
  if (cells.length === 0) return problem;
  const named = cells
    .map(([name, value]) => `${JSON.stringify(shorten(value, 60))} in ${name}`)
    .join(' and ');
  return {
    ...problem,
    message: `${problem.message}. Look at ${named}, too: what confirms the row confirms that`,
  };
}

const XLSX_FORM =
  ' The .xlsx form of the fix file keeps what you enter; in the .csv form, it can be held again.';

/** The problems of a record of a fix file whose values have two readings. */
export function doubtProblems(
  doubts: readonly Doubt[] | undefined,
  { line, pointer = '' }: Place,
): Problem[] {
  return (doubts ?? []).map(({ field, value, readings, pointer: inner }) =>
    problemOf(
      'spreadsheet-rewrite',
      inner === undefined ? { line } : { line, pointer: pointer + inner },
      field,
      value,
      readings,
    ),
  );
}

/** Both readings of a row whose cells only count: `1,2,3`. */
export function columnNumbers(
  row: { place: Place; cells: readonly string[] },
  field: string,
  value: string,
) {
  const count = shorten(row.cells.map((cell) => cell.trim()).join(' '), 60);
  const message = `this row (${count}) can be an order, or only numbers the columns; remove it, or write ${CONFIRMED} into _error_check of the fix file if it is an order. For your operator: if the source always writes such a row, name it in skipRows`;
  return { ...problemOf('two-readings', row.place, field, value), message };
}

/** A row with the label of a totals row, and nothing else that can be ordered. */
export function totalsRow(
  row: { place: Place; cells: readonly string[] },
  field: string,
  total: TotalLabel,
): Problem {
  const message = `this row (${shorten(filledCells(row.cells), 60)}) looks like a totals row, but is not clearly the sum of those above; discard it, or complete it if it is an order. For your operator: ${skipRowsFor(total.label)}`;
  return { ...problemOf('total-row', row.place, field, total.label), message };
}
function sentence(fault: Fault, field: string, detail: string): string {
  switch (fault) {
    case 'missing':
    case 'too-long':
    case 'control-character':
    case 'hidden-character':
    case 'replacement-character':
    case 'not-normalized':
    case 'lone-surrogate':
    case 'spreadsheet-damage':
    case 'not-text':
    case 'wrong-state':
    case 'encoding-unsure':
    case 'two-readings':
      return textSentence(fault, detail);
    case 'not-a-number':
    case 'ambiguous-number':
    case 'not-whole':
    case 'not-positive':
    case 'too-large':
    case 'too-precise':
      return quantitySentence(fault, detail);
    case 'called-off':
      return calledOffSentence(field, detail);
    default:
      return shapeSentence(fault, detail);
  }
}

type TextLike = TextFault | 'not-text' | 'wrong-state' | 'encoding-unsure' | 'two-readings';

function textSentence(fault: TextLike, value: string): string {
  const shown = JSON.stringify(shorten(value, 60));
  switch (fault) {
    case 'missing':
      return value === '' ? 'is empty; enter a value' : `is missing; the object has ${value}`;
    case 'too-long':
      return `has ${characters(value)} characters; at most ${LIMITS.textLength} are allowed`;
    case 'control-character':
      return `contains the control character ${controlCharacterIn(value)}; ${encodingRemedy(value) ?? 'remove it'}`;
    case 'hidden-character':
      return `${shown} contains a character that cannot be seen, ${hiddenCharacterIn(value)}; enter the text again without it`;
    case 'replacement-character':
      return `${shown} contains U+FFFD, which a program wrote in place of a letter that it could not read; enter the original text`;
    case 'not-normalized':
      return `${shown} is written with ${characters(value)} characters, but looks the same with ${characters(value.normalize('NFC'))} (Unicode NFC); enter it again in that form`;
    case 'lone-surrogate':
      return 'contains half a character (a lone surrogate); enter the complete character';
    case 'spreadsheet-damage':
      return damageSentence(value, shown);
    case 'not-text':
      return notTextSentence(value, shown);
    case 'wrong-state':
      return wrongStateSentence(shown, value);
    case 'two-readings':
      return twoReadingsSentence(value);
    case 'encoding-unsure':
      return `can be read as ${value}, because the encoding of the file is not certain; enter the right value, or write ${CONFIRMED} into _error_check of the fix file if it is right as it is. If all files of the source are like this, ask your operator to set encoding in its mapping`;
  }
}

function twoReadingsSentence(value: string): string {
  const shown = escapeHidden(JSON.stringify(shorten(value, 60)));
  const { reading, why } = otherReading(value) ?? {
    reading: 'another text',
    why: 'it looks like it',
  };
  return `${shown} can be the text as it is, or ${shorten(reading, 80)}, because ${why}; enter the one that is meant, or write ${CONFIRMED} into _error_check of the fix file if it is right as it is. If the source always writes such texts, ask your operator to set otherReadings: allow in its mapping`;
}

function notTextSentence(value: string, shown: string): string {
  if (value.startsWith('[')) return `occurs several times (${shorten(value, 60)}); keep one value`;
  if (value.startsWith('{'))
    return `contains several values (${shorten(value, 60)}); name one of them in the mapping, such as name.inner`;
  return `${shown} is not text, and a program may have changed it; put it in quotes`;
}

/** Both readings of a value as spreadsheets damage it. */
function damageSentence(value: string, shown: string): string {
  if (isNothing(value))
    return `${shown} can be the text as it is, or what a program wrote because it had no value; enter the full value`;
  const [, inner] = /^="(.*)"$/s.exec(value) ?? [];
  if (inner !== undefined)
    return `${JSON.stringify(shorten(inner, 60))} is not plain text: a formula, a date, a number that its cell does not show exactly, or struck through; format the column as plain text and enter the full value, or remove the row`;
  const number = Number(value.replace(',', '.'));
  if (/^[+-]?[\d.,]+(?:e[+-]?\d+)?$/i.test(value) && Number.isFinite(number)) {
    const other = Math.abs(number) < 1e21 ? BigInt(Math.round(number)).toString() : String(number);
    return `${shown} can be the text as it is, or what a spreadsheet made of ${other}; format the column as text and enter the full value`;
  }
  return `${shown} is what a spreadsheet shows in place of a value; format the column as text and enter the full value`;
}

function quantitySentence(fault: Exclude<QuantityFault, 'missing'>, value: string): string {
  const shown = JSON.stringify(shorten(value.replace(/^="(.*)"$/s, '$1'), 60));
  switch (fault) {
    case 'not-a-number':
      return notANumberSentence(value, shown);
    case 'ambiguous-number': {
      const code = /^\d+$/.test(value) ? likelyCode(Number(value)) : undefined;
      if (code !== undefined)
        return `${shown} can be the quantity, or ${code}; enter the quantity, or write ${CONFIRMED} into _error_check of the fix file if it is right as it is`;
      return `${shown} can be read in two ways; ${bothReadings(value)}: ${CONFIRMED} does not say which one.${XLSX_FORM} For your operator: ${decimalHint(value)}`;
    }
    case 'not-whole':
      return `${shown} is not a whole number; enter a whole number. If fractions are right, ask your operator to set quantity: number in the mapping`;
    case 'not-positive':
      return `${shown} is not above zero; enter a number above zero. If the order is not wanted, discard it in the dashboard or ask your operator to do so`;
    case 'too-large':
      return `${shown} is too large; at most 15 digits are allowed`;
    case 'too-precise':
      return `${shown} has too many digits; at most 15 are allowed`;
  }
}

function shapeSentence(
  fault: Exclude<Fault, TextLike | QuantityFault | 'called-off'>,
  value: string,
): string {
  const shown = JSON.stringify(shorten(value, 60));
  switch (fault) {
    case 'too-few-fields':
      return `has fewer fields than the header (${value}); check for a missing delimiter or a line break within a field. For your operator: if it is a totals row, add its label to skipRows in the mapping`;
    case 'too-many-fields':
      return `has more fields than the header (${value}); put fields that contain the delimiter in quotes, or, in a spreadsheet, move each value into its column and clear the cells after the last one`;
    case 'not-an-object':
      return `${shown} is ${value.startsWith('[') ? 'a list of values, which is not supported' : 'not an order'}; an object with purchaseOrderNumber and items is needed`;
    case 'ambiguous-key':
      return `occurs more than once (${value}); keep one of the keys`;
    case 'no-items':
      return `has no items; at least one is required${value === '' || value === '[]' ? '' : `; the object has ${value}`}`;
    case 'not-a-list':
      return `is ${value}, not a complete list of items; put every item in one list, [ … ] in JSON, and correct the number of items if the file states it`;
    case 'row-in-doubt':
      return `a row of this order may be missing: ${value} and may belong to this order. If it does, as where cells were merged, correct it and enter the number of this order in it. If it does not, enter the number of its order, or discard it. Only if that row stays as it is and this order is complete without it, write ${CONFIRMED} into _error_check of its rows in the fix file`;
    case 'cut-off':
      return `${shown} may be only the beginning of the value: the file ends without a line end; drop the complete file again, or enter the complete value. For your operator: finalNewline: optional in the mapping accepts it`;
    case 'repeated-row':
      return `${value}: either the row was copied by mistake or corrected, or the item is ordered twice; remove one of the rows, or enter the sum of both quantities in one and remove the other. In a fix file, also write ${CONFIRMED} into _error_check of each remaining row of the order. For your operator: if both rows are always meant, set repeatedRows: allow in the mapping of the source`;
    case 'fix-row-twice':
      return `corrects the same order as the row at ${value}, from the same row or from another batch, so both would be sent; keep one of the rows, or clear the _error_ columns of a row that you added`;
    case 'total-row':
      return `${shown} can be a value, or the label of a totals row; discard it if it is a label. For your operator: set skipRows, or totalRows: allow if it is a value`;
    case 'other-value':
      return `${shown} can mean another value than the one that is sent: a unit of several pieces, or a corrected quantity, article or number; enter what is meant and clear this value, or write ${CONFIRMED} into _error_check of the fix file if the row is right as it is. For your operator: if such rows are always right, set otherReadings: allow in the mapping of the source`;
    case 'nested':
      return `contains another order or item at ${value}, which po-sync would not send; move it into the list of orders or items, or remove it`;
    case 'other-order':
      return `${shown} is another number than that of the order around the item; correct one of them, or move the item to its order`;
    case 'repeated-number':
      return `is also the number of another order in this file with different content (${value}); keep one of them`;
    case 'fix-row-missing':
      return `this order is not complete: ${value} in the fix file and ${value.endsWith(' more were in this order') ? 'are' : 'is'} not in this order now; enter the number of this order in that row, or add it again if it is gone. To order without it, write ${CONFIRMED} into _error_check of each row of this order`;
    case 'spreadsheet-rewrite':
      return `${value}; enter the correct value, or write ${CONFIRMED} into _error_check if it is right as it is`;
    case 'too-many-items':
      return `has ${value} items; at most ${LIMITS.items} are allowed`;
  }
}
