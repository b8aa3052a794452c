import { LIMITS } from '../../order/limits.ts';
import type { RawNumber } from '../../order/quantity.ts';
import { pointerStep } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { type JsonLayout, type Role, roleOf } from './json-layout.ts';
import { createJsonTokens, type JsonToken, tooLarge } from './json-tokens.ts';

/** One value that is an order, with its place; `bytes` is its length in UTF-8. */
export type JsonRecord = { line: number; pointer: string; value: unknown; bytes: number };

/** What the first pass wants to know of a file besides its orders. */
export type JsonWatch = {
  /** A value at the file's top level begins. */
  onRoot?(opens: '{' | '[' | undefined, byte: number, line: number): void;
  /** A key of an object at the top level, with what its value opens. */
  onRootKey?(key: string, opens: '{' | '[' | undefined): void;
  /** A value of an object at the top level that is no order; "" as the key of the value at the top level itself. */
  onRootValue?(key: string, value: unknown): void;
  /** The value at the top level ended before `byte`. */
  onRootEnd?(byte: number): void;
};

export type JsonParser = {
  /** The orders that end within this chunk. */
  write(chunk: Buffer): JsonRecord[];
  end(): JsonRecord[];
  /** Line of an object or array within a record, where it is another than the record's. */
  lineOf(container: object): number | undefined;
};

type Value = string | boolean | null | number | RawNumber | object;

/** A container that is open. `value` is what is built of it; absent around records. */
type Frame = {
  isArray: boolean;
  value: unknown[] | Record<string, unknown> | undefined;
  keys: Set<string> | undefined;
  key: string;
  count: number;
  role: Role | 'within';
  line: number;
};

/** The tokens that the grammar allows next. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';

/**
 * Splits a JSON file into its orders, one at a time, in constant memory. PoSyncError `unreadable-json` for
 * what is not JSON, a key that occurs twice in one object, or nesting beyond the limit; `unreadable-too-large` for a
 * record beyond the limit. `__proto__` is a key like any other.
 */
