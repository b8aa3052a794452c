/** A problem or warning of the configuration, with its place; line 0 when it is not in the file. */
export type ConfigProblem = {
  /** The configuration file, absolute. */
  file: string;
  /** 1-based. */
  line: number;
  /** 1-based. */
  column: number;
  /** `delivery.timeout`, `sources[0].path`, or a variable or flag; empty for the complete file. */
  path: string;
  message: string;
  /** What to do, if the message does not say it. */
  hint?: string;
};

/** The keys and list positions that lead to a value of the file. */
export type KeyPath = readonly (string | number)[];

/** A problem before its place is looked up: at the value, or at the key. */
export type Finding = {
  path: KeyPath | string;
  at?: 'key' | 'value';
  message: string;
  hint?: string;
};

/** `file:line:column path: message (hint)`, like a compiler message; `file` as shown to the reader. */
export function sentenceOf(problem: ConfigProblem, file = problem.file): string {
  const place = problem.line > 0 ? `${file}:${problem.line}:${problem.column} ` : '';
  const subject = problem.path === '' ? '' : `${problem.path}: `;
  return `${place}${subject}${problem.message}${problem.hint === undefined ? '' : ` (${problem.hint})`}`;
}

/** `delivery.timeout`, `sources[0].path`. */
export function pathText(path: KeyPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** A value of the file for a message: short, quoted and without credentials, or its kind. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys and values';
  return typeof value === 'string'
    ? JSON.stringify(shortened(withoutCredentials(value)))
    : `${JSON.stringify(value)}`;
}

/** An address without the part between `//` and `@`, and without a password among its options; other text unchanged. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/:\/\/[^/?#\s]*@/g, '://[redacted]@')
    .replace(/([?&]password=)[^&\s]*/g, '$1[redacted]');
}

/** The password in an address of Redis, as it is written there and decoded; none for another text. */
export function passwordsIn(address: string): string[] {
  const written = [
    /:\/\/[^/?#\s:]*:([^/?#\s]*)@/.exec(address)?.[1],
    /[?&]password=([^&\s]*)/.exec(address)?.[1],
  ];
  return written.flatMap((text) =>
    text === undefined || text === '' ? [] : [text, decoded(text)],
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/**
 * Finds the candidate that a mistyped word most likely means; undefined when none is close. At most a third of the
 * characters may differ, regardless of case.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase().slice(0, 64);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = edits(typed, candidate.toLowerCase());
    if (
      distance < least &&
      distance <= Math.max(1, Math.floor(Math.max(typed.length, candidate.length) / 3))
    ) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance: characters inserted, removed, replaced or swapped with their neighbor. */
function edits(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
          ? at(beforeLast, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      current.push(Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced, swapped));
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
