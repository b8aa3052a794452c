import article from './names/article.json' with { type: 'json' };
import condition from './names/condition.json' with { type: 'json' };
import number from './names/number.json' with { type: 'json' };
import quantity from './names/quantity.json' with { type: 'json' };
import unit from './names/unit.json' with { type: 'json' };

/** What a column is usually called by its name. */
export type Kind = 'number' | 'article' | 'quantity' | 'condition' | 'unit';

type Names = { part: readonly string[]; exact: readonly string[] };

const NAMES: Readonly<Record<Kind, Names>> = {
  number: folded(number),
  article: folded(article),
  quantity: folded(quantity),
  condition: folded(condition),
  unit: folded(unit),
};

/** The score of a longer name with a usual one in it. */
const LEAST = 38;

/** Shorter names, of letters that are not ideographs, are within too many others. */
const LEAST_PART = 3;

/**
 * How surely a name means this kind, from 0 to 100: the names that leave no doubt first. `part`: names that may be within a
 * longer one; `exact`: those that mean something else there.
 */
export function nameScore(name: string, kind: Kind): number {
  const own = fold(name);
  const last = fold(name.split('.').at(-1) ?? '');
  const { part, exact } = NAMES[kind];

  const score = (text: string) => {
    const at = part.indexOf(text);
    if (at >= 0) return 100 - (at * 20) / part.length;
    const weak = exact.indexOf(text);
    return weak < 0 ? 0 : 60 - (weak * 20) / exact.length;
  };
  const inside = part.some((one) => one.length >= LEAST_PART && own.includes(one));
  const isShort = part.some((one) => /[^\p{scx=Latn}]/u.test(one) && own.includes(one));
  return Math.max(score(own), score(last) - 1, inside || isShort ? LEAST : 0);
}

function folded({ part, exact }: Names): Names {
  return { part: part.map(fold), exact: exact.map(fold) };
}

/** A name as it is compared: letters and digits without case and accents. */
function fold(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll('ı', 'i')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

const ROLES: readonly Kind[] = ['number', 'article', 'quantity'];

/** How many roles some of the names are usual for. */
export function rolesIn(names: Iterable<string>, roles = ROLES, least = LEAST + 1): number {
  const all = [...names].filter((name) => name !== '');
  return roles.filter((kind) => all.some((name) => nameScore(name, kind) >= least)).length;
}

/** The same for the cells of a row, of which names may also be a part. */
export function namedRoles(cells: readonly string[]): number {
  return cells.length < 2 ? 0 : rolesIn(cells, ROLES, LEAST);
}
