import { LIMITS } from '../../order/limits.ts';
import { plainName, pointerStep } from '../../order/text.ts';
import { TEXT_KEY } from '../find-key.ts';
import type { ObjectRecord } from '../objects.ts';
import { unreadable } from '../unreadable.ts';
import { createXmlReader, type XmlPlace } from './read-xml.ts';

/** What the first pass wants to know of the elements around the records. `path`: local names from the root down. */
export type XmlWatch = {
  onElement?(path: readonly string[], attributes: Iterable<string>, place: XmlPlace): void;
};

export type XmlRecords = {
  /** The records that end within this text. */
  write(text: string): ObjectRecord[];
  end(): ObjectRecord[];
};

type Fields = Record<string, unknown>;

/** An element within a record. `names`: how often a name occurred in it. */
type Element = {
  name: string;
  fields: Fields;
  hasElements: boolean;
  attributes: readonly string[];
  text: string;
  line: number;
};

/** The key of the text between elements, which no field is read from. */
export const MIXED_KEY = '#mixed';

/** Bytes that an element or an attribute counts besides its text. */
const OVERHEAD = 16;

/**
 * Splits an XML document into its records, the elements that `path` leads to from the root: local names without case,
 * `*` for any. Each becomes an object: attributes and elements are keys, a name that occurs again makes a list, an
 * element with text only is that text. Errors as createXmlReader.
 */
export function createXmlRecords(path: readonly string[], watch: XmlWatch = {}): XmlRecords {
  const around = createPath(path);
  const builder = createBuilder();
  let records: ObjectRecord[] = [];

  const reader = createXmlReader({
    onOpen(name, attributes, place) {
      if (builder.isOpen()) {
        builder.open(name, attributes, place.line);
        return;
      }
      const pointer = around.enter(name);
      if (around.isAtEnd()) builder.begin(name, attributes, place.line, pointer);
      else watch.onElement?.(around.names, attributes.keys(), place);
    },
    onText(text, place) {
      if (builder.isOpen()) builder.text(text);
      else if (around.isAbove() && text.trim() !== '') throw textBetween(place.line);
    },
    onClose() {
      if (builder.isOpen()) {
        const record = builder.close();
        if (record === undefined) return;
        records.push(record);
      }
      around.leave();
    },
  });

  function taken(): ObjectRecord[] {
    const done = records;
    records = [];
    return done;
  }

  return {
    write(text) {
      reader.write(text);
      return taken();
    },
    end() {
      reader.end();
      return taken();
    },
  };
}

/** A bracket that is missing makes text of an element. */
export function textBetween(line: number) {
  const message = `Line ${line}: there is text between the elements of an order, or between orders.`;
  return unreadable('xml', message, { line }, 'Check for a bracket that is missing before it.');
}

/** The elements around the records. Each is numbered among those with its name. */
function createPath(path: readonly string[]) {
  const steps = path.map((step) => (step === '*' ? step : plainName(step)));
  const names: string[] = [];
  const pointers: string[] = [''];
  const counts: Map<string, number>[] = [new Map()];
  const isStep = (name: string, at: number) => steps[at] === '*' || steps[at] === plainName(name);
  return {
    names,
    /** The pointer of the element that is entered. */
    enter(name: string): string {
      const count = counts.at(-1)?.get(name) ?? 0;
      counts.at(-1)?.set(name, count + 1);
      const pointer = `${pointers.at(-1)}${pointerStep(name)}/${count}`;
      pointers.push(pointer);
      counts.push(new Map());
      names.push(name);
      return pointer;
    },
    leave(): void {
      names.pop();
      pointers.pop();
      counts.pop();
    },
    isAtEnd: () => names.length === steps.length && names.every(isStep),
    /** The current element is on the path. */
    isAbove: () => names.length < steps.length && names.every(isStep),
  };
}

const attributes = new WeakMap<object, readonly string[]>();

/** The keys of an element's object that were attributes. */
export function attributesOf(element: object): readonly string[] {
  return attributes.get(element) ?? [];
}

/** Builds one record after the other from its elements. */
function createBuilder() {
  const open: Element[] = [];
  let lines = new WeakMap<object, number>();
  let start = { line: 1, pointer: '' };
  let size = 0;

  function add(bytes: number): void {
    size += bytes;
    if (size <= LIMITS.recordBytes) return;
    const message = `The element that begins on line ${start.line} is longer than ${LIMITS.recordBytes} characters.`;
    throw unreadable('too-large', message, { line: start.line, limit: LIMITS.recordBytes });
  }

  function push(name: string, given: ReadonlyMap<string, string>, line: number): void {
    const fields: Fields = {};
    const own: string[] = [];
    for (const [key, value] of given) {
      if (isNamespace(key)) continue;
      own.push(localName(key));
      put(fields, localName(key), value);
      add(key.length + value.length + OVERHEAD);
    }
    add(name.length + OVERHEAD);
    open.push({ name, fields, hasElements: false, attributes: own, text: '', line });
  }

  return {
    isOpen: () => open.length > 0,
    begin(
      name: string,
      attributes: ReadonlyMap<string, string>,
      line: number,
      pointer: string,
    ): void {
      start = { line, pointer };
      size = 0;
      lines = new WeakMap();
      push(name, attributes, line);
    },
    open: push,
    text(text: string): void {
      const element = open.at(-1);
      if (element === undefined) return;
      element.text += text;
      add(text.length);
    },
    /** The record, once its last element is closed. */
    close(): ObjectRecord | undefined {
      const element = open.pop();
      if (element === undefined) return undefined;
      const value = contentOf(element, open.length === 0);
      if (typeof value === 'object' && element.attributes.length > 0)
        attributes.set(value, element.attributes);
      if (typeof value === 'object') lines.set(value, element.line);
      const parent = open.at(-1);
      if (parent) {
        parent.hasElements = true;
        put(parent.fields, element.name, value);
        return undefined;
      }
      const { line, pointer } = start;
      const known = lines;
      return {
        line,
        pointer,
        value,
        bytes: size,
        lineOf: (within) => lineIn(value, pointer, within, known) ?? line,
      };
    },
  };
}

/** A name that occurs again makes a list, so that no value is lost. */
function put(fields: Fields, name: string, value: unknown): void {
  const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (Array.isArray(before)) {
    before.push(value);
    return;
  }
  const next = before === undefined ? value : [before, value];
  Object.defineProperty(fields, name, {
    value: next,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** A record is always an object. */
function contentOf(
  { fields, hasElements, attributes: own, text: all }: Element,
  isRecord: boolean,
): string | Fields {
  const text = all.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  if (hasElements) return text === '' ? fields : { ...fields, [MIXED_KEY]: text };
  if (own.length === 0 && !isRecord) return text;
  if (isNil(fields)) return text === '' && !isRecord ? '' : { ...fields, [MIXED_KEY]: text };
  return text === '' ? fields : { ...fields, [TEXT_KEY]: text };
}

/** `xsi:nil`: the element has no value. */
export function isNil(fields: Fields): boolean {
  return fields['nil'] === 'true' || fields['nil'] === '1';
}

/** The line of the last element with a line on the way to a value. */
function lineIn(
  value: unknown,
  from: string,
  to: string,
  lines: WeakMap<object, number>,
): number | undefined {
  let line: number | undefined;
  let current = value;
  for (const step of to.slice(from.length).split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) break;
    current = Reflect.get(current, step.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (typeof current === 'object' && current !== null) line = lines.get(current) ?? line;
  }
  return line;
}

function isNamespace(name: string): boolean {
  return name === 'xmlns' || name.startsWith('xmlns:');
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
