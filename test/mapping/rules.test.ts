import { describe, expect, test } from 'vitest';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import type { MappedOrder } from '../../src/mapping/group.ts';
import { compile } from '../../src/mapping/plan.ts';
import {
  type InspectOptions,
  inspectRecords,
  readRecords,
} from '../../src/mapping/read-records.ts';
import { keyOf } from '../../src/order/number-key.ts';
import { recordsOf } from './file-of-arrays.ts';
import type { FileOf, Tree, Written } from './oracle.ts';

const COLUMNS: Written['columns'] = {
  NR: { is: 'purchaseOrderNumber' },
  ART: { is: 'articleCode' },
  QTY: { is: 'quantity' },
};

async function read(file: FileOf, mapping: Written, options: InspectOptions = {}) {
  const records = recordsOf(file, mapping, false);
  const parsed = mappingSchema.parse(mapping);
  const inspection = await inspectRecords(
    records,
    compile(parsed),
    { name: 'm', mapping: parsed },
    options,
  );
  const orders: MappedOrder[] = [];
  if (inspection.reading === undefined) throw new Error('no reading');
  for await (const page of readRecords(records, inspection.reading, { released: {} }))
    orders.push(...page);
  return { ...inspection, orders };
}

function table(...lines: string[]): FileOf {
  const rows = lines.map((line) => line.split(';').map((text) => ({ text })));
  return { kind: 'table', rows, open: false };
}

function objects(...values: Tree[]): FileOf {
  return { kind: 'objects', values, xml: false };
}

/** The code and the facts of each problem. */
function problemsOf(orders: readonly MappedOrder[]) {
  return orders.flatMap((one) =>
    'problems' in one ? one.problems.map(({ code, facts }) => [code, facts]) : [],
  );
}

describe('the key of a number', () => {
  test.each([
    ['po-007', 'PO-7'],
    ['PO 7', 'PO7'],
    ['\u00a0po\t7', 'PO7'],
    ['00', '0'],
    ['0', '0'],
    ['A-1.05', 'A-1.05'],
    ['A-1,05', 'A-1,05'],
    ['1007', '1007'],
    ['01-1.05', '1-1.05'],
    ['100-01', '100-1'],
    ['0x0a', '0X0A'],
    ['e\u0301-1', '\u00c9-1'],
    ['stra\u00dfe-1', 'STRASSE-1'],
  ])('of %s is %s', (number, key) => {
    expect(keyOf(number)).toBe(key);
  });

  test('is the key of the file', () => {
    for (const number of ['po-007', 'A 00 1', '0a00b', '1.00.0', '\u0130-1', '\ufb01-01'])
      expect(keyOf(keyOf(number))).toBe(keyOf(number));
  });

  test('is the number itself where the environment says so', async () => {
    const file = table('NR;ART;QTY', 'po-1;A;1', 'PO-1;A;1');
    const { orders } = await read(file, { columns: COLUMNS }, { numbers: 'exact' });
    expect(orders.map((one) => [one.number, 'order' in one])).toEqual([
      ['po-1', true],
      ['PO-1', true],
    ]);
  });
});

