import path from 'node:path';
import { plainName } from '../config/mapping-schema.ts';
import { count, counted } from '../core/format.ts';
import { characterIn, quantityOf } from '../mapping/domain.ts';
import type { Mark } from '../mapping/line.ts';
import { readQuantity } from '../order/quantity.ts';
import { shorten } from '../order/text.ts';
import { type Inventory, inventoryOf, valuesText } from './inventory.ts';
import { type Skip, type Sorted, skipPattern, sortRows } from './misfits.ts';
import { nameScore } from './names.ts';
import { inferPattern, roundAbove } from './patterns.ts';
import { findRoles, isText, type Roles } from './roles.ts';
import { hasRows, type Table, type TableColumn, type TableRow } from './table.ts';

/** A value as YAML has it. */
export type Yaml = string | number | boolean | readonly Yaml[] | { readonly [key: string]: Yaml };

/** One key of a mapping with what a person should know. `question`: what only a person can say. */
export type Entry = {
  key: string;
  value: Yaml;
  note?: string;
  question?: string;
  /** The values that the question is about. */
  values?: readonly string[];
};

/** A mapping for files of one layout. */
export type Proposal = {
  name: string;
  files: readonly string[];
  /** What is said about all of it. */
  notes: readonly string[];
  questions: readonly string[];
  before: readonly Entry[];
  columns: readonly Entry[];
  after: readonly Entry[];
};

/** Proposes a mapping for tables of one layout. */
export function propose(name: string, tables: readonly [Table, ...Table[]]): Proposal {
  const table = joined(tables);
  const roles = rolesOf(table);
  const sorted = sortRows(table.rows, roles);
  const header = table.byPosition === undefined ? [] : headerSkips(tables, sorted.fitting);
  const context: Context = {
    table,
    roles,
    sorted,
    isFilledDown: hasRows(table) && isFilledDown(sorted, roles),
  };
  const quantity = quantityEntries(context);
  const columns = table.columns.map((column, at) =>
    entryOf(column, at, inventoryOf(sorted.fitting, at), context),
  );

  return {
    name,
    files: tables.map(({ file }) => path.basename(file)),
    notes: [
      `${counted(table.rows.length, 'row')} of ${tables.length === 1 ? '1 file' : `${tables.length} files`} looked at`,
      ...tables.flatMap(({ notes }) => notes),
    ],
    questions: [...missingRoles(roles), ...othersText(sorted)],
    before: [...table.settings, ...positions(table), ...quantity.decimal],
    columns,
    after: [...quantity.kind, ...rowEntries(context, header)],
  };
}

/** The mapping itself. */
export function mappingInput({
  before,
  columns,
  after,
}: Pick<Proposal, 'before' | 'columns' | 'after'>) {
  const object = (entries: readonly Entry[]) =>
    Object.fromEntries(entries.map(({ key, value }) => [key, value]));
  return { ...object(before), columns: object(columns), ...object(after) };
}

type Context = { table: Table; roles: Roles; sorted: Sorted; isFilledDown: boolean };

/** All rows of tables of one layout, by the columns of the first one, then those that only others have. */
function joined([first, ...others]: readonly [Table, ...Table[]]): Table {
  const columns = [...first.columns];
  const rows = [...first.rows];
  for (const table of others) {
    const places = table.columns.map((column) => {
      const at = columns.findIndex(({ name }) => sameName(name, column.name));
      return at < 0 ? columns.push(column) - 1 : at;
    });
    for (const row of table.rows) {
      const cells: string[] = [];
      const odd: { [at: number]: Mark | undefined } = {};
      for (const [at, place] of places.entries()) {
        cells[place] = row.cells[at] ?? '';
        odd[place] = row.odd?.[at];
      }
      rows.push({ ...row, cells, odd });
    }
  }
  const all = rows.map((row) => ({ ...row, cells: columns.map((_, at) => row.cells[at] ?? '') }));
  const settings = [first, ...others].find(({ isAscii }) => !isAscii)?.settings ?? first.settings;
  return { ...first, settings, columns, rows: all };
}

/** Whether two names are one for a mapping. */
function sameName(a: string, b: string): boolean {
  return plainName(a) === plainName(b);
}

function positions({ byPosition }: Table): Entry[] {
  return byPosition === undefined ? [] : [{ key: 'header', value: 'none', note: byPosition }];
}

/** The roles, found again without the rows that fit no order. */
function rolesOf(table: Table): Roles {
  const first = findRoles(table);
  const { fitting } = sortRows(table.rows, first);
  return fitting.length === table.rows.length || fitting.length === 0
    ? first
    : findRoles({ columns: table.columns, rows: fitting });
}

