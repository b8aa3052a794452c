import { createHash } from 'node:crypto';
import type { Problem } from '../order/record.ts';
import { messageOfAll } from '../order/text.ts';

/** The error to sign. `known` are texts of this order that the message may repeat: its number, a value. */
export type SignedError = {
  code: string;
  field?: string;
  message: string;
  known?: readonly string[];
};

/**
 * A short name for a kind of error, e.g. `quantity-not-whole:MENGE:5a0c11fe`: equal for the same code, field and
 * wording, independent of numbers, quoted texts and identifiers in the message. Safe in a shell and in a URL.
 */
export function signatureOf(error: SignedError): string {
  const wording = createHash('sha256').update(wordingOf(error)).digest('hex').slice(0, 8);
  return [plain(error.code) || 'error', plain(error.field ?? ''), wording]
    .filter((part) => part !== '')
    .join(':');
}

/** The message without the parts that differ from order to order. */
export function wordingOf(error: SignedError): string {
  const known = [...(error.known ?? [])]
    .filter((text) => text.trim() !== '')
    .sort((a, b) => b.length - a.length);
  return known
    .reduce((message, text) => blank(message, text), error.message.slice(0, LONGEST))
    .replace(QUOTED, '…')
    .replace(/\S+/gu, (token) => (HAS_DIGIT.test(token) ? '…' : token))
    .replace(/[\s…]*…[\s…]*/gu, ' … ')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();
}

const LONGEST = 2000;
const QUOTED =
  /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|`[^`\n]*`|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu;

/** Numbers, dates, order numbers, article codes, addresses. */
const HAS_DIGIT = /\p{N}/u;

const WORD_BEFORE = /[\p{L}\p{N}]$/u;
const WORD_AFTER = /^[\p{L}\p{N}]/u;

/** Replaces a text by an ellipsis, except inside a longer word. */
function blank(message: string, text: string): string {
  let blanked = '';
  let from = 0;
  for (let at = message.indexOf(text); at >= 0; at = message.indexOf(text, from)) {
    const end = at + text.length;
    const before = message.slice(Math.max(at - 2, from), at);
    const isWithin = WORD_BEFORE.test(before) || WORD_AFTER.test(message.slice(end, end + 2));
    blanked += message.slice(from, at) + (isWithin ? text : '…');
    from = end;
  }
  return blanked + message.slice(from);
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

/** Problems like `problem`, which says what is true for all; `places`: the first of them; `lines`: first and last line of all others. */
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
      const { code, field, value, message, line, pointer = '' } = problem;
      const text = messageOfAll(message);
      const key = [code, field, value, text].join('\0');
      const kind = kinds.get(key) ?? {
        problem: { ...problem, message: text },
        times: -MOST_EQUAL,
        places: [],
        lines: [],
      };
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
