import {
  type ColumnKeys,
  keysOf,
  type Mapping,
  plainName,
  type Role,
} from '../config/mapping-schema.ts';
import { compileDate, type ReadDate } from './date.ts';

/** A further field that the API takes. */
export type Field = { name: string; type: 'text' | 'integer' | 'number' | 'date'; date: ReadDate };

/** One declared column, compiled. */
export type Column = {
  name: string;
  /** Its names for comparison. */
  plain: readonly string[];
  role?: Role;
  like?: RegExp;
  max?: number;
  send?: ReadonlySet<string>;
  skip?: ReadonlySet<string>;
  field?: Field;
  /** Its value is one for all of the order. */
  isOfOrder: boolean;
  /** Of files with order and item records, or orders with items: it is in the items. */
  isInItems: boolean;
  lineBreaks: boolean;
  /** Nothing of it is read; it may be missing. */
  isIgnored: boolean;
  mayBeMissing: boolean;
};

/** A mapping, compiled once. Columns are called by their index in `columns`; -1 where there is none. */
export type Plan = {
  mapping: Mapping;
  columns: readonly Column[];
  number: number;
  article: number;
  quantity: number;
  state: number;
  /** Those without which a file is unreadable. */
  needed: readonly number[];
  /** Those whose `skip` leaves out a row, and those whose `skip` leaves out an order. */
  rowSkips: readonly number[];
  orderSkips: readonly number[];
  /** Conditions of a row, without those of the order; its further fields. */
  conditions: readonly number[];
  fields: readonly number[];
  /** Conditions and further fields that have one value for the order. */
  ofOrder: readonly number[];
  skipRows: readonly RegExp[];
  lastRow: RegExp | undefined;
  /** Each order has a separate record, by `types` or `items`. */
  hasOrderRecords: boolean;
};

/** Compiles a mapping. `lacksState`: the API's own names, where the state may be left out. */
export function compile(mapping: Mapping, { lacksState = false } = {}): Plan {
  const columns = Object.entries(mapping.columns).map(([name, declared]) =>
    compileColumn(name, keysOf(declared), mapping, lacksState),
  );
  const at = (role: Role) => columns.findIndex((column) => column.role === role);
  const where = (is: (column: Column) => boolean) =>
    columns.flatMap((column, index) => (is(column) ? [index] : []));

  return {
    mapping,
    columns,
    number: at('purchaseOrderNumber'),
    article: at('articleCode'),
    quantity: at('quantity'),
    state: at('orderState'),
    needed: where(({ role }) => role !== undefined && role !== 'orderState'),
    rowSkips: where(({ skip, isOfOrder }) => skip !== undefined && !isOfOrder),
    orderSkips: where(({ skip, isOfOrder }) => skip !== undefined && isOfOrder),
    conditions: where(({ send, isOfOrder }) => send !== undefined && !isOfOrder),
    fields: where(({ field, isOfOrder }) => field !== undefined && !isOfOrder),
    ofOrder: where(({ isOfOrder }) => isOfOrder),
    skipRows: mapping.skipRows.map((pattern) => new RegExp(pattern, 'u')),
    lastRow: mapping.lastRow === undefined ? undefined : new RegExp(mapping.lastRow, 'u'),
    hasOrderRecords: mapping.types !== undefined || mapping.items !== undefined,
  };
}

function compileColumn(
  name: string,
  keys: ColumnKeys,
  { types, items }: Mapping,
  lacksState: boolean,
): Column {
  const { is, like, max, send, skip, field, ignore, also = [], of = 'item' } = keys;
  const inside = types === undefined ? items : types.item;
  return {
    name,
    plain: [name, ...also].map(plainName),
    ...(is !== undefined && { role: is }),
    ...(like !== undefined && { like: new RegExp(`^(?:${like})$`, 'u') }),
    ...(max !== undefined && { max }),
    ...(send !== undefined && { send: new Set(send) }),
    ...(skip !== undefined && { skip: new Set(skip) }),
    ...(field !== undefined && {
      field: { name: field, type: keys.type ?? 'text', date: compileDate(keys.format) },
    }),
    isOfOrder: of === 'order',
    isInItems: inside !== undefined && plainName(name).startsWith(`${plainName(inside)}.`),
    lineBreaks: keys.lineBreaks === true,
    isIgnored: ignore === true,
    mayBeMissing: ignore === true || (is === 'orderState' && lacksState),
  };
}
