import { patternFault, SEEN } from '../config/mapping-schema.ts';

/** A pattern for values, and how many of the distinct ones it was made of. */
export type Pattern = { like: string; values: number };

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
 * What all these values look like, as a regular expression that the schema accepts and that matches each of them. Letters
 * and digits at the beginning are kept where all values have them.
 */
export function inferPattern(values: Iterable<string>): Pattern | undefined {
  const all = new Set(values);
  all.delete('');
  if (all.size === 0) return undefined;

  const forms = new Map<string, Run[]>();
  const alphabet = createAlphabet();
  for (const value of all) {
    alphabet.add(value);
    if (forms.size > MOST_FORMS) continue;
    const runs = runsOf(value);
    const key = runs.map(({ kind, text }) => (kind === 'sign' ? text : kind)).join(' ');
    const known = forms.get(key);
    if (known === undefined) forms.set(key, runs);
    else merge(known, runs);
  }

  const exact =
    forms.size <= MOST_FORMS &&
    [...forms.values()].map((runs) => written(runs, forms.size === 1 ? all.size : 0)).join('|');
  const like = [exact, alphabet.pattern(), '.+'].find(
    (one): one is string => typeof one === 'string' && isGood(one, all),
  );
  return like === undefined ? undefined : { like, values: all.size };
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

/** The characters that values have, for those that have no form in common. */
function createAlphabet() {
  const signs = new Set<string>();
  const kinds = new Set<RunKind>();
  let longest = 0;
  return {
    add(value: string) {
      longest = Math.max(longest, Array.from(value).length);
      for (const { kind, text } of runsOf(value)) {
        kinds.add(kind);
        if (kind === 'sign' && signs.size <= MOST_SIGNS) signs.add(text);
      }
    },
    pattern(): string | undefined {
      if (signs.size > MOST_SIGNS || longest > SEEN.value) return undefined;
      const ranges = [
        kinds.has('digits') ? '\\d' : '',
        kinds.has('letters') ? '\\p{L}\\p{M}' : '',
        !kinds.has('letters') && (kinds.has('upper') || kinds.has('mixed')) ? 'A-Z' : '',
        !kinds.has('letters') && (kinds.has('lower') || kinds.has('mixed')) ? 'a-z' : '',
        ...[...signs].map((sign) => sign.replace(/[\\\]^-]/g, '\\$&')),
      ];
      // The next values may be somewhat longer.
      return `[${ranges.join('')}]{1,${roomFor(longest)}}`;
    },
  };
}

function roomFor(longest: number): number {
  return Math.min(SEEN.value, Math.max(10, Math.ceil((longest * 1.5) / 10) * 10));
}

/** The next of 1, 2 and 5 with zeros that is at least twice a number. */
export function roundAbove(largest: number): number {
  const least = 2 * largest;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return ([1, 2, 5, 10].find((one) => one * power >= least) ?? 10) * power;
}
