import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mappingSchema, patternFault, SEEN } from '../../src/config/mapping-schema.ts';
import { compile } from '../../src/mapping/plan.ts';
import { anyMapping } from './any-mapping.ts';

const COLUMNS = {
  NR: { is: 'purchaseOrderNumber' },
  ART: { is: 'articleCode' },
  QTY: { is: 'quantity' },
};

/** Each place that is wrong in a mapping with the usual columns and these keys. */
function placesIn(keys: Record<string, unknown>, columns: Record<string, unknown> = {}): string[] {
  const found = mappingSchema.safeParse({ columns: { ...COLUMNS, ...columns }, ...keys });
  return (found.error?.issues ?? []).map(({ path }) => path.join('.'));
}

describe('a mapping', () => {
  test('with everything that a table can have is accepted, and ignore is short for its longer form', () => {
    const columns = {
      EBELN: { is: 'purchaseOrderNumber', like: '45\\d{8}', also: ['PO'] },
      MATNR: { is: 'articleCode', like: '[A-Z]{2}-\\d{3,6}' },
      MENGE: { is: 'quantity', max: 5000 },
      STATE: { is: 'orderState' },
      MEINS: { send: ['ST', ''] },
      STATUS: { send: ['OPEN'], skip: ['DRAFT', ''], of: 'order' },
      LIEFER: { field: 'deliveryDate', of: 'order', type: 'date', format: 'dd.MM.yyyy' },
      WERKS: 'ignore',
      TEXT: { ignore: true, lineBreaks: true },
    };
    const keys = { format: 'csv', encoding: 'windows-1252', delimiter: 'tab', decimal: ',' };
    const rows = { skipRows: ['^Total'], lastRow: '^END', fillDown: true, repeatedRows: 'send' };
    const found = mappingSchema.parse({ columns, ...keys, ...rows, quote: 'none' });
    expect(found).toMatchObject({ delimiter: '\t', otherColumns: 'wait', quantity: 'integer' });
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string[]]>([
    ['two columns of one role', {}, { NR2: { is: 'purchaseOrderNumber' } }, ['columns.NR2']],
    ['a column and a value', { quantity: { value: 1 } }, {}, ['quantity']],
    ['one name twice, in another case', {}, { nr: 'ignore' }, ['columns.nr']],
    ['one field twice', {}, { A: { field: 'x' }, B: { field: 'x' } }, ['columns.B.field']],
    ['a field of the API', {}, { A: { field: 'quantity' } }, ['columns.A.field']],
    ['a dangerous field', {}, { A: { field: '__proto__' } }, ['columns.A.field']],
    ['items of a table', { format: 'csv', items: 'lines' }, {}, ['items']],
    ['a sheet of a text', { format: 'csv', sheet: 'Orders' }, {}, ['sheet']],
    ['widths and a delimiter', { widths: [3, 4], delimiter: ';' }, {}, ['delimiter']],
    [
      'names where there is no header',
      { header: 'none', delimiter: ';' },
      {},
      ['columns.NR', 'columns.ART', 'columns.QTY'],
    ],
    [
      'no header to show the delimiter',
      { header: 'none' },
      {},
      ['delimiter', 'columns.NR', 'columns.ART', 'columns.QTY'],
    ],
    [
      'types without positions in them',
      { types: { at: 1, order: 'H', item: 'L' }, delimiter: ';' },
      {},
      ['columns.NR', 'columns.ART', 'columns.QTY'],
    ],
    ['an orderState that cannot be created', { orderState: 'CLOSED' }, {}, ['orderState']],
    ['a key that is none', { totalRows: 'allow' }, {}, ['']],
    ['a pattern that is none', { skipRows: ['(Total'] }, {}, ['skipRows.0']],
  ])('with %s is refused at its place', (_, keys, columns, places) => {
    expect(placesIn(keys, columns)).toEqual(places);
  });

  test.each([
    [{ is: 'quantity', like: '\\d+' }],
    [{ is: 'articleCode', max: 5 }],
    [{ send: ['A'], skip: ['A'] }],
    [{ send: ['A'], field: 'x' }],
    [{ send: [1] }],
    [{ skip: [true] }],
    [{ field: 'x', format: 'dd.MM.yyyy' }],
    [{ field: 'x', type: 'date', format: 'dd.MM' }],
    [{ ignore: true, of: 'order' }],
    [{}],
  ])('with a column %o is refused at that column', (column) => {
    expect(placesIn({}, { OTHER: column })[0]).toMatch(/^columns\.OTHER/);
  });

  test('without a column that is needed is refused, unless it has a value', () => {
    const columns = { NR: COLUMNS.NR };
    expect(mappingSchema.safeParse({ columns }).error?.issues).toHaveLength(2);
    const values = { articleCode: { value: 'A-1' }, quantity: { value: 1 } };
    expect(mappingSchema.safeParse({ columns, ...values }).success).toBe(true);
  });
});

test('every mapping that is accepted compiles, with each column in its place', () => {
  fc.assert(
    fc.property(anyMapping, (written) => {
      const mapping = mappingSchema.parse(written);
      const plan = compile(mapping);
      expect(plan.columns.map(({ name }) => name)).toEqual(Object.keys(mapping.columns));
      const { number, article, quantity, state } = plan;
      const roles = [number, article, quantity, state].map((index) => plan.columns[index]?.role);
      expect(roles).toEqual(['purchaseOrderNumber', 'articleCode', 'quantity', 'orderState']);
    }),
    { numRuns: 300 },
  );
});

describe('a pattern', () => {
  const USUAL = [
    '45\\d{8}',
    '[A-Z]{2}-\\d{3,6}',
    '(?:PO|SO)-\\d+',
    '\\d+(?:-\\d+)?',
    '(?:[A-Z]{2}-)*\\d+',
    '\\p{L}+ .*',
    '[A-Z]+-\\d+-\\d+',
  ];

  test.each(USUAL)('%s is accepted', (text) => {
    expect(patternFault(text, SEEN.value, true)).toBeUndefined();
  });

  const ENDLESS = [
    '(a+)+b',
    '(a|a)*b',
    '(?:a|ab)+c',
    '(a*)*',
    '(?:\\d+,?)+',
    '(.)\\1+',
    '.*.*.*.*x',
    '(?<x>a)\\k<x>',
    '((a{1,9}){1,9})+',
    '[^\\]]*[a-z]*\\w*\\d*x',
  ];

  test.each(ENDLESS)('%s, which can take without end, is refused', (text) => {
    expect(patternFault(text, SEEN.value, true)).toMatch(/too long/);
  });

  test('without ^ is tried at each place of a line, which counts too', () => {
    expect(patternFault('^Total.*', SEEN.line, false)).toBeUndefined();
    expect(patternFault('rows affected', SEEN.line, false)).toBeUndefined();
    expect(patternFault('.*Total.*', SEEN.line, false)).toMatch(/begin with \^/);
  });
});
