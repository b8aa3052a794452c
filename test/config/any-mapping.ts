import fc from 'fast-check';

const value = fc.string({ maxLength: 10 });
const values = fc.uniqueArray(value, { minLength: 1, maxLength: 3 });
const pattern = fc.constantFrom('45\\d{8}', '[A-Z]{2}-\\d{3,6}', '\\p{L}+', 'PO|SO', '(?:A-)?\\d+');
const sent = value.map((text) => `s${text}`);
const more = { also: fc.uniqueArray(fc.uuid(), { minLength: 1 }), lineBreaks: fc.boolean() };
const of = fc.constantFrom('order', 'item');

/** Keys of which each may be missing, except the required ones. */
function some(required: object, optional: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record(optional, { requiredKeys: [] }).map((keys) => ({ ...keys, ...required }));
}

/** Columns that are no field of the API's own; `name` makes further fields differ. */
function other(name: string) {
  return fc.oneof(
    fc.constant('ignore'),
    some({ ignore: true }, more),
    some({}, { ...more, of, skip: values }).map((keys) => ({ skip: ['x'], ...keys })),
    fc.uniqueArray(sent, { minLength: 1 }).chain((send) => some({ send }, { ...more, of })),
    some({ field: name }, { ...more, of, type: fc.constantFrom('text', 'integer', 'number') }),
    some({ field: name, type: 'date', format: 'd.MM.yyyy' }, { ...more, of }),
  );
}

/** What the columns are called where orders and items are, and what goes with it. */
type Form = {
  nameOf: (name: string, at: number, of: 'order' | 'item') => string;
  keys: object;
  optional: Record<string, fc.Arbitrary<unknown>>;
};

const ofRows = { fillDown: fc.boolean() };
const ofTables = {
  delimiter: fc.constantFrom(';', '|', '\t', 'tab', '~', ' ', '#'),
  quote: fc.constant('none'),
  lastRow: fc.constant('^END'),
  skipRows: fc.array(fc.constantFrom('^Total', '^-+$'), { maxLength: 2 }),
};
const ofAll = {
  encoding: fc.constantFrom('utf-8', 'windows-1252', 'cp850'),
  decimal: fc.constantFrom('.', ','),
  otherColumns: fc.constantFrom('wait', 'ignore'),
  quantity: fc.constantFrom('integer', 'number'),
  repeatedRows: fc.constantFrom('hold', 'send'),
  finalNewline: fc.constantFrom('required', 'optional'),
};

const FORMS: Form[] = [
  { nameOf: (name) => name, keys: { format: 'csv' }, optional: { ...ofTables, ...ofRows } },
  {
    nameOf: (_, at) => `${at + 1}`,
    keys: { header: 'none', widths: [4, 10, 5] },
    optional: { skipRows: ofTables.skipRows, ...ofRows },
  },
  {
    nameOf: (_, at, of) => `${of === 'order' ? 'HEAD' : 'LINE'}.${at + 2}`,
    keys: { types: { at: 1, order: 'HEAD', item: 'LINE' }, delimiter: ';' },
    optional: { lastRow: ofTables.lastRow },
  },
  {
    nameOf: (name, _, of) => (of === 'order' ? name : `lines.${name}`),
    keys: { items: 'lines' },
    optional: { records: fc.constantFrom('', 'data', 'data.orders') },
  },
  { nameOf: (name) => name, keys: { format: 'xlsx' }, optional: { sheet: fc.uuid(), ...ofRows } },
];

const own = fc.tuple(
  some({ is: 'purchaseOrderNumber' }, { like: pattern, ...more }),
  some({ is: 'articleCode' }, { like: pattern, ...more }),
  some({ is: 'quantity' }, { max: fc.integer({ min: 1 }), ...more }),
  some({ is: 'orderState' }, more),
);
const others = fc
  .nat({ max: 5 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => other(`f${at}`))));

/** The columns under their names; positions have no further ones. */
function named(all: readonly (object | string)[], { nameOf, keys }: Form): object {
  const isByPosition = 'header' in keys || 'types' in keys;
  const written = all.map((column, at) => {
    const name = nameOf(`C${at}`, at, at === 0 ? 'order' : 'item');
    const withoutAlso = typeof column === 'object' ? { ...column, also: undefined } : column;
    return [name, isByPosition ? withoutAlso : column];
  });
  // A key without a value is none in JSON.
  return Object(JSON.parse(JSON.stringify(Object.fromEntries(written))));
}

/** Any mapping that is right, of every form, as it is written in the file. */
export const anyMapping = fc
  .tuple(own, others, fc.constantFrom(...FORMS))
  .chain(([first, rest, form]) => {
    const columns = named([...first, ...rest], form);
    return some({ ...form.keys, columns }, { ...ofAll, ...form.optional });
  });
