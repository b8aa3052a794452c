import { z } from 'zod';
import { toError } from '../core/errors.ts';
import { NEW } from '../order/order.ts';
import { line } from './fields.ts';

/** The encodings that a file may have: those of the platform's decoder, and the DOS code pages of western Europe. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'macintosh',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-13',
  'cp437',
  'cp850',
  'cp852',
  'cp858',
  'ibm866',
  'koi8-r',
  'koi8-u',
  'x-mac-cyrillic',
  'shift_jis',
  'euc-jp',
  'gbk',
  'gb18030',
  'big5',
  'euc-kr',
] as const;

/** The fields of the API that a column can be. */
const ROLES = ['purchaseOrderNumber', 'articleCode', 'quantity', 'orderState'] as const;
export type Role = (typeof ROLES)[number];

/** Characters of a value that `like` sees, and of a line that `skipRows` and `lastRow` see. */
export const SEEN = { value: 256, line: 4_096 } as const;

/** Steps that one match may take at most: some hundredths of a second. */
const MOST_STEPS = 2 ** 25;

/**
 * A value of a file. A number or a boolean of YAML is not what is written there (`007`, `1.0`, `TRUE`), and a value that is
 * compared with something else than a person reads would be sent.
 */
const value = z
  .string({ error: 'expected a text; put values that are numbers, true or false in quotes' })
  .max(4096)
  .overwrite((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''));

const VALUES = { error: 'expected a list of values, such as [OPEN, ""]' };
const values = z.array(value, VALUES).min(1, VALUES);

const NAMES = { error: 'expected a list of column names, such as [Material, "Item code"]' };
const names = z.array(line, NAMES).min(1, NAMES);

const ABOVE_ZERO = { error: 'expected a number above zero, without quotes' };
const FROM_ONE = { error: 'expected a whole number from 1' };
const position = z.number(FROM_ONE).int(FROM_ONE).min(1, FROM_ONE);

const path = line.regex(/^[^.]+(?:\.[^.]+)*$/, { error: 'expected a path such as data.orders' });

/** A regular expression that takes a bounded time for every text; `like` is one as an example. */
function pattern(like: string, length: number, isWhole: boolean) {
  return line.superRefine((text, context) => {
    const fault = patternFault(text, length, isWhole);
    if (fault !== undefined)
      context.addIssue(`expected a regular expression, such as "${like}"; "${text}" ${fault}`);
  });
}

/** The keys of a column that say what it is; a column has those of one kind. */
const column = z
  .strictObject({
    is: z.enum(ROLES).exactOptional().describe('The field of the API that the column is.'),
    like: pattern('45\\d{8}', SEEN.value, true)
      .exactOptional()
      .describe('Numbers and articles: the regular expression that each complete value matches.'),
    max: z
      .number(ABOVE_ZERO)
      .positive(ABOVE_ZERO)
      .exactOptional()
      .describe('The quantity: the highest one that is sent.'),
    send: values
      .exactOptional()
      .describe('The values with which an order is sent; any other value holds it.'),
    skip: values.exactOptional().describe('The values with which a row is left out.'),
    field: line.exactOptional().describe('A further field of the API, under this name.'),
    type: z
      .enum(['text', 'integer', 'number', 'date'])
      .exactOptional()
      .describe('Of a further field. Default: text.'),
    format: z
      .string()
      .regex(/^(?=.*d)(?=.*M)(?=.*yyyy)(?:dd?|MM?|yyyy|[^\p{L}\d])+$/u, {
        error: 'expected a form of a date with d or dd, M or MM, and yyyy, such as dd.MM.yyyy',
      })
      .exactOptional()
      .describe('With type: date, how a date is written.'),
    of: z
      .enum(['order', 'item'])
      .exactOptional()
      .describe('order: one value for all rows of an order. Default: item.'),
    ignore: z.literal(true).exactOptional().describe('Nothing of the column is read.'),
    also: names.exactOptional().describe('Further names of the column.'),
    lineBreaks: z.boolean().exactOptional().describe('Its values may contain line breaks.'),
  })
  .superRefine((keys, context) => {
    for (const message of columnFaults(keys)) context.addIssue(message);
  });

export type ColumnKeys = z.output<typeof column>;

const KINDS = ['is', 'send', 'field', 'ignore'] as const;

/** For each key that some kinds of columns have: which. */
const OF_KIND: Partial<Record<keyof ColumnKeys, readonly (typeof KINDS)[number][]>> = {
  like: ['is'],
  max: ['is'],
  of: ['send', 'field'],
  type: ['field'],
  format: ['field'],
};

