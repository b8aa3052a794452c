import { errorColumnOf } from '../../order/fixing.ts';
import { jsonNumber, parseExactly, sourceOfNumber } from '../../order/quantity.ts';
import { pointerStep } from '../../order/text.ts';
import { isObject } from '../../parse/find-key.ts';

/** A value of a JSON object that is not an object or a list, with its pointer. `isAbsent`: the key is missing. */
export type Leaf = { pointer: string; text: string; value: unknown; isAbsent?: true };

/** Keys that each order, and each item, is shown with, also where it lacks them. */
const ITEM_KEYS = ['articleCode', 'quantity'];

/** The values of an object of a fix file, without the keys that po-sync added. Numbers keep their source text. */
export function leavesOf(text: string): Leaf[] {
  const value = parseExactly(text);
  if (!isObject(value)) return [];
  const own = Object.fromEntries(
    Object.entries(value).filter(([key]) => errorColumnOf(key) === undefined),
  );
  return [...walk(own, '', 0), ...absentIn(own)];
}

/** Levels of nesting that are shown; deeper values stay as they are. */
const DEEPEST = 8;

function* walk(value: unknown, pointer: string, depth: number): Generator<Leaf> {
  const isParent = Array.isArray(value) || isObject(value);
  if (!isParent) yield { pointer, text: textOf(value), value };
  else if (depth < DEEPEST) {
    for (const [key, inner] of Object.entries(value))
      yield* walk(inner, pointer + pointerStep(key), depth + 1);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return sourceOfNumber(value) ?? (typeof value === 'boolean' ? String(value) : '');
}

/** Fields of the API that items of an order in the API's own form lack. */
function absentIn(value: Record<string, unknown>): Leaf[] {
  const items = value['items'];
  if (!Array.isArray(items)) return [];
  const isOwn = items.some((item) => isObject(item) && ITEM_KEYS.some((key) => key in item));
  if (!isOwn) return [];
  return items.flatMap((item, index) => {
    const lacks = isObject(item) ? ITEM_KEYS.filter((key) => !(key in item)) : [];
    return lacks.map((key): Leaf => {
      return {
        pointer: `/items/${index}${pointerStep(key)}`,
        text: '',
        value: undefined,
        isAbsent: true,
      };
    });
  });
}

/** The text of the object with other values, in the order of its leaves, and further keys. */
export function withLeaves(
  text: string,
  leaves: readonly Leaf[],
  values: readonly string[],
  more: object,
): string {
  const root = { value: parseExactly(text) };
  for (const [i, leaf] of leaves.entries()) {
    const now = values[i] ?? leaf.text;
    if (now !== leaf.text) setAt(root, leaf.pointer, typedAs(leaf, now));
  }
  return JSON.stringify({ ...(root.value as object), ...more });
}

/** A text stays a text. A number, or what was nothing, becomes a number where the new text is one. */
function typedAs({ pointer, value }: Leaf, text: string): unknown {
  const canBeNumber = typeof value !== 'string' && !/code$/i.test(pointer);
  const isNumber = canBeNumber && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber ? jsonNumber(text) : text;
}

function setAt(root: { value: unknown }, pointer: string, next: unknown): void {
  const steps = pointer.split('/').slice(1);
  let parent: unknown = root;
  let key = 'value';
  for (const step of steps) {
    parent = Reflect.get(parent as object, key);
    key = step.replaceAll('~1', '/').replaceAll('~0', '~');
  }
  // Defines it, because an assignment to the key __proto__ would set the prototype.
  Object.defineProperty(parent, key, {
    value: next,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
