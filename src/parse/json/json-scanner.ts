import { PoSyncError } from '../../core/errors.ts';
import { LIMITS } from '../../order/limits.ts';
import { pointerStep } from '../../order/text.ts';
import {
  characterAt,
  type Expected,
  endsBefore,
  endsWithin,
  notExpected,
  repeatedKey,
  scalarOf,
  tooDeep,
  tooLarge,
} from './json-faults.ts';
import {
  BYTE_ORDER_MARK,
  CONTINUES,
  isByteOrderMark,
  type Piece,
  PieceScanner,
  TOO_DEEP,
} from './json-piece.ts';
import { createLineCount, type JsonPlace, type LineCount, type Origin } from './line-count.ts';

/** An object or an array that is scanned from within. `mark` is the visitor's own. */
export type Frame = {
  isArray: boolean;
  mark: number;
  /** The current key of an object. */
  key: string;
  /** Values so far. */
  count: number;
  /** The visitor found what it looks for in it. */
  hasMatch: boolean;
  keys: Set<string>;
  place: JsonPlace;
  pointer: string;
};

/** A value begins. `parent` is the container around it; undefined at the top level. */
export type Start = Origin & {
  opens: '{' | '[' | undefined;
  byte: number;
  parent: Frame | undefined;
};

/** A complete value and where it begins. */
export type Value = Piece & Origin & { parent: Frame | undefined; bytes: number };

export type JsonVisitor = {
  /** A value begins. `text`: take it as it is; a number, of a container only: look into it, and mark it so. */
  begin(start: Start): 'text' | number;
  value(value: Value): void;
  /** A container that was looked into ended before `byte`. */
  end?(frame: Frame, byte: number): void;
};

const [TAB, LF, CR, BLANK, QUOTE, COMMA, COLON] = [9, 10, 13, 32, 34, 44, 58];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [91, 93, 123, 125];
/** What a number, `true`, `false` or `null` begins with. */
const LITERAL_STARTS = new Set(Buffer.from('-0123456789tfn'));
/** Keys of one object around the records. */
const MOST_KEYS = 100_000;

/**
 * Scans JSON (RFC 8259) in UTF-8. Containers around the records are read by the grammar; a record is only searched for
 * its end, so that it can be parsed at once. PoSyncError `unreadable-json`, `unreadable-repeated-key`,
 * `unreadable-json-depth`, or `unreadable-too-large` for a value beyond the limit of a record.
 */
export class JsonScanner {
  readonly #visitor: JsonVisitor;
  readonly #lines: LineCount;
  readonly #piece = new PieceScanner();
  readonly #stack: Frame[] = [];
  #expected: Expected = 'value';
  readonly #pointer: string;
  #open: (Origin & { byte: number; isKey: boolean }) | undefined;
  #offset = 0;

  constructor(
    visitor: JsonVisitor,
    { place, pointer }: Origin = { place: { line: 1, column: 1 }, pointer: '' },
  ) {
    this.#visitor = visitor;
    this.#lines = createLineCount(place);
    this.#pointer = pointer;
  }

  /** The next complete characters of the content. */
  write(chunk: Buffer): void {
    this.#lines.add(chunk, this.#offset);
    let at = this.#open === undefined ? 0 : this.#advance(chunk, 0);
    while (at < chunk.length) {
      const byte = chunk[at] ?? 0;
      at =
        byte === COMMA || byte <= BLANK ? this.#passOver(byte, at) : this.#token(byte, chunk, at);
    }
    this.#offset += chunk.length;
  }

