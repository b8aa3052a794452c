import { sourceOfNumber } from '../order/quantity.ts';
import { pointerStep, trimBlanks } from '../order/text.ts';
import { plainKey } from './value.ts';

/** What is under one of some names; `pointer`: its place in the object that was searched. */
export type Found = { value: unknown; pointer: string };

/**
 * Finds a value in a JSON object by its names, as a mapping compares them. A name with dots leads through nested objects
 * (`header.number`), unless a key of exactly that name exists. `value` is undefined where there is none.
 */
export function find(object: object, names: readonly string[]): Found {
  for (const name of names) {
    const found = follow(object, name, '');
    if (found !== undefined) return found;
  }
  return { value: undefined, pointer: pointerStep(names[0] ?? '') };
}

function follow(object: object, name: string, above: string): Found | undefined {
  const own = keyLike(object, name);
  if (own !== undefined)
    return { value: ownText(Reflect.get(object, own)), pointer: above + pointerStep(own) };
  const dot = name.indexOf('.');
  const outer = dot < 0 ? undefined : keyLike(object, name.slice(0, dot));
  const inner: unknown = outer === undefined ? undefined : Reflect.get(object, outer);
  if (outer === undefined || !isParent(inner)) return undefined;
  return follow(inner, name.slice(dot + 1), above + pointerStep(outer));
}

function keyLike(object: object, name: string): string | undefined {
  const plain = plainKey(name);
  return Object.keys(object).find((key) => plainKey(key) === plain);
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