describe('a held order says what is wrong with it, with facts and place', () => {
  const MORE = {
    ...COLUMNS,
    UNIT: { send: ['ST'], of: 'order' as const },
    D: { field: 'day', type: 'date', format: 'dd.MM.yyyy' },
  };

  test.each<[string, string[], unknown[]]>([
    ['a value that is not sent', ['PO-1;A;1;KG;'], [['condition', { send: ['ST'] }]]],
    [
      'two values for one order',
      ['PO-1;A;1;ST;', 'PO-1;B;1;KG;'],
      [['two-values', { values: ['ST', 'KG'] }]],
    ],
    [
      'a control character',
      ['PO-1;A\tB;1;ST;'],
      [['character', { of: 'article', character: 'U+0009' }]],
    ],
    ['two spaces', ['PO-1;A  B;1;ST;'], [['space', { of: 'article', character: 'U+0020' }]]],
    [
      'a quantity with two readings',
      ['PO-1;A;1,000;ST;'],
      [['ambiguous-number', { of: 'quantity' }]],
    ],
    [
      'a date that is none',
      ['PO-1;A;1;ST;31.02.2026'],
      [['date', { of: 'field', field: 'day', type: 'date' }]],
    ],
    ['rows that are equal', ['PO-1;A;1;ST;', 'PO-1;A;1;ST;'], [['equal-rows', { first: 2 }]]],
    [
      'two spellings',
      ['PO-1;A;1;ST;', 'po-01;B;1;ST;'],
      [['spelling', { spellings: ['PO-1', 'po-01'] }]],
    ],
    [
      'a damaged row',
      [';A;1;ST;', 'PO-1;A;1;ST;'],
      [
        ['missing', { of: 'number' }],
        ['beside-damaged', { damaged: 2 }],
      ],
    ],
    [
      'a row with its number that is too short',
      ['PO-1;A;1;ST;', 'PO-2;A;1;ST;', 'PO-1;A'],
      [
        ['width', { cells: 2, columns: 5 }],
        ['named-by-damaged', {}],
        ['beside-damaged', { damaged: 4 }],
      ],
    ],
  ])('%s', async (_, rows, problems) => {
    const { orders } = await read(table('NR;ART;QTY;UNIT;D', ...rows), {
      columns: MORE as Written['columns'],
    });
    // Orders come out in a sequence that is no rule.
    expect(new Set(problemsOf(orders))).toEqual(new Set(problems));
  });

  test('in the names of the file, with the value as it is read', async () => {
    const columns = { ...COLUMNS, QTY: { is: 'quantity', also: ['Menge'], max: 5 } };
    const { orders } = await read(table('nr;ART;MENGE', 'PO-1;A; 6 '), { columns });
    expect(orders[0]).toMatchObject({
      problems: [
        {
          code: 'above-max',
          facts: { of: 'quantity', max: 5 },
          line: 2,
          field: 'MENGE',
          value: '6',
        },
      ],
    });
  });

  test('at the pointer of its item', async () => {
    const columns = {
      NR: { is: 'purchaseOrderNumber' },
      'body.lines.ART': { is: 'articleCode' },
      'body.lines.QTY': { is: 'quantity' },
    };
    const line = (quantity: string) => ({ ART: { text: 'A' }, QTY: { text: quantity } });
    const file = objects({ NR: { text: 'PO-1' }, body: { lines: [line('1'), line('x')] } });
    const { orders } = await read(file, { columns, items: 'body.lines' });
    expect(orders[0]).toMatchObject({
      problems: [{ facts: { of: 'quantity' }, pointer: '/0/body/lines/1' }],
    });
  });

  test('with a bounded number of problems', async () => {
    const rows = Array.from({ length: 150 }, (_, at) => `PO-1;A${at};x`);
    const { orders } = await read(table('NR;ART;QTY', ...rows), { columns: COLUMNS });
    const [one] = orders;
    expect(one && 'problems' in one && one.problems.length).toBe(101);
    expect(problemsOf(orders).at(-1)).toEqual(['more', { problems: 50 }]);
  });
});