  end(): void {
    const open = this.#open;
    if (open !== undefined) {
      const piece = this.#piece.take(NOTHING, 0, 0);
      if (!this.#piece.isLiteral)
        throw withinOpen(piece.text, open, true) ?? endsWithin(open.place);
      this.#finish(open, piece, piece.text.length);
    }
    const last = this.#stack.at(-1);
    if (last !== undefined) throw endsBefore(last.isArray, last.place);
  }

  /** A comma or white space; the index behind it. */
  #passOver(byte: number, at: number): number {
    if (byte === BLANK || byte === LF || byte === CR || byte === TAB) return at + 1;
    const parent = this.#stack.at(-1);
    if (byte !== COMMA || parent === undefined || this.#expected !== 'comma or end')
      throw this.#unexpected(at, String.fromCharCode(byte));
    this.#expected = parent.isArray ? 'value' : 'key';
    return at + 1;
  }

  /** The index behind the token, or behind the value that begins with it. */
  #token(byte: number, chunk: Buffer, at: number): number {
    if (this.#stack.length === 0 && isByteOrderMark(chunk, at)) return at + BYTE_ORDER_MARK.length;
    switch (byte) {
      case OBJECT:
      case ARRAY:
        return this.#enter(byte === OBJECT ? '{' : '[', chunk, at);
      case OBJECT_END:
      case ARRAY_END:
        return this.#leave(byte === ARRAY_END, at);
      case COLON:
        if (this.#expected !== 'colon') throw this.#unexpected(at, ':');
        this.#expected = 'value';
        return at + 1;
      default:
        return this.#scalar(byte, chunk, at);
    }
  }

  #scalar(byte: number, chunk: Buffer, at: number): number {
    const isKey = this.#expected === 'key' || this.#expected === 'key or end';
    if (byte !== QUOTE && (isKey || !LITERAL_STARTS.has(byte)))
      throw this.#unexpected(at, characterAt(chunk, at));
    const start = this.#startOf(undefined, at);
    if (!isKey) {
      this.#requireValue(chunk, at);
      this.#visitor.begin(start);
    }
    return this.#start(chunk, at, start, isKey);
  }

  #enter(opens: '{' | '[', chunk: Buffer, at: number): number {
    this.#requireValue(chunk, at);
    const start = this.#startOf(opens, at);
    const mark = this.#visitor.begin(start);
    if (mark === 'text') return this.#start(chunk, at, start, false);
    if (this.#stack.length >= LIMITS.jsonDepth) throw tooDeep(start.place);
    const { place, pointer } = start;
    const isArray = opens === '[';
    this.#stack.push({
      isArray,
      mark,
      key: '',
      count: 0,
      hasMatch: false,
      keys: new Set(),
      place,
      pointer,
    });
    this.#expected = isArray ? 'value or end' : 'key or end';
    return at + 1;
  }

  #leave(isArray: boolean, at: number): number {
    const frame = this.#stack.at(-1);
    const isDue =
      this.#expected === 'comma or end' ||
      this.#expected === (isArray ? 'value or end' : 'key or end');
    if (frame?.isArray !== isArray || !isDue) throw this.#unexpected(at, isArray ? ']' : '}');
    this.#stack.pop();
    this.#visitor.end?.(frame, this.#offset + at + 1);
    this.#ended();
    return at + 1;
  }

  #start(chunk: Buffer, at: number, { place, pointer, byte }: Start, isKey: boolean): number {
    this.#open = { place, pointer, byte, isKey };
    this.#piece.begin(LITERAL_STARTS.has(chunk[at] ?? 0), LIMITS.jsonDepth - this.#stack.length);
    return this.#advance(chunk, at);
  }

  /** Continues the open value; the index behind it, or the chunk's end. */
  #advance(chunk: Buffer, from: number): number {
    const open = this.#open;
    if (open === undefined) return from;
    const end = this.#piece.scan(chunk, from);
    if (end === TOO_DEEP) throw tooDeep(open.place);
    const bytes = this.#offset + (end === CONTINUES ? chunk.length : end) - open.byte;
    if (bytes > LIMITS.recordBytes)
      throw (
        withinOpen(this.#piece.take(NOTHING, 0, 0).text, open, false) ?? tooLarge(open.place.line)
      );
    if (end === CONTINUES) return chunk.length;
    this.#finish(open, this.#piece.take(chunk, from, end), bytes);
    return end;
  }

  #finish(
    { place, pointer, isKey }: Origin & { isKey: boolean },
    piece: Piece,
    bytes: number,
  ): void {
    const parent = this.#stack.at(-1);
    this.#open = undefined;
    if (isKey) {
      this.#nameKey(piece.text, place, parent);
      return;
    }
    const { text, colons, hasFraction } = piece;
    this.#visitor.value({ text, colons, hasFraction, place, pointer, parent, bytes });
    this.#ended();
  }

  #nameKey(text: string, place: JsonPlace, frame: Frame | undefined): void {
    const key = scalarOf(text, place);
    if (frame === undefined || typeof key !== 'string')
      throw notExpected(place, text, this.#expected);
    if (frame.keys.has(key)) throw repeatedKey(place, key, frame.pointer);
    if (frame.keys.size >= MOST_KEYS) throw tooLarge(frame.place.line);
    frame.keys.add(key);
    frame.key = key;
    this.#expected = 'colon';
  }

  #ended(): void {
    const parent = this.#stack.at(-1);
    if (parent) parent.count += 1;
    this.#expected = parent ? 'comma or end' : 'value';
  }

  #startOf(opens: Start['opens'], at: number): Start {
    const byte = this.#offset + at;
    const parent = this.#stack.at(-1);
    return {
      opens,
      byte,
      place: this.#lines.placeOf(byte),
      pointer: this.#pointerIn(parent),
      parent,
    };
  }

  /** JSON pointer of the current value of a container. */
  #pointerIn(parent: Frame | undefined): string {
    if (parent === undefined) return this.#pointer;
    return parent.pointer + (parent.isArray ? `/${parent.count}` : pointerStep(parent.key));
  }

  #requireValue(chunk: Buffer, at: number): void {
    if (this.#expected === 'value' || this.#expected === 'value or end') return;
    throw this.#unexpected(at, characterAt(chunk, at));
  }

  #unexpected(at: number, found: string) {
    return notExpected(this.#lines.placeOf(this.#offset + at), found, this.#expected);
  }
}

const NOTHING = Buffer.alloc(0);

/** What is wrong within an object or array that did not end. */
function withinOpen(text: string, origin: Origin, isWhole: boolean): PoSyncError | undefined {
  return text[0] === '{' || text[0] === '[' ? faultIn(text, origin, isWhole) : undefined;
}

/** What is wrong with a text that is not JSON, or has a key twice; `isWhole`: it ends where the text ends. */
export function faultIn(text: string, origin: Origin, isWhole: boolean): PoSyncError | undefined {
  const value = (scalar: Value) => void scalarOf(scalar.text, scalar.place);
  const scanner = new JsonScanner({ begin: () => 0, value }, origin);
  try {
    scanner.write(Buffer.from(text));
    if (isWhole) scanner.end();
    return undefined;
  } catch (error) {
    if (error instanceof PoSyncError) return error;
    throw error;
  }
}