function columnFaults(keys: ColumnKeys): string[] {
  const has = (kind: (typeof KINDS)[number]) =>
    keys[kind] !== undefined || (kind === 'send' && keys.skip !== undefined);
  const kinds = KINDS.filter(has);
  if (kinds.length !== 1)
    return ['must have exactly one of is, send (with or without skip), field, and ignore'];

  const faults: string[] = [];
  for (const key of Object.keys(OF_KIND) as (keyof ColumnKeys)[])
    if (keys[key] !== undefined && !kinds.some((kind) => OF_KIND[key]?.includes(kind)))
      faults.push(`${key} has no meaning beside ${kinds[0]}`);

  if (keys.max !== undefined && keys.is !== 'quantity') faults.push('max is for the quantity');
  if (keys.like !== undefined && (keys.is === 'quantity' || keys.is === 'orderState'))
    faults.push(`like is for numbers and articles, not for ${keys.is}`);
  if (keys.format !== undefined && keys.type !== 'date') faults.push('format is for type: date');
  const both = keys.send?.find((one) => keys.skip?.includes(one));
  if (both !== undefined) faults.push(`both sends and skips "${both}"`);
  return faults;
}

const DELIMITER = 'expected tab, or one character such as "," ";" "|"';

const types = z.strictObject({
  at: position.describe('The position of the type in a record, from 1.'),
  order: line.describe('The type of records with which an order begins.'),
  item: line.describe('The type of its items.'),
  ignore: z.array(line).exactOptional().describe('Types of records that are left out.'),
});