function headerSkips(tables: readonly Table[], fitting: readonly TableRow[]): Skip[] {
  return tables.flatMap(({ header }) => {
    const pattern = header && skipPattern(header.written, fitting);
    return header === undefined || pattern === undefined
      ? []
      : [{ pattern, rows: 1, example: header.written }];
  });
}

const NAMES = {
  number: 'purchaseOrderNumber',
  article: 'articleCode',
  quantity: 'quantity',
} as const;

const OR_VALUE = {
  number: '',
  article: ', or is it one for all, `articleCode: { value: … }`',
  quantity: ', or is it one for all, `quantity: { value: … }`',
};

/** What a mapping must have and the file does not: it is none until a person says which column, or which value, that is. */
function missingRoles(roles: Roles): string[] {
  const texts = { number: 'the order number', article: 'the article', quantity: 'the quantity' };
  return (['number', 'article', 'quantity'] as const)
    .filter((role) => roles[role] === undefined)
    .map((role) => `no column looks like ${texts[role]}: which is it${OR_VALUE[role]}?`);
}

function othersText({ others }: Sorted): string[] {
  const [first] = others;
  if (first === undefined) return [];
  const lines = counted(others.length, 'row');
  return [
    `${lines} without number and article will be held, first on line ${first.line}: what are they?`,
  ];
}

/** Whether the number is only in the first row of each order. */
function isFilledDown({ fitting }: Sorted, { number, article }: Roles): boolean {
  if (number === undefined) return false;
  const numbers = fitting.map(({ cells }) => cells[number.at] ?? '');
  const blank = numbers.filter((one) => one === '').length;
  if (blank === 0 || numbers[0] === '') return false;
  const filled = numbers.filter((one) => one !== '');
  const isOnce = new Set(filled).size === filled.length;
  const isFilled = (row: TableRow) => article === undefined || row.cells[article.at] !== '';
  return isOnce && fitting.filter(({ cells }) => cells[number.at] === '').every(isFilled);
}

function rowEntries(
  { sorted, isFilledDown: isFilled, roles, table }: Context,
  header: Skip[],
): Entry[] {
  const { skips, fitting } = sorted;
  const entries: Entry[] = [];
  const all = [...header, ...skips];
  if (all.length > 0)
    entries.push({
      key: 'skipRows',
      value: [...new Set(all.map(({ pattern }) => pattern))],
      question: `are these no rows of orders? ${all
        .slice(0, 4)
        .map(({ rows, example }) => `${rows}× ${JSON.stringify(shorten(example, 40))}`)
        .join(', ')}`,
      values: all.map(({ example }) => shorten(example)),
    });
  if (isFilled) {
    const at = roles.number?.at ?? -1;
    const blank = fitting.filter(({ cells }) => cells[at] === '').length;
    const name = table.columns[at]?.name ?? '';
    const note = `${shorten(name, 40)} is empty in ${blank} of ${fitting.length} rows, which belong to the number above`;
    entries.push({ key: 'fillDown', value: true, question: `${note}?` });
  }
  return entries;
}

/** The decimal sign with its evidence, and whether there are fractions. */
function quantityEntries({ table, roles, sorted }: Context): { decimal: Entry[]; kind: Entry[] } {
  const at = roles.quantity?.at;
  if (at === undefined) return { decimal: [], kind: [] };

  const texts = sorted.fitting
    .filter(({ odd }) => odd?.[at] === undefined)
    .map(({ cells }) => cells[at] ?? '');
  const decimal = decimalOf(texts, table.columns[at]?.name ?? '');
  const sign = decimal[0]?.value;
  const rules = { decimal: sign === '.' || sign === ',' ? sign : 'auto', isWhole: true } as const;
  const fractions = sorted.fitting.flatMap(({ cells, odd }) => {
    const read = quantityOf(cells[at] ?? '', odd?.[at], rules);
    return 'fault' in read && read.fault === 'not-whole' ? [cells[at] ?? ''] : [];
  });
  if (fractions.length === 0) return { decimal, kind: [] };
  const note = `${counted(fractions.length, 'quantity').replace('quantitys', 'quantities')} with a fraction, such as ${shorten(fractions[0] ?? '', 30)}`;
  return {
    decimal,
    kind: [{ key: 'quantity', value: 'number', question: `${note}: is this right?` }],
  };
}

