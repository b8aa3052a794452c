import { patternFault, SEEN } from '../config/mapping-schema.ts';

/** A pattern for values, and how many of the distinct ones it was made of. */
export type Pattern = { like?: string; values: number };

/** A run of characters of one kind; `text` as long as all values have the same. */
type Run = { kind: RunKind; least: number; most: number; text: string; isSame: boolean };
type RunKind = 'digits' | 'upper' | 'lower' | 'mixed' | 'letters' | 'sign';

/** Forms of values that are kept apart; more than these are no forms. */
const MOST_FORMS = 3;
/** Distinct values that can show that a beginning is common. */
const LEAST_COMMON = { beginning: 3, inside: 20 } as const;
/** Digits that may be common to all values by chance, because their numbers follow each other. */
const KEPT_DIGITS = 2;
const LONGEST = 70;

/**
 * What all these values look like, as a regular expression that the schema accepts and that matches each of them: their few
 * forms, or else their characters; none if these are too many. Letters and digits at the beginning are kept where all values
 * have them.
 */
export function inferPattern(values: Iterable<string>): Pattern {
  const all = new Set(values);
  all.delete('');
  const forms = new Map<string, Run[]>();
  for (const value of all) {
    const runs = runsOf(value);
    const key = runs.map(({ kind, text }) => (kind === 'sign' ? text : kind)).join(' ');
    const known = forms.get(key);
    if (known === undefined) forms.set(key, runs);
    else merge(known, runs);
    if (forms.size > MOST_FORMS) break;
  }
  const form = [...forms.values()]
    .map((runs) => written(runs, forms.size === 1 ? all.size : 0))
    .join('|');
  const either = forms.size > MOST_FORMS ? [alphabetOf(all)] : [form, alphabetOf(all)];
  const like = either.find((one) => isGood(one, all));
  return { ...(all.size > 0 && like !== undefined && { like }), values: all.size };
}

function isGood(like: string, values: ReadonlySet<string>): boolean {
  if (like.length > LONGEST || patternFault(like, SEEN.value, true) !== undefined) return false;
  const pattern = new RegExp(`^(?:${like})$`, 'u');
  return [...values].every((value) => pattern.test(value));
}

const RUN = /\d+|[\p{L}\p{M}]+|[\s\S]/gu;

function runsOf(value: string): Run[] {
  return (value.match(RUN) ?? []).map((text) => {
    const length = Array.from(text).length;
    return { kind: kindOf(text), least: length, most: length, text, isSame: true };
  });
}

function kindOf(text: string): RunKind {
  if (/^\d/.test(text)) return 'digits';
  if (/^[A-Z]+$/.test(text)) return 'upper';
  if (/^[a-z]+$/.test(text)) return 'lower';
  if (/^[A-Za-z]+$/.test(text)) return 'mixed';
  return /^[\p{L}\p{M}]/u.test(text) ? 'letters' : 'sign';
}

function merge(into: Run[], runs: readonly Run[]) {
  for (const [at, run] of into.entries()) {
    const other = runs[at];
    if (other === undefined) continue;
    run.least = Math.min(run.least, other.least);
    run.most = Math.max(run.most, other.most);
    run.isSame &&= run.text === other.text;
    run.text = commonStart(run.text, other.text);
  }
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}

const CLASSES = {
  digits: '\\d',
  upper: '[A-Z]',
  lower: '[a-z]',
  mixed: '[A-Za-z]',
  letters: '[\\p{L}\\p{M}]',
};

function written(runs: readonly Run[], values: number): string {
  return runs
    .map((run, at) => {
      const { kind, least, most, text, isSame } = run;
      if (kind === 'sign') return escaped(text);
      const isCommon = values >= LEAST_COMMON[at === 0 ? 'beginning' : 'inside'];
      if (kind !== 'digits' && isCommon && isSame) return escaped(text);
      const isBeginning = isCommon && at === 0 && kind === 'digits' && least === most && least > 5;
      const kept = isBeginning ? text.slice(0, KEPT_DIGITS) : '';
      const rest = [least - kept.length, most - kept.length];
      return kept + CLASSES[kind] + counted(rest[0] ?? 0, rest[1] ?? 0);
    })
    .join('');
}

function counted(least: number, most: number): string {
  if (least === most) return least === 1 ? '' : `{${least}}`;
  return `{${least},${most}}`;
}

/** A text as a regular expression that matches only it. */
export function escaped(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|]/g, '\\$&');
}

const MOST_SIGNS = 16;

/** The characters that values have, which the next ones may have too, in somewhat longer values. */
function alphabetOf(values: ReadonlySet<string>): string {
  const text = [...values].join('');
  const letters = /[^A-Za-z\P{L}]|\p{M}/u.test(text) ? ['\\p{L}\\p{M}'] : ['A-Z', 'a-z'];
  const kinds = ['\\d', ...letters].filter((kind) => new RegExp(`[${kind}]`, 'u').test(text));
  const signs = [...new Set(text.replace(/[\d\p{L}\p{M}]/gu, ''))];
  if (signs.length > MOST_SIGNS) return '';
  const longest = [...values].reduce((most, one) => Math.max(most, Array.from(one).length), 0);
  const room = Math.min(SEEN.value, Math.max(10, Math.ceil((longest * 1.5) / 10) * 10));
  const escapedSigns = signs.map((sign) => sign.replace(/[\\\]^-]/g, '\\$&'));
  return `[${[...kinds, ...escapedSigns].join('')}]{1,${room}}`;
}

/** The next of 1, 2 and 5 with zeros that is at least twice a number. */
export function roundAbove(largest: number): number {
  const least = 2 * largest;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return ([1, 2, 5, 10].find((one) => one * power >= least) ?? 10) * power;
}