const delimiter = z.codec(
  z.string({ error: DELIMITER }).regex(/^(?:tab|[^\p{L}\p{N}"'\\\r\n])$/u, { error: DELIMITER }),
  z.string(),
  {
    decode: (text) => (text === 'tab' ? '\t' : text),
    encode: (sign) => (sign === '\t' ? 'tab' : sign),
  },
);

/** The keys of a mapping without what they say about each other. */
const mappingKeys = z.strictObject({
  format: z
    .enum(['csv', 'json', 'ndjson', 'xlsx', 'xml'])
    .exactOptional()
    .describe('csv is every table of text. Absent: by content.'),
  encoding: z
    .enum(ENCODINGS)
    .exactOptional()
    .describe('Never guessed. A byte order mark takes precedence. Absent: utf-8.'),
  delimiter: delimiter
    .exactOptional()
    .describe('tab, or one character. Absent: the one of , ; tab | that the header shows.'),
  decimal: z
    .enum(['.', ','])
    .exactOptional()
    .describe('The decimal sign. Absent: a quantity such as 1,000 holds its order.'),
  columns: z
    .record(
      line,
      z.union([z.literal('ignore'), column], {
        error: 'expected ignore, or what the column is, such as { is: quantity }',
      }),
    )
    .describe('What each column, or key, of the files is.'),
  otherColumns: z
    .enum(['wait', 'ignore'])
    .prefault('wait')
    .describe('What a file with a column that is not in columns does.'),
  orderState: z
    .literal(NEW, { error: `must be ${NEW}` })
    .prefault(NEW)
    .describe('The state in which orders are created.'),
  quantity: z
    .union(
      [
        z.enum(['integer', 'number']),
        z.strictObject({
          value: z
            .number(ABOVE_ZERO)
            .positive(ABOVE_ZERO)
            .max(999_999_999_999_999)
            .describe('The quantity of every item, where no column has it.'),
        }),
      ],
      { error: 'expected integer, number, or a value above zero such as { value: 1 }' },
    )
    .prefault('integer')
    .describe('number allows fractions.'),
  articleCode: z
    .strictObject({
      value: line.max(SEEN.value).describe('The article of every item, where no column has it.'),
    })
    .exactOptional()
    .describe('The article, where no column has it.'),
  skipRows: z
    .array(pattern('^Total', SEEN.line, false))
    .prefault([])
    .describe('Tables: patterns of lines to leave out.'),
  lastRow: pattern('^END', SEEN.line, false)
    .exactOptional()
    .describe('Tables: the pattern of the line that ends each file.'),
  fillDown: z
    .boolean()
    .prefault(false)
    .describe('Rows: an empty order number repeats the one above.'),
  repeatedRows: z
    .enum(['hold', 'send'])
    .prefault('hold')
    .describe('send: rows of an order that are equal in every column are separate items.'),
  quote: z.literal('none').exactOptional().describe('Quotes are ordinary characters.'),
  sheet: line
    .exactOptional()
    .describe('XLSX: the sheet to read. Absent: the only visible one with data.'),
  finalNewline: z
    .enum(['required', 'optional'])
    .prefault('required')
    .describe('optional: the last row of a complete file may have no line end.'),
  header: z
    .literal('none')
    .exactOptional()
    .describe('Tables without a header: the names in columns are positions, from 1.'),
  // An empty path is the document itself.
  records: z
    .union([z.literal(''), path], { error: 'expected a path such as data.orders' })
    .exactOptional()
    .describe('JSON and XML: the path to the list of orders.'),
  items: path
    .exactOptional()
    .describe('JSON and XML: the path from an order to its items. Absent: objects are rows.'),
  types: types
    .exactOptional()
    .describe('Tables in which orders and items are separate records; columns are HEAD.2, LINE.3.'),
  widths: z
    .array(position, { error: 'expected a list of widths, such as [10, 5, 12]' })
    .min(1, { error: 'expected a list of widths, such as [10, 5, 12]' })
    .exactOptional()
    .describe('Columns of fixed width: the characters of each.'),
});

/** How the records of a file become orders. */
export const mappingSchema = mappingKeys.superRefine((mapping, context) => {
  for (const { path: at, message } of mappingFaults(mapping))
    context.addIssue({ code: 'custom', path: [...at], message });
});

export type Mapping = z.output<typeof mappingSchema>;

type MappingFault = { path: readonly string[]; message: string };

function mappingFaults(mapping: Mapping): MappingFault[] {
  return [
    ...roleFaults(mapping),
    ...nameFaults(mapping),
    ...fieldFaults(mapping),
    ...formFaults(mapping),
    ...placeFaults(mapping),
  ];
}

/** What a column is; `ignore` is short for its longer form. */
export function keysOf(declared: ColumnKeys | 'ignore'): ColumnKeys {
  return declared === 'ignore' ? { ignore: true } : declared;
}

/** Each field of the API comes from one column or one value. */
function roleFaults({ columns, articleCode, quantity }: Mapping): MappingFault[] {
  const faults: MappingFault[] = [];
  for (const role of ROLES) {
    const [first, ...others] = Object.keys(columns).filter(
      (name) => keysOf(columns[name] ?? 'ignore').is === role,
    );
    const hasValue =
      (role === 'articleCode' && articleCode !== undefined) ||
      (role === 'quantity' && typeof quantity === 'object');

    for (const name of others)
      faults.push({ path: ['columns', name], message: `is ${role}, as ${first} is already` });
    if (first === undefined && !hasValue && role !== 'orderState')
      faults.push({ path: ['columns'], message: `no column is: ${role}` });
    if (first !== undefined && hasValue)
      faults.push({ path: [role], message: `has a value, and the column ${first} is ${role}` });
  }
  return faults;
}

/** A column name for comparison: without case, outer spaces and characters that nobody sees. */
export function plainName(name: string): string {
  return name
    .normalize('NFC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .toLowerCase();
}

/** One name means one column. */
function nameFaults({ columns }: Mapping): MappingFault[] {
  const known = new Map<string, string>();
  const faults: MappingFault[] = [];
  for (const [name, declared] of Object.entries(columns))
    for (const one of [name, ...(keysOf(declared).also ?? [])]) {
      const first = known.get(plainName(one));
      if (first !== undefined)
        faults.push({ path: ['columns', name], message: `has the name ${one} of ${first}` });
      known.set(plainName(one), name);
    }
  return faults;
}

/** Names that a further field cannot have: the API's own, and those that no object should have. */
const TAKEN = {
  order: ['purchaseOrderNumber', 'orderState', 'items'],
  item: ['articleCode', 'quantity'],
};
const DANGEROUS = ['__proto__', 'constructor', 'prototype'];

function fieldFaults({ columns }: Mapping): MappingFault[] {
  const taken = { order: new Set(TAKEN.order), item: new Set(TAKEN.item) };
  return Object.entries(columns).flatMap(([name, declared]): MappingFault[] => {
    const { field, of = 'item' } = keysOf(declared);
    if (field === undefined) return [];
    const isTaken = taken[of].has(field) || DANGEROUS.includes(field);
    taken[of].add(field);
    const message = `there is a field ${field} of the ${of} already`;
    return isTaken ? [{ path: ['columns', name, 'field'], message }] : [];
  });
}

const OBJECTS = ['json', 'ndjson', 'xml'];

/** Keys that only some formats have. */
const FORMS: readonly [keyof Mapping, readonly string[]][] = [
  ['records', ['json', 'xml']],
  ['items', OBJECTS],
  ['sheet', ['xlsx']],
  ['delimiter', ['csv']],
  ['quote', ['csv']],
  ['widths', ['csv']],
  ['types', ['csv', 'xlsx']],
  ['header', ['csv', 'xlsx']],
  ['lastRow', ['csv', 'xlsx']],
];

/** Keys that exclude each other. */
const EXCLUSIVE: readonly [keyof Mapping, readonly (keyof Mapping)[]][] = [
  ['widths', ['delimiter', 'quote']],
  ['types', ['header', 'items', 'records', 'fillDown']],
  ['items', ['header', 'widths', 'fillDown', 'lastRow']],
];

function formFaults(mapping: Mapping): MappingFault[] {
  const isSet = (key: keyof Mapping) => mapping[key] !== undefined && mapping[key] !== false;
  const { format } = mapping;
  const wrong = FORMS.filter(
    ([key, formats]) => isSet(key) && format !== undefined && !formats.includes(format),
  );
  const faults = wrong.map(([key]) => ({ path: [key], message: `has no meaning in ${format}` }));
  for (const [key, others] of EXCLUSIVE)
    for (const other of others)
      if (isSet(key) && isSet(other))
        faults.push({ path: [other], message: `cannot be set together with ${key}` });

  const isSplit = isSet('delimiter') || isSet('widths') || format === 'xlsx';
  if ((isSet('header') || isSet('types')) && !isSplit)
    faults.push({ path: ['delimiter'], message: 'is needed where no header shows it' });
  return faults;
}

/** Without a header, names are positions; with record types, positions in records of a type. */
function placeFaults({ columns, header, types: declared }: Mapping): MappingFault[] {
  if (header === undefined && declared === undefined) return [];
  const isOf = { order: `${declared?.order}.`, item: `${declared?.item}.` };
  return Object.entries(columns).flatMap(([name, one]): MappingFault[] => {
    const fault = (message: string) => [{ path: ['columns', name], message }];
    if (keysOf(one).also !== undefined) return fault('a position has no further names');
    if (declared === undefined)
      return POSITION.test(name) ? [] : fault('must be a position, such as 1');
    const of = (['order', 'item'] as const).find((each) => name.startsWith(isOf[each]));
    if (of === undefined || !POSITION.test(name.slice(isOf[of].length)))
      return fault(`must be a position in a record, such as ${isOf.order}2`);
    const { is } = keysOf(one);
    const at =
      is === 'purchaseOrderNumber'
        ? 'order'
        : is === 'articleCode' || is === 'quantity'
          ? 'item'
          : of;
    return at === of ? [] : fault(`${is} must be in records of the type of the ${at}`);
  });
}

const POSITION = /^[1-9]\d{0,3}$/;

/**
 * Why a pattern is not accepted. Backtracking is bounded by what the pattern can try: the lengths of its repetitions
 * multiplied, where a repetition whose inside can vary too has no bound.
 */
export function patternFault(text: string, length: number, isWhole: boolean): string | undefined {
  try {
    new RegExp(text, 'u');
  } catch (error) {
    return `is none: ${toError(error).message}`;
  }
  const starts = isWhole || text.startsWith('^') ? 1 : length;
  if (starts * stepsOf(text, length) <= MOST_STEPS) return undefined;
  return 'can take too long: repeat nothing that repeats, use fewer + and *, or begin with ^';
}

const TOKEN =
  /\\[kK]<|\\[1-9]|\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<[^>]*>))?|[)|]|(?:[*+?]|\{\d+(?:,\d*)?\})\??|./gsu;

/** How many ways a valid pattern has to match a text at one place, at most. */
function stepsOf(text: string, length: number): number {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;

  /** A group up to its end: the ways of its alternatives together. */
  function alternatives(): number {
    let total = 0;
    let product = 1;
    for (; at < tokens.length && tokens[at] !== ')'; ) {
      const token = tokens[at++] ?? '';
      if (token === '|') {
        total += product;
        product = 1;
        continue;
      }
      product *= repeated(
        token.startsWith('(') ? group() : /^\\[1-9kK]/.test(token) ? Infinity : 1,
      );
    }
    return total + product;
  }

  function group(): number {
    const ways = alternatives();
    at += 1;
    return ways;
  }

  /** Something with the repetition that follows it, if one does. */
  function repeated(ways: number): number {
    const range = rangeOf(tokens[at] ?? '', length);
    if (range === undefined) return ways;
    at += 1;
    const [least, most] = range;
    if (least === most) return ways ** least;
    if (most === 1) return ways + 1;
    return ways > 1 ? Infinity : most - least + 1;
  }

  return alternatives();
}

function rangeOf(token: string, length: number): [number, number] | undefined {
  const [, sign, least = '', comma, most = ''] =
    /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(token) ?? [];
  if (sign === '?') return [0, 1];
  if (sign !== undefined) return [sign === '+' ? 1 : 0, length];
  if (least === '') return undefined;
  if (comma === '') return [Number(least), Number(least)];
  return [Number(least), most === '' ? length : Number(most)];
}
