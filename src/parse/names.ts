import { plainName } from '../config/mapping-schema.ts';

/** The steps of a path; none for the document itself. Undefined when no path is declared. */
export function stepsOf(path: string | undefined): readonly string[] | undefined {
  if (path === undefined) return undefined;
  return path === '' ? [] : path.split('.');
}

/** Whether two names are the same: without case, outer spaces and invisible characters. */
export function isSameName(a: string, b: string): boolean {
  return a === b || plainName(a) === plainName(b);
}

/** A text without these characters at its ends: a pattern would take quadratic time on a hostile one. */
export function trimmed(text: string, characters: string): string {
  let [from, to] = [0, text.length];
  while (from < to && characters.includes(text.charAt(from))) from += 1;
  while (to > from && characters.includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}
