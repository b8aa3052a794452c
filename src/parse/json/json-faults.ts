import { LIMITS } from '../../order/limits.ts';
import { shorten } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import type { JsonPlace } from './line-count.ts';

/** The tokens that the grammar allows next. */
export type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';

const AGAIN = 'Drop the complete file again.';

export function notExpected({ line, column }: JsonPlace, found: string, expected: Expected) {
  const shown = JSON.stringify(shorten(found, 20));
  const message = `Line ${line}, column ${column}: ${shown} where ${sayExpected(expected)} is expected.`;
  return unreadable('json', message, { line, column }, remedyOf(found[0] ?? '', expected));
}

function remedyOf(found: string, expected: Expected): string {
  if ((found === '}' || found === ']') && (expected === 'value' || expected === 'key'))
    return 'Remove the comma before it.';
  if (expected === 'comma or end' && /["[{\w-]/.test(found))
    return 'Check for a comma or a quote that is missing before it.';
  if (found === "'" || found === '\u201c' || found === '\u201d')
    return 'Write strings and keys in straight double quotes (").';
  if (found === '/' || found === '#') return 'Remove the comment: JSON has no comments.';
  if (/[A-Za-z_$+.]/.test(found))
    return `Write ${expected.startsWith('key') ? 'keys' : 'strings'} in double quotes. The only words of JSON are true, false and null; it has no NaN.`;
  return 'Correct the file there, or have its program write JSON.';
}

function sayExpected(expected: Expected): string {
  switch (expected) {
    case 'value':
    case 'value or end':
      return 'a value';
    case 'key':
    case 'key or end':
      return 'a key in double quotes';
    case 'colon':
      return '":"';
    case 'comma or end':
      return '"," or the end';
  }
}

export function repeatedKey({ line, column }: JsonPlace, key: string, pointer: string) {
  const message = `Line ${line}, column ${column}: the key ${JSON.stringify(shorten(key))} occurs twice.`;
  return unreadable('repeated-key', message, { line, column, pointer }, 'Keep one of them.');
}

export function tooDeep({ line }: JsonPlace) {
  const message = `Line ${line} nests deeper than ${LIMITS.jsonDepth} levels.`;
  return unreadable(
    'json-depth',
    message,
    { line, limit: LIMITS.jsonDepth },
    'Write the orders as a plain list.',
  );
}

/** A record, or a single text, beyond the limit. */
export function tooLarge(line: number) {
  const message = `The value that begins on line ${line} is longer than ${LIMITS.recordBytes} bytes.`;
  const remedy =
    'Check for a quote or a bracket that is never closed; if the order is that large, split it.';
  return unreadable('too-large', message, { line, limit: LIMITS.recordBytes }, remedy);
}

export function endsWithin({ line, column }: JsonPlace) {
  const message = `The file ends in the middle of the value that begins on line ${line}, column ${column}.`;
  return unreadable('json', message, { line, column }, AGAIN);
}

export function endsBefore(isArray: boolean, { line }: JsonPlace) {
  const message = `The file ends before the ${isArray ? 'array' : 'object'} that begins on line ${line} is closed.`;
  return unreadable('json', message, { line }, AGAIN);
}

const ONE_LIST =
  'Use an object that contains no other list. For your operator: or set records in the mapping to the path of the orders.';
const ROWS_AS_OBJECTS =
  'Write a list of objects, each with its keys: [{"purchaseOrderNumber": "4711", "articleCode": "A", "quantity": 1}].';
const ORDERS_AS_LIST =
  'Write a list of objects, each with its number as a value: [{"purchaseOrderNumber": "4711", "items": [ … ]}].';

/** `rows`: the name of one whose elements are arrays. */
export function severalLists(names: readonly string[], line: number, rows: string | undefined) {
  const keys = names.map((name) => JSON.stringify(name)).join(' and ');
  const [why, remedy] =
    rows !== undefined
      ? [
          ` The rows in ${JSON.stringify(rows)} are lists of values, which are not supported.`,
          ROWS_AS_OBJECTS,
        ]
      : names.every((name) => /^\p{L}{0,3}[-_ ]?\d/u.test(name))
        ? [' Orders whose numbers are keys are not supported.', ORDERS_AS_LIST]
        : ['', ONE_LIST];
  return unreadable(
    'json-shape',
    `The object of the file contains several arrays: ${keys}.${why}`,
    { line },
    remedy,
  );
}

/** A second value where the file may have one only. */
export function continues(line: number) {
  const message = `Line ${line}: the file has more data after its JSON value.`;
  return unreadable(
    'json',
    message,
    { line },
    'Use one array of orders, or one order per line (NDJSON).',
  );
}

/** The value of a string, number, `true`, `false` or `null`; PoSyncError with the place of what is none. */
export function scalarOf(text: string, { line, column }: JsonPlace): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const at = faultIn(text);
    const place = { line, column: column + Buffer.byteLength(text.slice(0, at)) };
    const found = JSON.stringify(shorten(text.slice(at, at + 20), 20));
    const remedy = text.startsWith('"')
      ? 'Write line ends, tabs and backslashes within a string as \\n, \\t and \\\\.'
      : 'Write a number as in 12, 1.5 or -3, and every string in double quotes.';
    throw unreadable(
      'json',
      `Line ${line}, column ${place.column}: ${found} is not expected there.`,
      place,
      remedy,
    );
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const IN_STRING = /[\0-\x1f]|\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})/;
const WORDS = ['true', 'false', 'null'];

/** The index of the first character that a scalar cannot have there. */
function faultIn(text: string): number {
  if (text.startsWith('"')) return Math.max(0, text.search(IN_STRING));
  const word = WORDS.find((one) => one[0] === text[0]);
  if (word === undefined) return NUMBER.exec(text)?.[0].length ?? 0;
  return Math.max(
    0,
    Array.from(text).findIndex((letter, index) => letter !== word[index]),
  );
}

/** The character that begins at a byte, for a message. */
export function characterAt(chunk: Buffer, at: number): string {
  return Array.from(chunk.toString('utf8', at, at + 4))[0] ?? '';
}