function decimalOf(texts: readonly string[], name: string): Entry[] {
  const evidence = { '.': [] as string[], ',': [] as string[] };
  const ambiguous: string[] = [];
  for (const text of texts) {
    const read = readQuantity(text.replace(/^-|-$/, ''), 'auto', false);
    if ('sign' in read && read.sign !== undefined) evidence[read.sign].push(text);
    else if ('fault' in read && read.fault === 'ambiguous-number') ambiguous.push(text);
    else if ('value' in read && /^\d+[.,]\d+$/.test(text))
      evidence[text.includes(',') ? ',' : '.'].push(text);
  }
  const [point, comma] = [evidence['.'], evidence[',']];
  if (point.length > 0 && comma.length > 0) {
    const question = `${shorten(name, 40)} has ${shorten(point[0] ?? '', 20)} and ${shorten(comma[0] ?? '', 20)}: which sign begins the fraction?`;
    return [{ key: 'decimal', value: comma.length > point.length ? ',' : '.', question }];
  }
  const sign = comma.length > 0 ? ',' : point.length > 0 ? '.' : undefined;
  const shown = [...new Set([...comma, ...point])].slice(0, 2).map((text) => shorten(text, 20));
  if (sign !== undefined)
    return [
      { key: 'decimal', value: sign, note: `${shorten(name, 40)} has ${shown.join(' and ')}` },
    ];
  const [first] = ambiguous;
  if (first === undefined) return [];
  const either = first.includes(',') ? ',' : '.';
  // As SAP writes them, all with three digits behind the sign.
  const isFraction = ambiguous.length === texts.length;
  const guess = isFraction ? either : either === ',' ? '.' : ',';
  const question = `${shorten(first, 20)} can be read in two ways: which sign begins the fraction?`;
  return [{ key: 'decimal', value: guess, question }];
}

function entryOf(column: TableColumn, at: number, inventory: Inventory, context: Context): Entry {
  const { name: key } = column;
  const { roles, sorted } = context;
  const role = (['number', 'article', 'quantity'] as const).find((one) => roles[one]?.at === at);
  const entry =
    role === undefined
      ? otherEntry(column, at, inventory, context)
      : role === 'quantity'
        ? quantityEntry(key, at, sorted.fitting)
        : textEntry(key, at, role, sorted.fitting);
  const isByValues = role !== undefined && roles[role]?.by === 'values';
  const named: Entry = isByValues
    ? {
        ...entry,
        question: `${entry.note ?? ''}; chosen by its values, is it the ${role}?`,
        values: shownValues(inventory),
      }
    : entry;
  return hasRows(context.table) && inventory.hasLineBreak ? withLineBreaks(named) : named;
}

function withLineBreaks(entry: Entry): Entry {
  const { value } = entry;
  const keys: unknown = value === 'ignore' ? { ignore: true } : value;
  return typeof keys === 'object' && !Array.isArray(keys)
    ? { ...entry, value: Object.assign({}, keys, { lineBreaks: true }) }
    : entry;
}

function shownValues({ top }: Inventory): string[] {
  return top.map(({ value }) => shorten(value));
}

function textEntry(
  key: string,
  at: number,
  role: 'number' | 'article',
  rows: readonly TableRow[],
): Entry {
  const filled = rows.filter(({ cells }) => cells[at] !== '');
  const good = filled.filter((row) => isText(row, at, role === 'number'));
  const pattern = inferPattern(good.map(({ cells }) => cells[at] ?? ''));
  if (pattern.values === 0) return { key, value: { is: NAMES[role] }, note: 'no values' };
  const wrong = filled.find((row) => !isText(row, at, role === 'number'));
  const few = pattern.values < FEW ? `; made of only ${counted(pattern.values, 'value')}` : '';
  const bad =
    wrong === undefined ? '' : `; not ${JSON.stringify(shorten(wrong.cells[at] ?? '', 30))}`;
  return {
    key,
    value: { is: NAMES[role], ...(pattern.like !== undefined && { like: pattern.like }) },
    note: `${count(good.length)} of ${count(rows.length)} ${pattern.like === undefined ? 'can be sent, in no common form' : 'match'}${few}${bad}`,
  };
}

/** Fewer values than these show little about others. */
const FEW = 10;

