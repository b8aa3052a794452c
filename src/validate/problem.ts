import { controlCharacterIn } from '../order/hidden-characters.ts';
import { LIMITS } from '../order/limits.ts';
import type { Place } from '../order/place.ts';
import type { QuantityFault } from '../order/quantity.ts';
import type { Problem } from '../order/record.ts';
import { characters, shorten, type TextFault } from '../order/text.ts';

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
  | 'row-in-doubt';

/**
 * One thing wrong with one field, with the sentence that says what would be right. `detail` stands in the sentence
 * where that is not about the value found.
 */
export function problemOf(fault: Fault, place: Place, field: string, value: string, detail = value): Problem {
  return {
    line: place.line,
    ...(place.pointer !== undefined && { pointer: place.pointer }),
    field,
    code: fault,
    value: shorten(value),
    message: sentence(fault, detail),
  };
}

function sentence(fault: Fault, value: string): string {
  const shown = JSON.stringify(shorten(value, 60));
  switch (fault) {
    case 'missing':
      return value === '' ? 'is empty; a value is needed' : `is not there; the object has ${value}`;
    case 'too-long':
      return `has ${characters(value)} characters; at most ${LIMITS.textLength} are allowed`;
    case 'control-character':
      return `has the control character ${controlCharacterIn(value)}; only printable characters are allowed`;
    case 'lone-surrogate':
      return 'has half a character (a lone surrogate); write the whole character';
    case 'spreadsheet-damage':
      return `${shown} looks damaged by a spreadsheet; format the column as text and enter the full value again`;
    case 'not-text':
      return `${shown} is not a text; write it in quotes`;
    case 'wrong-state':
      return `${shown} is no state an order can be created in; write NEW`;
    case 'not-a-number':
      return `${shown} is not a number; write digits only, such as 12`;
    case 'ambiguous-number':
      return `${shown} can be read in two ways; ${readings(value)}, or set decimal in the mapping of the source`;
    case 'not-whole':
      return `${shown} is not a whole number; write a whole number, or set quantity: number in the mapping`;
    case 'not-positive':
      return `${shown} is not above zero; write a number above zero`;
    case 'too-large':
      return `${shown} is too large; at most 15 digits are allowed`;
    case 'too-precise':
      return `${shown} has more digits than can be kept; at most 15 are allowed`;
    case 'too-few-fields':
      return `has fewer fields than the header (${value}); check for a missing delimiter or a line break within a field`;
    case 'too-many-fields':
      return `has more fields than the header (${value}); put fields that hold the delimiter in quotes`;
    case 'not-an-object':
      return `${shown} is not an order; an object with purchaseOrderNumber and items is needed`;
    case 'ambiguous-key':
      return `stands there more than once (${value}); keep one of the keys`;
    case 'no-items':
      return `has no items; at least one is needed${value === '' || value === '[]' ? '' : `; the object has ${value}`}`;
    case 'not-a-list':
      return `${shown} is not a list of items; write [ … ]`;
    case 'row-in-doubt':
      return `may lack a row: line ${value} has the wrong number of fields and may belong to this order; mend that row`;
    case 'too-many-items':
      return `has ${value} items; at most ${LIMITS.items} are allowed`;
  }
}

/** `1,000` is 1000 or 1; `1.234` is 1234 or 1.234. */
function readings(value: string): string {
  const [, before = '', behind = ''] = /^[+-]?(\d+)[.,](\d+)/.exec(value) ?? [];
  const fraction = behind.replace(/0+$/, '');
  return `write ${before}${behind} or ${fraction === '' ? before : `${before} followed by the fraction ${fraction}`}`;
}
