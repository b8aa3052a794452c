import { LIMITS } from '../../order/limits.ts';
import { parseExactly } from '../../order/quantity.ts';
import { plainName } from '../../order/text.ts';
import type { JsonLayout } from '../inspection.ts';
import type { ObjectRecord } from '../objects.ts';
import { tooManyRecords, unreadable } from '../unreadable.ts';
import { scalarOf } from './json-faults.ts';
import { type Frame, faultIn, JsonScanner, type Start, type Value } from './json-scanner.ts';
import type { Origin } from './line-count.ts';

/** What the first pass wants to know of a file besides its orders. */
export type JsonWatch = {
  /** A value at the top level begins. */
  onRoot?(start: Start): void;
  /** The object or array at the top level ended before `byte`. */
  onRootEnd?(byte: number): void;
  /** A key of the object at the top level, while the layout is not known. */
  onKey?(key: string): void;
  /** A list in the object at the top level, while the layout is not known: its elements may be orders. */
  onList?(key: string): void;
  /** A key of an object beside the lists that may be read. */
  onBesideKey?(frame: Frame): void;
  /** A text, number or word beside the orders. */
  onScalar?(frame: Frame, value: unknown): void;
  /** The path to the orders does not continue in this container. */
  onMissing?(frame: Frame, step: string): void;
};

export type JsonParser = {
  /** The orders that end within this chunk. */
  write(chunk: Buffer): ObjectRecord[];
  end(): ObjectRecord[];
};

/** What a container that is scanned from within contains; 0 and more: it is on the path, after so many steps. */
const [ORDERS, BESIDE] = [-1, -2];

/** Splits a JSON file into its orders, one at a time, in constant memory. Errors as JsonScanner. */
export function createJsonParser(
  layout: JsonLayout | 'unknown',
  watch: JsonWatch = {},
): JsonParser {
  const roleOf = layout === 'unknown' ? findingRoles(watch) : rolesIn(layout);
  let records: ObjectRecord[] = [];
  let count = 0;
  let isOrder = false;

  const scanner = new JsonScanner({
    begin(start) {
      if (start.parent === undefined) watch.onRoot?.(start);
      const role = roleOf(start);
      isOrder = role === 'order';
      return typeof role === 'number' ? role : 'text';
    },
    value(value) {
      if (isOrder) records.push(recordOf(value));
      else lookBeside(value, watch);
      if (isOrder && ++count > LIMITS.records) throw tooManyRecords();
    },
    end(frame, byte) {
      const step =
        layout !== 'unknown' && layout.kind === 'list' ? layout.path[frame.mark] : undefined;
      if (step !== undefined && !frame.hasMatch) watch.onMissing?.(frame, step);
      if (frame.pointer === '') watch.onRootEnd?.(byte);
    },
  });

  function taken(): ObjectRecord[] {
    const done = records;
    records = [];
    return done;
  }

  return {
    write(chunk) {
      scanner.write(chunk);
      return taken();
    },
    end() {
      scanner.end();
      return taken();
    },
  };
}

function lookBeside({ text, place, parent }: Value, watch: JsonWatch): void {
  const scalar = scalarOf(text, place);
  if (parent !== undefined) watch.onScalar?.(parent, scalar);
}

type Role = 'order' | 'scalar' | number;

/** The first pass: the elements of every list in the file's object may be orders. */
function findingRoles(watch: JsonWatch): (start: Start) => Role {
  let roots = 0;
  return ({ opens, parent }) => {
    if (parent === undefined) {
      roots += 1;
      if (opens === undefined || roots > 1) return 'order';
      return opens === '[' ? ORDERS : 0;
    }
    if (parent.mark === ORDERS) return 'order';
    if (parent.mark === 0) watch.onKey?.(parent.key);
    else if (!parent.isArray) watch.onBesideKey?.(parent);
    if (opens === undefined) return 'scalar';
    if (opens === '{' || parent.mark === BESIDE) return BESIDE;
    watch.onList?.(parent.key);
    return ORDERS;
  };
}

/** Once it is known where the orders are. */
function rolesIn(layout: JsonLayout): (start: Start) => Role {
  if (layout.kind !== 'list') return ({ parent }) => (parent === undefined ? 'order' : BESIDE);
  const { path } = layout;

  function after(steps: number, { opens }: Start): Role {
    if (steps === path.length) return opens === '[' ? ORDERS : 'order';
    return opens === undefined ? 'scalar' : steps;
  }

  return (start) => {
    const { opens, parent } = start;
    if (parent === undefined) return after(0, start);
    if (parent.mark === ORDERS) return 'order';
    const isOnPath = parent.mark >= 0 && isStep(path[parent.mark], parent);
    if (!isOnPath) return opens === undefined ? 'scalar' : BESIDE;
    if (parent.hasMatch && !parent.isArray) throw twoLists(parent);
    parent.hasMatch = true;
    return after(parent.mark + 1, start);
  };
}

function isStep(step: string | undefined, { isArray, key }: Frame): boolean {
  if (step === undefined || isArray) return step === '*';
  return step === key || plainName(step) === plainName(key);
}

function twoLists({ key, place: { line } }: Frame) {
  const message = `The object on line ${line} has two keys that could be ${JSON.stringify(key)} of records.`;
  return unreadable('json-shape', message, { line }, 'Keep one of them.');
}

/** `JSON.parse` keeps the last of two equal keys, and changes some numbers. */
function recordOf({ text, colons, hasFraction, place, pointer, bytes }: Value): ObjectRecord {
  const parsed = parse(text);
  const counted = { keys: 0, hasLargeNumber: false };
  if (parsed !== undefined) count(parsed.value, counted);
  if (parsed === undefined || counted.keys !== colons)
    throw (
      faultIn(text, { place, pointer }, true) ?? new Error('a text that JSON.parse alone refuses')
    );
  const value = hasFraction || counted.hasLargeNumber ? parseExactly(text) : parsed.value;
  const lineOf = (within: string) =>
    text.includes('\n') ? lineWithin(text, { place, pointer }, within) : place.line;
  return { line: place.line, pointer, value, bytes, lineOf };
}

/** The line on which a value of a JSON text begins, or the closest container around it that exists. */
function lineWithin(text: string, origin: Origin, pointer: string): number {
  let { line } = origin.place;
  const look = (start: Start) => {
    if (start.pointer === pointer || pointer.startsWith(`${start.pointer}/`))
      line = start.place.line;
    return 0;
  };
  const scanner = new JsonScanner({ begin: look, value: () => undefined }, origin);
  scanner.write(Buffer.from(text));
  scanner.end();
  return line;
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Counts the keys of a value, and looks for numbers that a double may not keep. */
function count(value: unknown, found: { keys: number; hasLargeNumber: boolean }): void {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) found.hasLargeNumber = true;
  } else if (Array.isArray(value)) {
    for (const element of value) count(element, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      found.keys += 1;
      count(Reflect.get(value, key), found);
    }
  }
}

/** Keeps the bytes of the first value, unless it is larger than an order may be. */
export function keepFirst() {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  let isTooLarge = false;
  return {
    add(chunk: Buffer): void {
      if (chunks === undefined) return;
      if (bytes > 2 * LIMITS.recordBytes) {
        isTooLarge = true;
        chunks = undefined;
        return;
      }
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
    },
    take(from: number, to: number): Buffer | undefined {
      isTooLarge ||= to - from > LIMITS.recordBytes;
      const all =
        isTooLarge || chunks === undefined ? undefined : Buffer.concat(chunks).subarray(from, to);
      chunks = undefined;
      return all;
    },
    isTooLarge: () => isTooLarge,
  };
}