describe('a file that waits', () => {
  test('for its layout says what is missing and what is new, with values and counts', async () => {
    const columns = { ...COLUMNS, STATUS: { send: ['OPEN'] } };
    const rows = Array.from(
      { length: 30 },
      (_, at) => `PO-${at};A;1;${at < 5 ? 'urgent' : `note ${at}`};`,
    );
    const { state } = await read(table('NR;ART;QTY;Remark;', ...rows), { columns });
    expect(state).toMatchObject({
      waits: {
        code: 'layout',
        facts: { missing: ['STATUS'], undeclared: [{ name: 'Remark', rows: 30, more: 6 }] },
      },
    });
    const { undeclared } =
      typeof state === 'object' && state.waits.code === 'layout'
        ? state.waits.facts
        : { undeclared: [] };
    expect(undeclared[0]?.values[0]).toEqual({ value: 'urgent', rows: 5 });
    expect(undeclared[0]?.values).toHaveLength(20);
  });

  test('for a row that can be of several orders names it, and the orders that are apart', async () => {
    const file = table('NR;ART;QTY', 'PO-1;A;1', 'PO-2;A;1', 'PO-1;B;1', ';C;1');
    const { state, counts } = await read(file, { columns: COLUMNS });
    const facts = {
      damaged: 1,
      damagedLines: [5],
      apart: 1,
      apartOrders: [{ number: 'PO-1', lines: [2, 4] }],
    };
    expect(state).toEqual({ waits: { code: 'shape', facts } });
    expect(counts).toEqual({ records: 4, orders: 2, skipped: 0, damaged: 1 });
  });

  test('for its volume says how many orders it has', async () => {
    const { state } = await read(
      table('NR;ART;QTY', 'PO-1;A;1', 'PO-2;A;1'),
      { columns: COLUMNS },
      { maxOrders: 1 },
    );
    expect(state).toEqual({ waits: { code: 'volume', facts: { orders: 2, maxOrders: 1 } } });
  });

  test('because every row is wider than its header is read once it is released', async () => {
    const { state, orders } = await read(table('NR;ART;QTY', 'PO-1;A;1;x', 'PO-2;B;2;y'), {
      columns: COLUMNS,
    });
    expect(state).toMatchObject({
      waits: { code: 'layout', facts: { undeclared: [{ name: '4', rows: 2 }] } },
    });
    expect(orders.map((one) => 'order' in one)).toEqual([true, true]);
  });
});

describe('a file is unreadable', () => {
  test.each<[string, FileOf, Partial<Written>, string]>([
    ['without a header', table('a;b;c', 'PO-1;A;1'), {}, 'unreadable-header'],
    [
      'with a name that two columns have',
      table('NR;ART;QTY;art', 'PO-1;A;1;B'),
      {},
      'unreadable-two-columns',
    ],
    [
      'with a row after its last one',
      table('NR;ART;QTY', 'END', 'PO-1;A;1'),
      { lastRow: '^END' },
      'unreadable-after-last-row',
    ],
    [
      'without its last row',
      table('NR;ART;QTY', 'PO-1;A;1'),
      { lastRow: '^END' },
      'unreadable-no-last-row',
    ],
    [
      'if no object has what is needed',
      objects({ NR: { text: 'PO-1' }, ART: { text: 'A' } }),
      {},
      'unreadable-column-missing',
    ],
  ])('%s', async (_, file, keys, code) => {
    await expect(read(file, { columns: COLUMNS, ...keys })).rejects.toMatchObject({ code });
  });
});

test('an order of too many rows is held, and no more of them are kept', async () => {
  const rows = Array.from({ length: 10_001 }, (_, at) => `PO-1;A${at};1`);
  const { orders } = await read(table('NR;ART;QTY', ...rows), { columns: COLUMNS });
  expect(problemsOf(orders)).toEqual([['too-many-rows', { rows: 10_001 }]]);
  expect(orders[0]?.rows).toHaveLength(10_000);
});

test('numbers of JSON keep what they are written as, also where rows of their order are apart', async () => {
  const columns = { ...COLUMNS, P: { field: 'price', type: 'number' } };
  const row = (number: string, article: string) => ({
    NR: { text: number, kind: 'json' as const },
    ART: { text: article },
    QTY: { text: '2.0', kind: 'json' as const },
    P: { text: '1.10', kind: 'json' as const },
  });
  const long = '4500000000000000001';
  const { orders } = await read(objects(row(long, 'A'), row('1', 'A'), row(long, 'B')), {
    columns,
  });
  const item = (articleCode: string) => ({ articleCode, quantity: 2, fields: { price: 1.1 } });
  expect(
    orders.map((one) => 'order' in one && [one.order.purchaseOrderNumber, one.order.items]),
  ).toEqual([
    ['1', [item('A')]],
    [long, [item('A'), item('B')]],
  ]);
  expect(orders[1]?.rows[0]).toMatchObject({
    value: { NR: { rawJSON: long }, QTY: { rawJSON: '2.0' } },
  });
});
