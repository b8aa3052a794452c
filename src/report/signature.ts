import { createHash } from 'node:crypto';
import type { Problem } from '../order/problem.ts';
import { alike } from '../order/text.ts';

/** What is signed: the code, the column, and what the API said. */
type Signed = { code: string; field?: string; says?: string | undefined };

/**
 * A short name for a kind of error, e.g. `not-whole:MENGE` or `400:5a0c11fe`: equal for the same code and field, and for
 * words of the API that differ only in what identifies an order. Safe in a shell and in a URL.
 */
export function signatureOf({ code, field = '', says }: Signed): string {
  const words =
    says === undefined ? '' : createHash('sha256').update(alike(says)).digest('hex').slice(0, 8);
  return [plain(code) || 'error', plain(field), words].filter((part) => part !== '').join(':');
}

function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

/** Equal problems that are shown, places of the others that are named with their order, and problems that are told apart. */
const MOST_EQUAL = 10;
const MOST_PLACES = 10;
const MOST_KINDS = 1_000;

/** Problems like `problem`; `places`: the first of them; `lines`: first and last line of all others. */
type Repeat = {
  problem: Problem;
  times: number;
  places: { at: string; order: string }[];
  lines: [number, number][];
};

/** Finds problems of one file that say the same as others. */
export function createRepeats() {
  const kinds = new Map<string, Repeat>();
  return {
    /** Whether so many equal ones came before that this one is only counted. */
    holds(problem: Problem, order: string): boolean {
      const { code, field, value, line, pointer = '' } = problem;
      const key = [code, field, value].join('\0');
      const kind = kinds.get(key) ?? { problem, times: -MOST_EQUAL, places: [], lines: [] };
      kind.times += 1;
      if (kinds.has(key) || kinds.size < MOST_KINDS) kinds.set(key, kind);
      if (kind.times <= 0) return false;
      const last = kind.lines.at(-1);
      // The objects of NDJSON have the same pointers, each in its line.
      const isEqual = pointer === kind.problem.pointer && line !== kind.problem.line;
      const at = pointer === '' || isEqual ? `line ${line} ${pointer}`.trim() : pointer;
      if (kind.places.length < MOST_PLACES) kind.places.push({ at, order });
      else if (last && line >= last[1] && line <= last[1] + 1) last[1] = line;
      else kind.lines.push([line, line]);
      return true;
    },
    held: () =>
      [...kinds.values()]
        .filter(({ times }) => times > 0)
        .map((one) => ({ ...one, lines: rangesText(one.lines) })),
  };
}

/** `22-26, 28`. */
function rangesText(lines: Repeat['lines']): string {
  return lines.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
