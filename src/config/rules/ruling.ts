import type { Finding } from '../problem.ts';
import type { Readable } from '../readable.ts';
import type { Variables } from '../variables.ts';

/** What rules know besides the file. */
export type Surroundings = {
  /** Folder of the configuration file, absolute: relative paths start there. */
  folder: string;
  env: Variables;
};

/** The findings of a rule: problems prevent the start, warnings are logged. */
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

/** Every item whose key an earlier item has, with that first item. */
export function repeated<Item>(items: readonly Item[], keyOf: (item: Item) => string): [item: Item, first: Item][] {
  const firsts = new Map<string, Item>();
  return items.flatMap((item): [Item, Item][] => {
    const key = keyOf(item);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, item);
    return first === undefined ? [] : [[item, first]];
  });
}
