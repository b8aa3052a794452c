/** A table of Lua: what is at 1, 2, 3 …, without a gap, and what is at names. */
export class Table {
  readonly list: unknown[];
  readonly names = new Map<unknown, unknown>();

  constructor(list: unknown[]) {
    this.list = list;
  }

  at(key: unknown): unknown {
    return typeof key === 'number' ? this.list[key - 1] : this.names.get(key);
  }

  put(key: unknown, value: unknown): void {
    if (typeof key === 'number' && (key < 1 || key > this.list.length + 1 || value === undefined))
      throw new RangeError(`a table with a gap at ${key}`);
    if (typeof key === 'number') this.list[key - 1] = value;
    else if (value === undefined) this.names.delete(key);
    else this.names.set(key, value);
  }
}

/** Text as Lua writes it. */
function text(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new TypeError(`${typeof value} used as text`);
}

function number(value: unknown): number {
  const found = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof found === 'number' && !Number.isNaN(found)) return found;
  throw new TypeError(`${String(value)} used as a number`);
}

function inTable(value: unknown): Table {
  if (value instanceof Table) return value;
  throw new TypeError(`${String(value)} used as a table`);
}

const CLASSES: Readonly<Record<string, string>> = { d: '\\d', w: '[A-Za-z0-9]', S: '\\S' };
const patterns = new Map<unknown, RegExp>();

/** A pattern of Lua, as far as our scripts use them. */
function patternOf(pattern: unknown): RegExp {
  let known = patterns.get(pattern);
  if (known === undefined) {
    const source = text(pattern).replace(/%(.)/g, (_, one: string) => CLASSES[one] ?? `\\${one}`);
    known = new RegExp(source, 'gs');
    patterns.set(pattern, known);
  }
  known.lastIndex = 0;
  return known;
}

function foundOf(match: RegExpExecArray): unknown[] {
  return match.length > 1 ? match.slice(1) : [match[0]];
}

const string = {
  match(from: unknown, pattern: unknown): unknown[] {
    const match = patternOf(pattern).exec(text(from));
    return match === null ? [] : foundOf(match);
  },
  gmatch: (from: unknown, pattern: unknown): unknown[] => [
    [...text(from).matchAll(patternOf(pattern))].map(foundOf),
  ],
  /** Only plain texts are looked for. */
  find(from: unknown, what: unknown): unknown[] {
    const at = text(from).indexOf(text(what));
    return at < 0 ? [] : [at + 1];
  },
  sub(from: unknown, first: number, last = -1): unknown[] {
    const all = text(from);
    const place = (at: number) => (at < 0 ? all.length + at + 1 : at);
    return [all.slice(place(first) - 1, place(last))];
  },
  format: (form: unknown, value: unknown): unknown[] => [
    number(value).toFixed(Number(/^%\.(\d)f$/.exec(text(form))?.[1])),
  ],
};

/** What cjson makes of null: true, unlike nil. */
const NULL = Symbol('null');

function decoded(value: unknown): unknown {
  if (value === null) return NULL;
  if (Array.isArray(value)) return new Table(value.map(decoded));
  if (typeof value !== 'object') return value;
  const table = new Table([]);
  for (const [name, one] of Object.entries(value)) table.put(name, decoded(one));
  return table;
}

function plain(value: unknown): unknown {
  if (value === NULL) return null;
  if (!(value instanceof Table)) return value;
  if (value.list.length > 0) return value.list.map(plain);
  return Object.fromEntries([...value.names].map(([name, one]) => [name, plain(one)]));
}

export type Library = typeof LIBRARY;

/** What scripts call; each function of Lua gives a list of values. */
export const LIBRARY = {
  text,
  number,
  isTrue: (value: unknown): boolean => value !== undefined && value !== false,
  at: (table: unknown, key: unknown): unknown => inTable(table).at(key),
  put: (table: unknown, key: unknown, value: unknown): void => inTable(table).put(key, value),
  length: (of: unknown): number => (typeof of === 'string' ? of.length : inTable(of).list.length),
  make(pairs: readonly [unknown, unknown][], list: unknown[]): Table {
    const table = new Table(list);
    for (const [key, value] of pairs) table.put(key, value);
    return table;
  },
  unpack: (table: unknown, first = 1, last?: number): unknown[] =>
    inTable(table).list.slice(first - 1, last),
  pairs(table: unknown): unknown[] {
    const { list, names } = inTable(table);
    return [[...list.map((value, i) => [i + 1, value]), ...names]];
  },
  ipairs: (table: unknown): unknown[] => [inTable(table).list.map((value, i) => [i + 1, value])],
  tostring: (value: unknown): unknown[] => [value === undefined ? 'nil' : text(value)],
  tonumber(value: unknown, base = 10): unknown[] {
    if (typeof value !== 'string') return [value];
    const found =
      value === '' ? Number.NaN : base === 10 ? Number(value) : Number.parseInt(value, base);
    return Number.isNaN(found) ? [] : [found];
  },
  string,
  table: {
    insert(table: unknown, first: unknown, second?: unknown): unknown[] {
      const { list } = inTable(table);
      if (second === undefined) list.push(first);
      else list.splice(number(first) - 1, 0, second);
      return [];
    },
    concat: (table: unknown, between: unknown): unknown[] => [
      inTable(table).list.map(text).join(text(between)),
    ],
  },
  math: {
    min: (...all: number[]): unknown[] => [Math.min(...all)],
    max: (...all: number[]): unknown[] => [Math.max(...all)],
    floor: (value: number): unknown[] => [Math.floor(value)],
    ceil: (value: number): unknown[] => [Math.ceil(value)],
  },
  cjson: {
    decode: (json: unknown): unknown[] => [decoded(JSON.parse(text(json)))],
    encode: (value: unknown): unknown[] => [JSON.stringify(plain(value))],
  },
};
