import { plainName, pointerStep } from '../order/text.ts';

/** What stands under one of the accepted names of a field; `value` is undefined when nothing does. */
export type Found = {
  value: unknown;
  /** The name as the file has it, else as the mapping has it first. */
  name: string;
  /** JSON pointer within the object that was searched. */
  pointer: string;
  isAmbiguous: boolean;
  /** The keys that match, for a sentence. */
  keys: string;
};

/**
 * Looks for a field in a JSON object: the exact name first, else one whose case and spacing differ. A name with dots
 * leads through nested objects (`header.number`), unless a key of just that name exists.
 */
export function find(object: object, names: readonly string[]): Found {
  const [first = ''] = names;
  if (names.length === 1 && Object.hasOwn(object, first)) {
    return { ...matchOf(object, first), isAmbiguous: false, keys: '' };
  }
  const exact = names.flatMap((name) => follow(object, name, exactKeys));
  const matches = exact.length > 0 ? exact : names.flatMap((name) => follow(object, name, similarKeys));
  const [match] = matches;
  if (match === undefined) {
    return { value: undefined, name: first, pointer: pointerStep(first), isAmbiguous: false, keys: '' };
  }
  const pointers = new Set(matches.map(({ pointer }) => pointer));
  return { ...match, isAmbiguous: pointers.size > 1, keys: [...pointers].join(', ') };
}

type Match = { value: unknown; name: string; pointer: string };
type KeysOf = (object: object, name: string) => string[];

function follow(object: object, name: string, keysOf: KeysOf): Match[] {
  const whole = keysOf(object, name).map((key) => matchOf(object, key));
  const dot = name.indexOf('.');
  if (whole.length > 0 || dot < 0) return whole;
  return keysOf(object, name.slice(0, dot)).flatMap((key) => {
    const outer = matchOf(object, key);
    if (typeof outer.value !== 'object' || outer.value === null) return [];
    const inner = follow(outer.value, name.slice(dot + 1), keysOf);
    return inner.map((match) => ({ ...match, name: `${key}.${match.name}`, pointer: outer.pointer + match.pointer }));
  });
}

function matchOf(object: object, key: string): Match {
  return { value: Reflect.get(object, key), name: key, pointer: pointerStep(key) };
}

function exactKeys(object: object, name: string): string[] {
  return Object.hasOwn(object, name) ? [name] : [];
}

function similarKeys(object: object, name: string): string[] {
  const plain = plainName(name);
  return Object.keys(object).filter((key) => plainName(key) === plain);
}
