import { toError } from '../../core/errors.ts';
import { parseExactly } from '../../order/quantity.ts';
import { LIMITS } from '../limits.ts';
import type { Value } from '../record.ts';
import { cut, tooLarge, unreadable } from '../unreadable.ts';

/** A value in a text: where it begins and ends. `colons`: inside it, one for each key. */
export type Piece = { at: number; end: number; colons: number };

/** A piece of an object, with its key and where that begins, or of a list. */
type Part = Piece & { key: string; keyAt: number };

const SPACE = /[ \t\r\n]*/y;
const MARK = /["{}[\],:]/g;
/** A number that a double may change, or such text in a string. */
const NUMBER = /(?:^|[\s:,[])(-?\d+[.eE][\d.eE+-]*|-0|-?\d{16,})/g;

/**
 * JSON (RFC 8259) in memory, split at its marks, so that one value at a time is parsed and its place is known. `line`: of
 * its first character; `isWhole`: nothing can follow it. PoSyncError `unreadable-json` with the place, also for a key that
 * occurs twice and for nesting beyond the limit; `unreadable-incomplete` for a text that ends too early;
 * `unreadable-too-large` for a value beyond the limit.
 */
export class JsonText {
  /** The value of the text. */
  readonly root: Piece;
  readonly #text: string;
  readonly #first: number;
  readonly #isWhole: boolean;
  #line: number;
  #nextLineEnd: number;

  constructor(text: string, { line, isWhole }: { line: number; isWhole: boolean }) {
    this.#text = text;
    this.#first = line;
    this.#isWhole = isWhole;
    this.#line = line;
    this.#nextLineEnd = text.indexOf('\n');
    this.root = this.#pieceFrom(0);
    if (this.root.end < text.length) throw this.#unexpected(this.root.end);
  }

  /** How a value begins: `{`, `[`, or something else. */
  opens({ at }: Piece): string {
    return this.#text.charAt(at);
  }

  /** The values in an object or a list. */
  *parts(container: Piece): Generator<Part> {
    const isObject = this.opens(container) === '{';
    let at = this.#spaceFrom(container.at + 1);
    const close = isObject ? '}' : ']';
    if (this.#text[at] !== close)
      for (;;) {
        const keyAt = this.#spaceFrom(at);
        const colon = isObject ? this.#colonFrom(keyAt) : at - 1;
        const key = isObject ? JSON.parse(this.#text.slice(keyAt, colon)) : '';
        const piece = this.#pieceFrom(colon + 1);
        yield { ...piece, key, keyAt };
        at = piece.end;
        if (this.#text[at] !== ',') break;
        at += 1;
      }
    if (this.#text[at] !== close) throw this.#unexpected(at);
    at = this.#spaceFrom(at + 1);
    if (at !== container.end) throw this.#unexpected(at);
  }

  /** A value and its line. Places must rise from one call to the next. */
  value(piece: Piece): { value: Value; line: number } {
    const line = this.#lineOf(piece.at);
    const { length } = this.#text;
    if (piece.end - piece.at > LIMITS.record)
      throw piece.end === length && piece !== this.root
        ? this.#unexpected(length)
        : tooLarge(`The value on line ${line}`, LIMITS.record, 'characters', line);
    return { value: this.checked(piece), line };
  }

  /** A value of any size. */
  checked(piece: Piece): Value {
    const text = this.#text.slice(piece.at, piece.end);
    let value: Value;
    try {
      value = (hasOddNumber(text) ? parseExactly(text) : JSON.parse(text)) as Value;
    } catch {
      throw this.#unexpected(piece.at + rightUntil(text));
    }
    if (keysIn(value) !== piece.colons) throw this.#twice(piece) ?? this.#unexpected(piece.at);
    return value;
  }

  /** The fault of a key that occurs twice in one object. */
  #twice(container: Piece): Error | undefined {
    const keys = new Set<string>();
    for (const part of this.parts(container)) {
      if (this.opens(container) === '{' && keys.has(part.key)) return this.twice(part);
      keys.add(part.key);
      const inside = part.colons > 0 ? this.#twice(part) : undefined;
      if (inside !== undefined) return inside;
    }
    return undefined;
  }

  /** The fault of a key that is there already. */
  twice({ key, keyAt }: Part) {
    return this.#fault(`the key ${cut(key)} occurs twice`, keyAt);
  }

  /** The value from here on, up to a mark that is not its own: a colon only where it is a key. */
  #pieceFrom(from: number, isKey = false): Piece {
    const text = this.#text;
    const at = this.#spaceFrom(from);
    let depth = 0;
    let colons = 0;
    MARK.lastIndex = at;
    while (MARK.test(text)) {
      const end = MARK.lastIndex - 1;
      const mark = text[end];
      if (mark === '"') MARK.lastIndex = endOfString(text, end);
      else if (mark === ':' && !(isKey && depth === 0)) colons += 1;
      else if (mark === '{' || mark === '[') {
        depth += 1;
        if (depth > LIMITS.depth)
          throw this.#fault(`nested deeper than ${LIMITS.depth} levels`, end);
      } else if (depth === 0) return { at, end, colons };
      else if (mark !== ',') depth -= 1;
    }
    return { at, end: text.length, colons };
  }

  #colonFrom(at: number): number {
    const piece = this.#pieceFrom(at, true);
    if (typeof this.checked(piece) !== 'string') throw this.#unexpected(at);
    if (this.#text[piece.end] !== ':') throw this.#unexpected(piece.end);
    return piece.end;
  }

  #spaceFrom(at: number): number {
    SPACE.lastIndex = at;
    SPACE.test(this.#text);
    return SPACE.lastIndex;
  }

  #lineOf(at: number): number {
    while (this.#nextLineEnd >= 0 && this.#nextLineEnd < at) {
      this.#line += 1;
      this.#nextLineEnd = this.#text.indexOf('\n', this.#nextLineEnd + 1);
    }
    return this.#line;
  }

  #unexpected(at: number) {
    const found = this.#text.slice(at, at + 1);
    if (found !== '' || this.#isWhole)
      return this.#fault(
        found === '' ? 'it ends too early' : `${JSON.stringify(found)} is not expected`,
        at,
      );
    return unreadable({
      code: 'incomplete',
      of: 'json',
      lacks: 'the rest of the JSON',
      ...this.#placeOf(at),
    });
  }

  #fault(reason: string, at: number) {
    return unreadable({ code: 'json', reason, ...this.#placeOf(at) });
  }

  #placeOf(at: number) {
    const before = this.#text.slice(0, at);
    const line = this.#first + (before.match(/\n/g)?.length ?? 0);
    return { line, column: at - before.lastIndexOf('\n') };
  }
}

/** Behind the quote that ends a string; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Whether `JSON.parse` changes how a number is written. */
function hasOddNumber(text: string): boolean {
  for (const [, number = ''] of text.matchAll(NUMBER))
    if (String(Number(number)) !== number) return true;
  return false;
}

function keysIn(value: Value): number {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return 0;
  const inside: readonly Value[] = Array.isArray(value) ? value : Object.values(value);
  let keys = inside === value ? 0 : inside.length;
  for (const one of inside) keys += keysIn(one);
  return keys;
}

/** How much of a text that is no JSON more text could make JSON. */
function rightUntil(text: string): number {
  const named = namedPlace(text);
  if (named !== undefined || text.length > LIMITS.record) return named ?? 0;
  let [right, wrong] = [0, text.length];
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (namedPlace(text.slice(0, middle)) === middle) right = middle;
    else wrong = middle;
  }
  return right;
}

/** The place of the fault that the platform names, at the end where it lacks more; not every fault has one. */
function namedPlace(text: string): number | undefined {
  try {
    JSON.parse(text);
    return text.length;
  } catch (error) {
    const { message } = toError(error);
    if (message.startsWith('Unexpected end')) return text.length;
    // Only at the end: before it, the message may quote the text.
    const at = /position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
    return at === undefined ? undefined : Number(at);
  }
}
