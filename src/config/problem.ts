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
export type Finding = { path: KeyPath | string; at?: 'key' | 'value'; message: string; hint?: string };

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
  return typeof value === 'string' ? JSON.stringify(shortened(withoutCredentials(value))) : `${JSON.stringify(value)}`;
}

/** An address without the part between `//` and `@`; every other text unchanged. */
export function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^/?#\s]*@/g, '://[redacted]@');
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
