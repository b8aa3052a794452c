import { plainName } from '../config/mapping-schema.ts';
import { sourceOfNumber } from '../order/quantity.ts';
import { pointerStep, trimBlanks } from '../order/text.ts';

/** The value under one of the accepted names of a field; `value` is undefined when there is none. */
export type Found = {
  value: unknown;
  /** The name as the file has it, else the first one of the mapping. */
  name: string;
  /** JSON pointer within the object that was searched. */
  pointer: string;
  isAmbiguous: boolean;
  /** The keys that match, for a message. */
  keys: string;
};

/**
 * Finds a field in a JSON object by its accepted names; case and spacing do not count, so that `quantity` beside
 * `Quantity` is ambiguous. A name with dots leads through nested objects (`header.number`), unless a key of exactly that
 * name exists.
 */
export function find(object: object, names: readonly string[]): Found {
  return findOnly(object, names) ?? findAmong(object, names);
}

/** What most objects need: at most one key with one of the names, and no name with dots. */
function findOnly(object: object, names: readonly string[]): Found | undefined {
  const wanted = plainKeysOf(names);
  if (wanted === undefined) return undefined;
  let only: string | undefined;
  for (const key in object) {
    if (!wanted.has(plainKey(key))) continue;
    if (only !== undefined) return undefined;
    only = key;
  }
  if (only === undefined) return absent(names);
  const value: unknown = Reflect.get(object, only);
  return {
    value: ownText(value),
    name: only,
    pointer: pointerStep(only),
    isAmbiguous: false,
    keys: '',
  };
}

function findAmong(object: object, names: readonly string[]): Found {
  const matches = names.flatMap((name) => follow(object, name));
  const [match] = matches;
  if (match === undefined) return absent(names);
  const found = { ...match, value: ownText(match.value) };
  if (matches.length === 1) return { ...found, isAmbiguous: false, keys: '' };
  const pointers = new Set(matches.map(({ pointer }) => pointer));
  return { ...found, isAmbiguous: pointers.size > 1, keys: [...pointers].join(', ') };
}

function absent([first = '']: readonly string[]): Found {
  return {
    value: undefined,
    name: first,
    pointer: pointerStep(first),
    isAmbiguous: false,
    keys: '',
  };
}

/** The text of a JSON value: trimmed, or the digits of a whole number as long as those are exact. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return trimBlanks(value);
  const source = sourceOfNumber(value);
  return source !== undefined && /^\d{1,15}$/.test(source) ? source : undefined;
}

/** The key of the text of an XML element that has attributes too. */
const TEXT_KEY = '#text';

function ownText(value: unknown): unknown {
  return isObject(value) && typeof value[TEXT_KEY] === 'string' ? value[TEXT_KEY] : value;
}

type Match = { value: unknown; name: string; pointer: string };

function follow(object: object, name: string): Match[] {
  const direct = keysLike(object, name).map((key) => matchOf(object, key));
  const dot = name.indexOf('.');
  if (direct.length > 0 || dot < 0) return direct;
  return keysLike(object, name.slice(0, dot)).flatMap((key) => {
    const outer = matchOf(object, key);
    if (typeof outer.value !== 'object' || outer.value === null) return [];
    const inner = follow(outer.value, name.slice(dot + 1));
    return inner.map((match) => ({
      ...match,
      name: `${key}.${match.name}`,
      pointer: outer.pointer + match.pointer,
    }));
  });
}

function matchOf(object: object, key: string): Match {
  return { value: Reflect.get(object, key), name: key, pointer: pointerStep(key) };
}

function keysLike(object: object, name: string): string[] {
  const plain = plainKey(name);
  return Object.keys(object).filter((key) => key === name || plainKey(key) === plain);
}

/** The names of each field of a mapping without case and spacing; undefined for a name that leads through objects. */
const wantedKeys = new WeakMap<readonly string[], ReadonlySet<string> | undefined>();

function plainKeysOf(names: readonly string[]): ReadonlySet<string> | undefined {
  if (wantedKeys.has(names)) return wantedKeys.get(names);
  const plain = names.some((name) => name.includes('.'))
    ? undefined
    : new Set(names.map(plainName));
  wantedKeys.set(names, plain);
  return plain;
}

/** The objects of a file have the same few keys again and again. */
const known = new Map<string, string>();
const MOST_KNOWN = 1_000;

function plainKey(key: string): string {
  const before = known.get(key);
  if (before !== undefined) return before;
  const plain = plainName(key);
  if (known.size < MOST_KNOWN && key.length < 100) known.set(key, plain);
  return plain;
}

/** Whether a value is an object with keys. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

/** The keys and indexes of a JSON pointer. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What a JSON pointer leads to; undefined for nothing. */
export function valueAt(value: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(
    (inner, step) => (isParent(inner) ? Reflect.get(inner, step) : undefined),
    value,
  );
}

const isParent = (value: unknown): value is object => Array.isArray(value) || isObject(value);

/** Sets what a JSON pointer leads to; creates the objects on the way. `next` gets what was there. */
export function setAt(root: object, pointer: string, next: (before: unknown) => unknown): void {
  const steps = stepsOf(pointer);
  const last = steps.pop() ?? '';
  let parent = root;
  for (const key of steps) {
    const before: unknown = Object.hasOwn(parent, key) ? Reflect.get(parent, key) : undefined;
    const inner = Array.isArray(before) || isObject(before) ? before : {};
    if (inner !== before) define(parent, key, inner);
    parent = inner;
  }
  define(parent, last, next(Object.hasOwn(parent, last) ? Reflect.get(parent, last) : undefined));
}

/** Defines it, because an assignment to the key __proto__ would set the prototype. */
function define(parent: object, key: string, value: unknown): void {
  Object.defineProperty(parent, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
