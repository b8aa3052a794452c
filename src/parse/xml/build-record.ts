import { LIMITS } from '../limits.ts';
import { trimmed } from '../names.ts';
import type { ObjectRecord, Value } from '../record.ts';
import { tooLarge } from '../unreadable.ts';
import type { Attribute } from './xml-reader.ts';

/** The key of the text of an element that also has children or attributes. */
const TEXT = '#text';
/** Characters that an element or an attribute counts besides its text. */
const OVERHEAD = 16;

type Element = { name: string; fields: Record<string, Value>; isNil: boolean; text: string };

/**
 * Builds one record after the other from its elements: attributes and children are keys, a name that occurs again makes
 * a list, an element with text only is that text. PoSyncError `unreadable-too-large` for a record beyond the limit.
 */
export function createBuilder() {
  const open: Element[] = [];
  let start = { line: 1, pointer: '' };
  let size = 0;

  function grow(by: number): void {
    size += by;
    if (size <= LIMITS.record) return;
    const { line } = start;
    throw tooLarge(`The element on line ${line}`, LIMITS.record, 'characters', line);
  }

  function push(name: string, attributes: readonly Attribute[]): void {
    const element: Element = { name, fields: {}, isNil: false, text: '' };
    grow(name.length + OVERHEAD);
    for (const { name: key, value, isNil } of attributes) {
      if (isNil) element.isNil = /^(?:1|true)$/.test(value.trim());
      else add(element.fields, key, value);
      grow(key.length + value.length + OVERHEAD);
    }
    open.push(element);
  }

  return {
    isOpen: () => open.length > 0,
    begin(name: string, attributes: readonly Attribute[], line: number, pointer: string): void {
      start = { line, pointer };
      size = 0;
      push(name, attributes);
    },
    open: push,
    text(text: string): void {
      const element = open.at(-1);
      if (element === undefined) return;
      element.text += text;
      grow(text.length);
    },
    /** The record, once its last element is closed. */
    close(): ObjectRecord | undefined {
      const element = open.pop();
      if (element === undefined) return undefined;
      const value = contentOf(element);
      const parent = open.at(-1);
      if (parent === undefined) return { kind: 'object', ...start, value };
      add(parent.fields, element.name, value);
      return undefined;
    },
  };
}

/** No value is lost. */
function add(fields: Record<string, Value>, name: string, value: Value): void {
  const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (before === undefined) put(fields, name, value);
  else if (Array.isArray(before)) before.push(value);
  else put(fields, name, [before, value]);
}

function contentOf({ fields, isNil, text }: Element): Value {
  // White space around a text is how the document is laid out.
  const own = trimmed(text, ' \t\r\n');
  const content = isNil && own === '' ? null : own;
  for (const _ in fields) {
    if (content !== '') add(fields, TEXT, content);
    return fields;
  }
  return content;
}

/** An assignment to `__proto__` would set the prototype. */
function put(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value;
  else
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}