function quantityEntry(key: string, at: number, rows: readonly TableRow[]): Entry {
  const rules = { decimal: 'auto', isWhole: false } as const;
  const values = rows.flatMap(({ cells, odd }) => {
    const text = cells[at] ?? '';
    const read = quantityOf(text, odd?.[at], rules);
    // What has two readings may be the larger one.
    const larger = 'fault' in read && read.fault === 'ambiguous-number';
    return larger ? [Number(text.replace(/\D/g, ''))] : 'value' in read ? [read.value] : [];
  });
  const largest = values.reduce((most, one) => Math.max(most, one), 0);
  if (largest <= 0) return { key, value: { is: 'quantity' }, note: 'no values above 0' };
  return {
    key,
    value: { is: 'quantity', max: roundAbove(largest) },
    note: `largest: ${count(largest)}`,
  };
}

/** A column that is no role: a condition, or one that is ignored until a person says otherwise. */
function otherEntry(
  { name: key }: TableColumn,
  at: number,
  inventory: Inventory,
  context: Context,
): Entry {
  const values = shownValues(inventory);
  const { top, rows, empty, distinct } = inventory;
  if (distinct === 1 && empty === 0 && top[0]?.value === 'NEW' && nameScore(key, 'condition') > 0)
    return { key, value: { is: 'orderState' }, note: `all ${rows} rows are NEW` };

  const isUnit = nameScore(key, 'unit') > 38 && distinct > 0;
  const isStatus = nameScore(key, 'condition') >= 38;
  if ((isUnit || isStatus) && isCondition(inventory) && isComparable(at, context.sorted.fitting))
    return conditionEntry(key, inventory, {
      isUnit,
      isOfOrder: distinct > 0 && isOfOrder(at, context),
    });

  if (distinct === 0) return { key, value: 'ignore', note: 'empty in all rows' };
  const few =
    distinct <= ASKED && rows >= 2 * distinct && top.every(({ value }) => mayDecide(value));
  const text = valuesText(inventory);
  return few
    ? { key, value: 'ignore', question: `${text}: does it decide what is sent?`, values }
    : { key, value: 'ignore', note: text };
}

/** Columns with at most so many values may decide something, whatever they are called. */
const ASKED = 6;
const LONGEST_CONDITION = 40;

/** A word, a flag or nothing; a number counts something. */
function mayDecide(value: string): boolean {
  return value.length <= 20 && !/^[\d.,:/-]{2,}$|[\r\n]/.test(value);
}

function isCondition({ top, distinct, isMore }: Inventory): boolean {
  return (
    !isMore &&
    top.length > 0 &&
    distinct < top.length + 1 &&
    top.every(
      ({ value }) =>
        value.length <= LONGEST_CONDITION &&
        characterIn(value) === undefined &&
        value.trim() === value,
    )
  );
}

/** A list or an object is no value that a condition can have. */
function isComparable(at: number, rows: readonly TableRow[]): boolean {
  return rows.every(({ odd }) => {
    const mark = odd?.[at];
    return (
      mark === undefined ||
      mark.kind === 'exact' ||
      mark.kind === 'boolean' ||
      mark.kind === 'number' ||
      mark.kind === 'text'
    );
  });
}

type ConditionKind = { isUnit: boolean; isOfOrder: boolean };

/** Only the most frequent value is sent until a person says which others are; of units all. */
function conditionEntry(
  key: string,
  inventory: Inventory,
  { isUnit, isOfOrder }: ConditionKind,
): Entry {
  const top = isOfOrder ? inventory.top.filter(({ value }) => value !== '') : inventory.top;
  const [first] = top;
  const send = isUnit ? top : first === undefined ? [] : [first];
  const others = top.filter((one) => !send.includes(one));
  const shown = top.map(
    ({ value, rows }) => `${rows}× ${value === '' ? 'empty' : JSON.stringify(value)}`,
  );
  const question =
    others.length > 0
      ? `${shown.join(', ')}: which are sent? skip: [${others.map(({ value }) => value || '""').join(', ')}] leaves out`
      : `${shown.join(', ')}: are there others?`;
  return {
    key,
    value: { send: send.map(({ value }) => value), ...(isOfOrder && { of: 'order' }) },
    question,
    values: inventory.top.map(({ value }) => value),
  };
}

/** Whether a column has its value only in the first row of each order. */
function isOfOrder(at: number, { roles, sorted, isFilledDown: isFilled, table }: Context): boolean {
  const number = roles.number?.at;
  if (number === undefined || table.columns.some(({ isInItems }) => isInItems)) return false;
  let order = '';
  let blank = 0;
  for (const { cells } of sorted.fitting) {
    const own = cells[number] ?? '';
    const isFirst = isFilled ? own !== '' : own !== order;
    if (own !== '') order = own;
    const isEmpty = cells[at] === '';
    if (isFirst === isEmpty) return false;
    if (isEmpty) blank += 1;
  }
  return blank > 0;
}