export function createJsonParser(layout: JsonLayout | 'unknown', watch: JsonWatch = {}): JsonParser {
  const tokens = createJsonTokens(take);
  const stack: Frame[] = [];
  const lines = new WeakMap<object, number>();
  let records: JsonRecord[] = [];
  let expected: Expected = 'value';
  /** The current record, or a value next to records. Both are built, so both are bounded. */
  let built: { byte: number; line: number; pointer: string } | undefined;

  function take(token: JsonToken): void {
    if (built && token.byte - built.byte > LIMITS.recordBytes) throw tooLarge(built.line);
    const frame = stack.at(-1);
    switch (token.kind) {
      case '{':
      case '[':
        open(token.kind, token.byte, frame);
        return;
      case '}':
      case ']':
        close(token, frame);
        return;
      case ',':
        if (frame === undefined || expected !== 'comma or end') throw unexpected(token);
        expected = frame.isArray ? 'value' : 'key';
        return;
      case ':':
        if (expected !== 'colon') throw unexpected(token);
        expected = 'value';
        return;
      case 'value':
        scalar(token, frame);
    }
  }

  function scalar(token: JsonToken & { kind: 'value' }, frame: Frame | undefined): void {
    if (expected === 'key' || expected === 'key or end') {
      if (typeof token.value !== 'string' || frame === undefined) throw unexpected(token);
      nameKey(token.value, token.byte, frame);
      return;
    }
    requireValue(token, frame);
    const role = begin(undefined, token.byte, frame);
    finish(token.value, role, token.byte, frame);
  }

  function nameKey(key: string, byte: number, frame: Frame): void {
    const isRepeated = frame.value ? Object.hasOwn(frame.value, key) : frame.keys?.has(key);
    if (isRepeated === true) {
      const place = tokens.placeOf(byte);
      const message = `Line ${place.line}, column ${place.column}: the key ${JSON.stringify(key)} occurs twice.`;
      throw unreadable('repeated-key', message, { ...place, pointer: pointerHere() }, 'Keep one of them.');
    }
    frame.keys?.add(key);
    frame.key = key;
    expected = 'colon';
  }

  function open(kind: '{' | '[', byte: number, frame: Frame | undefined): void {
    requireValue({ kind, byte }, frame);
    const line = tokens.lineOf(byte);
    if (stack.length >= LIMITS.jsonDepth) {
      const facts = { line, limit: LIMITS.jsonDepth };
      throw unreadable('json-depth', `Line ${line} nests deeper than ${LIMITS.jsonDepth} levels.`, facts);
    }
    const role = begin(kind, byte, frame);
    const isArray = kind === '[';
    const value = role === 'around' ? undefined : isArray ? [] : {};
    if (value && built && built.line !== line) lines.set(value, line);
    stack.push({
      isArray,
      value,
      keys: role === 'around' && !isArray ? new Set() : undefined,
      key: '',
      count: 0,
      role,
      line,
    });
    expected = isArray ? 'value or end' : 'key or end';
  }

  function close(token: JsonToken, frame: Frame | undefined): void {
    const isRight = frame?.isArray === (token.kind === ']');
    const isDue = expected === 'comma or end' || expected === (frame?.isArray ? 'value or end' : 'key or end');
    if (frame === undefined || !isRight || !isDue) throw unexpected(token);
    stack.pop();
    finish(frame.value ?? null, frame.role, token.byte + 1, stack.at(-1));
  }

  /** A value begins: says what it is, and where what is built of it begins. */
  function begin(opens: '{' | '[' | undefined, byte: number, frame: Frame | undefined): Role | 'within' {
    if (built) return 'within';
    const line = tokens.lineOf(byte);
    if (stack.length === 0) watch.onRoot?.(opens, byte, line);
    const rootKey = stack[0]?.key ?? '';
    if (stack.length === 1 && frame?.isArray === false) watch.onRootKey?.(rootKey, opens);
    const role = roleOf({ depth: stack.length, isInArray: frame?.isArray === true, rootKey, opens }, layout);
    if (role !== 'around') built = { byte, line, pointer: pointerHere() };
    return role;
  }

  /** A value ended before `byte`: it goes into its container, or out as a record. */
  function finish(value: Value, role: Role | 'within', byte: number, frame: Frame | undefined): void {
    if (role === 'record' && built) {
      records.push({ line: built.line, pointer: built.pointer, value, bytes: byte - built.byte });
    }
    if (role === 'beside') watch.onRootValue?.(frame?.key ?? '', value);
    if (role !== 'within') built = undefined;
    if (frame) put(value, frame);
    else watch.onRootEnd?.(byte);
    expected = frame ? 'comma or end' : 'value';
  }

  function requireValue(token: JsonToken, frame: Frame | undefined): void {
    if (expected !== 'value' && expected !== 'value or end') throw unexpected(token);
    if (frame?.role === 'around' && frame.count >= LIMITS.records) {
      const facts = { limit: LIMITS.records };
      throw unreadable('too-many-records', `The file contains more than ${LIMITS.records} orders.`, facts);
    }
  }

  function pointerHere(): string {
    return stack.map((frame) => pointerStep(frame.isArray ? frame.count : frame.key)).join('');
  }

  function unexpected(token: JsonToken) {
    const place = tokens.placeOf(token.byte);
    const found = token.kind === 'value' ? 'a value' : `"${token.kind}"`;
    const message = `Line ${place.line}, column ${place.column}: ${found} where ${sayExpected(expected)} is expected.`;
    const isAfterComma = (token.kind === '}' || token.kind === ']') && (expected === 'value' || expected === 'key');
    return unreadable('json', message, place, isAfterComma ? 'Remove the comma before it.' : undefined);
  }

  function taken(): JsonRecord[] {
    const done = records;
    records = [];
    return done;
  }

  return {
    write(chunk) {
      tokens.write(chunk);
      return taken();
    },
    end() {
      tokens.end();
      const last = stack.at(-1);
      if (last === undefined) return taken();
      const opened = last.isArray ? 'array' : 'object';
      const message = `The file ends before the ${opened} that begins on line ${last.line} is closed.`;
      throw unreadable('json', message, { line: last.line }, 'Drop the complete file again.');
    },
    lineOf: (container) => lines.get(container),
  };
}

function put(value: Value, frame: Frame): void {
  frame.count += 1;
  if (frame.value === undefined) return;
  if (Array.isArray(frame.value)) frame.value.push(value);
  else if (frame.key !== '__proto__') frame.value[frame.key] = value;
  else Object.defineProperty(frame.value, '__proto__', { value, enumerable: true, writable: true, configurable: true });
}

function sayExpected(expected: Expected): string {
  switch (expected) {
    case 'value':
    case 'value or end':
      return 'a value';
    case 'key':
    case 'key or end':
      return 'a key in quotes';
    case 'colon':
      return '":"';
    case 'comma or end':
      return '"," or the end';
  }
}
