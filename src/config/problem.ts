/** Something wrong or doubtful in the configuration, with its place; line 0 when it is not in the file. */
export type ConfigProblem = {
  /** The configuration file, absolute. */
  file: string;
  /** 1-based. */
  line: number;
  /** 1-based. */
  column: number;
  /** `delivery.timeout`, `sources[0].path`, or the variable or flag that is meant; empty for the whole file. */
  path: string;
  message: string;
  /** What to do, where it is not plain from the message. */
  hint?: string;
};

/** The keys and list positions that lead to a value of the file. */
export type KeyPath = readonly (string | number)[];

/** A problem before its place in the file is looked up: it stands at the value, or at the key itself. */
export type Finding = { path: KeyPath | string; at?: 'key' | 'value'; message: string; hint?: string };

/** `file:line:column path: message (hint)`, as compilers write it; `file` as the reader is to see it. */
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

/** A value from the file as it is named in a message: short, quoted, without credentials, or by its kind. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys and values';
  return typeof value === 'string' ? JSON.stringify(shortened(withoutCredentials(value))) : `${JSON.stringify(value)}`;
}

/** An address without the part between `//` and `@`; every other text as it is. */
export function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^/?#\s]*@/g, '://[redacted]@');
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
