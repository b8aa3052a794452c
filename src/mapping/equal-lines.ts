import type { Value } from '../parse/record.ts';
import { type Line, recordOf, textAt, trimmed } from './line.ts';
import { isKeyed, stepInto, textOfValue } from './value.ts';

// Rule 5: no two rows of an order are equal in every cell.

/** What a comparison of rows has to know: where the articles are, and the number, which does not count. */
export type Compared = { articleAt: number; numberAt: number; numberNames: readonly string[] };

/**
 * The first line that is equal to an earlier one, with that one. The number does not count: after `fillDown` it is the same,
 * and an order that spells it differently is held for that. Equal rows have equal articles, which are compared first.
 */
export function equalLines(
  lines: readonly Line[],
  compared: Compared,
): { line: Line; first: Line } | undefined {
  if (lines.length < 2) return undefined;
  if (!hasArticleTwice(lines, compared.articleAt)) return undefined;

  const known = new Map<string, Line>();
  for (const line of lines) {
    const text = JSON.stringify(contentOf(line, compared));
    const first = known.get(text);
    if (first !== undefined) return { line, first };
    known.set(text, line);
  }
  return undefined;
}

function hasArticleTwice(lines: readonly Line[], at: number): boolean {
  if (lines.length > FEW) return new Set(lines.map((line) => textAt(line, at))).size < lines.length;
  for (let one = 1; one < lines.length; one++)
    for (let other = 0; other < one; other++)
      if (isSameAt(lines[one], lines[other], at)) return true;
  return false;
}

/** Lines that are quicker compared with each other than put into a set. */
const FEW = 6;

function isSameAt(one: Line | undefined, other: Line | undefined, at: number): boolean {
  return one !== undefined && other !== undefined && textAt(one, at) === textAt(other, at);
}

function contentOf(line: Line, { numberAt, numberNames }: Compared): unknown {
  const record = recordOf(line);
  if (record.kind === 'object') {
    const leaves = leavesOf(line.kind === 'part' ? (line.value ?? null) : null, '');
    return leaves.filter(([path]) => !numberNames.includes(path)).sort(byPath);
  }
  const isPart = line.kind === 'part';
  const cells = record.cells.map((cell, at) => (!isPart && at === numberAt ? '' : trimmed(cell)));
  while (cells.at(-1) === '') cells.pop();
  return cells;
}

type Leaf = readonly [path: string, text: string];

function byPath([a]: Leaf, [b]: Leaf): number {
  return a < b ? -1 : Number(a > b);
}

/** The values inside a value, each with its path; empty ones are as good as none. */
function leavesOf(value: Value, path: string): Leaf[] {
  if (isKeyed(value))
    return Object.entries(value).flatMap(([key, one]) => leavesOf(one, stepInto(path, key)));
  if (Array.isArray(value)) return value.flatMap((one, at) => leavesOf(one, `${path}[${at}]`));
  const text = textOfValue(value);
  return text === '' ? [] : [[path, text]];
}
