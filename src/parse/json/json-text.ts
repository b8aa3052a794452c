import { jsonNumber } from '../../order/quantity.ts';
import { LIMITS } from '../limits.ts';
import type { Value } from '../record.ts';
import { cut, tooLarge, unreadable } from '../unreadable.ts';

const SPACE = /[ \t\r\n]*/y;
const LETTERS = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[\w.+-]*/y;
const WORDS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

type TextOptions = {
  /** Where the text begins. */
  line: number;
  /** Nothing can follow, so ending too early is a fault. */
  isWhole: boolean;
  /** The value is small and built while it is checked. */
  isBuilt: boolean;
};

/**
 * JSON (RFC 8259) in memory, of which only what is asked for is built, with numbers as they are written. Not
 * `JSON.parse`, which builds everything, keeps the last of two equal keys, does not say where a fault is, and is slower
 * when it must keep how numbers are written. PoSyncError `unreadable-json` with the place, also for a key that occurs
 * twice and for nesting beyond the limit; `unreadable-incomplete` for a text that ends too early;
 * `unreadable-too-large` for a value or an object beyond the limits. A value is named by where it begins.
 */
export class JsonText {
  /** The value of the text. */
  readonly root: number;
  readonly #text: string;
  readonly #options: TextOptions;
  /** The value of the text, if it is built at once. */
  readonly #whole: Value | undefined;
  #at = 0;
  #depth = 0;
  /** Where a value that is built must end; 0 while values are only checked. */
  #limit = 0;
  #line: number;
  #nextLineEnd: number;

