import type { Finding } from '../problem.ts';
import type { Readable } from '../readable.ts';
import type { Variables } from '../variables.ts';

/** What the rules may know beside the file. */
export type Surroundings = {
  /** Folder of the configuration file, absolute: relative paths start there. */
  folder: string;
  env: Variables;
};

/** What a rule found: problems forbid the start, warnings are told. */
export type Ruling = { problems: Finding[]; warnings: Finding[] };

/** One relation between parts of the configuration. */
export type Rule = (parts: Readable, surroundings: Surroundings) => Ruling;

/** Several rulings as one. */
export function together(rulings: readonly Ruling[]): Ruling {
  return {
    problems: rulings.flatMap(({ problems }) => problems),
    warnings: rulings.flatMap(({ warnings }) => warnings),
  };
}

/** Every item that comes after another with the same key, with that first one. */
export function repeated<Item>(items: readonly Item[], keyOf: (item: Item) => string): [item: Item, first: Item][] {
  const firsts = new Map<string, Item>();
  return items.flatMap((item): [Item, Item][] => {
    const key = keyOf(item);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, item);
    return first === undefined ? [] : [[item, first]];
  });
}