  /** Checks all of it. */
  constructor(text: string, options: TextOptions) {
    this.#text = text;
    this.#options = options;
    this.#line = options.line;
    this.#nextLineEnd = text.indexOf('\n');
    this.#skip(SPACE);
    this.root = this.#at;
    const value = options.isBuilt ? this.#built() : this.#value();
    this.#whole = options.isBuilt ? value : undefined;
    this.#skip(SPACE);
    if (this.#at < text.length) throw this.#fault('something follows the end of the JSON');
  }

  /** How a value begins: `{`, `[`, or something else. */
  opens(value: number): string {
    return this.#text.charAt(value);
  }

  /** The keys of an object, each with its value. */
  entries(object: number): Map<string, number> {
    const entries = new Map<string, number>();
    this.#moveTo(object);
    this.#within(() => this.#object((key) => entries.set(key, this.#at)));
    return entries;
  }

  /** Whether a list has an object, or no element at all. */
  looksInto(list: number): 'objects' | 'nothing' | 'other' {
    let found: 'nothing' | 'other' = 'nothing';
    for (const element of this.#elements(list)) {
      if (this.opens(element) === '{') return 'objects';
      found = 'other';
      this.#value();
    }
    return found;
  }

  /** The elements of a list, built one after the other, each with its line. */
  *values(list: number): Generator<{ value: Value; line: number }> {
    for (const element of this.#elements(list)) {
      const line = this.#lineOf(element);
      yield { value: this.#built(), line };
    }
  }

  /** A value, built. */
  value(at: number): { value: Value; line: number } {
    if (at === this.root && this.#whole !== undefined)
      return { line: this.#lineOf(at), value: this.#whole };
    this.#moveTo(at);
    return { line: this.#lineOf(at), value: this.#built() };
  }

  #moveTo(at: number): void {
    this.#at = at;
    this.#depth = 0;
  }

  /** Whoever takes an element reads it before the next one. */
  *#elements(list: number): Generator<number> {
    this.#moveTo(list + 1);
    this.#skip(SPACE);
    if (this.#text[this.#at] === ']') return;
    do {
      this.#skip(SPACE);
      yield this.#at;
    } while (this.#hasNext(']'));
  }

  #built(): Value {
    this.#limit = this.#at + LIMITS.record;
    const value = this.#value();
    if (this.#at > this.#limit) throw this.#tooLarge('characters', LIMITS.record);
    this.#limit = 0;
    return value;
  }

  #value(): Value {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#within(() => this.#object());
      case '[':
        return this.#within(() => this.#list());
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #within<Container>(read: () => Container): Container {
    this.#depth += 1;
    if (this.#depth > LIMITS.depth) throw this.#fault(`nested deeper than ${LIMITS.depth} levels`);
    this.#at += 1;
    this.#skip(SPACE);
    const container = read();
    this.#at += 1;
    this.#depth -= 1;
    if (this.#limit > 0 && this.#at > this.#limit)
      throw this.#tooLarge('characters', LIMITS.record);
    return container;
  }

  /** Equal keys are found even if values are only checked. */
  #object(onKey?: (key: string) => void): Value {
    const object: Record<string, Value> = {};
    let keys = 0;
    if (this.#text[this.#at] === '}') return object;
    do {
      this.#skip(SPACE);
      if (this.#text[this.#at] !== '"') throw this.#expected('a key in double quotes');
      const start = this.#at;
      const key = this.#string();
      if (Object.hasOwn(object, key)) throw this.#fault(`the key ${cut(key)} occurs twice`, start);
      keys += 1;
      if (keys > LIMITS.cells) throw this.#tooLarge('keys', LIMITS.cells);
      this.#skip(SPACE);
      if (this.#text[this.#at] !== ':') throw this.#expected('a colon');
      this.#at += 1;
      this.#skip(SPACE);
      onKey?.(key);
      put(object, key, this.#value());
    } while (this.#hasNext('}'));
    return object;
  }

  #list(): Value {
    const list: Value[] = [];
    if (this.#text[this.#at] === ']') return list;
    do {
      this.#skip(SPACE);
      const value = this.#value();
      if (this.#limit === 0) continue;
      if (this.#at > this.#limit) throw this.#tooLarge('characters', LIMITS.record);
      list.push(value);
    } while (this.#hasNext(']'));
    return list;
  }

  /** Whether a comma follows instead of the end of the container. */
  #hasNext(end: '}' | ']'): boolean {
    this.#skip(SPACE);
    const found = this.#text[this.#at];
    if (found === end) return false;
    if (found !== ',') throw this.#expected(`a comma or ${end}`);
    this.#at += 1;
    return true;
  }

  #string(): string {
    const start = this.#at;
    let hasEscapes = false;
    this.#at += 1;
    for (;;) {
      this.#skip(LETTERS);
      const found = this.#text[this.#at];
      if (found === '"') break;
      if (found !== '\\') throw this.#expected('the end of a string');
      if (!this.#skip(ESCAPE)) throw this.#expectedEscape();
      hasEscapes = true;
    }
    this.#at += 1;
    if (!hasEscapes) return this.#text.slice(start + 1, this.#at - 1);
    return String(JSON.parse(this.#text.slice(start, this.#at)));
  }

  #scalar(): Value {
    const start = this.#at;
    if (this.#skip(NUMBER))
      return this.#limit === 0 ? null : jsonNumber(this.#text.slice(start, this.#at));
    this.#skip(WORD);
    const word = this.#text.slice(start, this.#at);
    const value = WORDS.get(word);
    if (value !== undefined) return value;
    const isCut = this.#at === this.#text.length && (word === '-' || isBeginning(word));
    if (!isCut) this.#at = start;
    throw this.#expected('a value');
  }

  /** Moves behind what matches here; whether anything does. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text) || pattern.lastIndex === this.#at) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** Places must rise from one call to the next. */
  #lineOf(at: number): number {
    while (this.#nextLineEnd >= 0 && this.#nextLineEnd < at) {
      this.#line += 1;
      this.#nextLineEnd = this.#text.indexOf('\n', this.#nextLineEnd + 1);
    }
    return this.#line;
  }

  #expectedEscape() {
    const rest = this.#text.slice(this.#at, this.#at + 6);
    if (/^\\(?:u[0-9a-fA-F]{0,3})?$/.test(rest)) this.#at = this.#text.length;
    return this.#expected('an escape of JSON');
  }

  #expected(what: string) {
    // A number that is cut is read up to its last digit: `1.`, `2e-`.
    const isCut = /^(?:\.|\.?\d*[eE][+-]?)$/.test(this.#text.slice(this.#at, this.#at + 20));
    if (isCut && /\d/.test(this.#text.charAt(this.#at - 1))) this.#at = this.#text.length;
    if (this.#at < this.#text.length || this.#options.isWhole)
      return this.#fault(`${what} is expected`);
    const lacks = `${what} at its end`;
    return unreadable({ code: 'incomplete', of: 'json', lacks, ...this.#placeOf(this.#at) });
  }

  #tooLarge(unit: string, limit: number) {
    const { line } = this.#placeOf(this.#at);
    const what = `A value of the JSON that ends on line ${line}`;
    return tooLarge(what, limit, unit, line);
  }

  #fault(reason: string, at = this.#at) {
    return unreadable({ code: 'json', reason, ...this.#placeOf(at) });
  }

  #placeOf(at: number) {
    const before = this.#text.slice(0, at);
    const line = this.#options.line + (before.match(/\n/g)?.length ?? 0);
    return { line, column: at - before.lastIndexOf('\n') };
  }
}

function isBeginning(word: string): boolean {
  return [...WORDS.keys()].some((one) => one.startsWith(word));
}

/** An assignment to `__proto__` would set the prototype. */
export function put(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value;
  else
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}
