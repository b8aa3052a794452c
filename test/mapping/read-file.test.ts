import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import type { MappedOrder } from '../../src/mapping/group.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';
import type { Inspection, NamedMapping, ReadOptions } from '../../src/mapping/read-records.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let files = 0;

beforeAll(async () => {
  folder = await makeTempFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

async function fileOf(name: string, content: string): Promise<string> {
  files += 1;
  const file = path.join(folder.path, `${files}-${name}`);
  await writeFile(file, content);
  return file;
}

function mappingOf(name: string, keys: Record<string, unknown>): NamedMapping {
  return { name, mapping: mappingSchema.parse(keys) };
}

function columnsOf(...names: string[]) {
  const [number = 'NR', article = 'ART', quantity = 'QTY'] = names;
  return {
    [number]: { is: 'purchaseOrderNumber' },
    [article]: { is: 'articleCode' },
    [quantity]: { is: 'quantity' },
  };
}

async function ordersOf(file: string, inspection: Inspection, options?: ReadOptions) {
  const orders: MappedOrder[] = [];
  for await (const page of readOrderPages(file, inspection, options)) orders.push(...page);
  return orders;
}

/** Numbers, and for those that are sent the quantities. */
function shown(orders: readonly MappedOrder[]) {
  return orders.map((one) =>
    'order' in one
      ? [one.number, ...one.order.items.map(({ quantity }) => quantity)]
      : [one.number],
  );
}

test.each([
  ['a.csv', 'purchaseOrderNumber;orderState;articleCode;quantity\nPO-1;NEW;A;2\nPO-1;NEW;B;3\n'],
  ['a.csv', 'quantity\tpurchaseOrderNumber\tarticleCode\n2\tPO-1\tA\n3\tPO-1\tB\n'],
  [
    'a.json',
    '{"purchaseOrders":[{"purchaseOrderNumber":"PO-1","orderState":"NEW","items":[{"articleCode":"A","quantity":2},{"articleCode":"B","quantity":3}]}]}',
  ],
  [
    'a.ndjson',
    '{"purchaseOrderNumber":"PO-1","articleCode":"A","quantity":2}\n{"purchaseOrderNumber":"PO-1","articleCode":"B","quantity":3}\n',
  ],
  [
    'a.xml',
    '<list><order><purchaseOrderNumber>PO-1</purchaseOrderNumber><items><articleCode>A</articleCode><quantity>2</quantity></items><items><articleCode>B</articleCode><quantity>3</quantity></items></order></list>',
  ],
])('without a mapping, %s with the names of the API is read', async (name, content) => {
  const file = await fileOf(name, content);
  const inspection = await inspectFile(file, []);
  expect(inspection.state).toBe('ready');
  expect(shown(await ordersOf(file, inspection))).toEqual([['PO-1', 2, 3]]);
});

test('without a mapping, another column makes the file wait', async () => {
  const file = await fileOf('a.csv', 'purchaseOrderNumber,articleCode,quantity,note\nPO-1,A,2,x\n');
  const { state } = await inspectFile(file, []);
  expect(state).toMatchObject({
    waits: { code: 'layout', facts: { undeclared: [{ name: 'note' }] } },
  });
});

test('of several mappings, the one whose layout the file has is used', async () => {
  const one = mappingOf('one', { columns: columnsOf() });
  const more = mappingOf('more', { columns: { ...columnsOf(), UNIT: { send: ['ST'] } } });
  const json = mappingOf('json', { format: 'json', columns: columnsOf() });
  const file = await fileOf('a.csv', 'NR;ART;QTY;UNIT\nPO-1;A;1;ST\n');
  const inspection = await inspectFile(file, [one, more, json]);
  expect([inspection.state, inspection.reading?.mapping.name]).toEqual(['ready', 'more']);

  const loose = mappingOf('loose', { columns: columnsOf(), otherColumns: 'ignore' });
  for (const [mappings, fitting] of [
    [
      [more, loose],
      ['more', 'loose'],
    ],
    [[one, json], []],
  ] as const) {
    const { state, reading } = await inspectFile(file, mappings);
    expect(state).toMatchObject({ waits: { code: 'mapping', facts: { fitting } } });
    expect(reading).toBeUndefined();
  }
});

test('of several mappings, none hides that the file itself cannot be read', async () => {
  const mappings = [
    mappingOf('a', { columns: columnsOf() }),
    mappingOf('b', { columns: columnsOf() }),
  ];
  const file = await fileOf('a.csv', 'NR;ART;QTY\n"PO-1;A;1\n');
  await expect(inspectFile(file, mappings)).rejects.toMatchObject({
    code: 'unreadable-incomplete',
  });
});

test('a file that waits is read when it is released, with its damaged rows or without them', async () => {
  const mapping = mappingOf('m', { columns: columnsOf() });
  const file = await fileOf('a.csv', 'NR,ART,QTY\nPO-1,A,1\nPO-2,A,2\nPO-1,B,3\n,C,4\n');
  const inspection = await inspectFile(file, [mapping]);
  expect(inspection.state).toMatchObject({ waits: { code: 'shape' } });
  await expect(ordersOf(file, inspection)).rejects.toThrow('released');

  expect(shown(await ordersOf(file, inspection, { released: {} }))).toEqual([
    ['PO-2', 2],
    [''],
    ['PO-1'],
  ]);
  const left: string[] = [];
  const onLeftOut: ReadOptions['onLeftOut'] = (record) => left.push(`line ${record.line}`);
  const without = await ordersOf(file, inspection, { released: { withoutRows: true }, onLeftOut });
  expect(shown(without)).toEqual([
    ['PO-2', 2],
    ['PO-1', 1, 3],
  ]);
  expect(left).toEqual(['line 5']);
});

test('a file that changed since its first pass is not read as if it had not', async () => {
  const mapping = mappingOf('m', { columns: columnsOf() });
  const file = await fileOf('a.csv', 'NR,ART,QTY\nPO-1,A,1\n');
  const inspection = await inspectFile(file, [mapping]);
  await writeFile(file, 'NR,ART,QTY\nPO-1,A,9\n');
  await expect(ordersOf(file, inspection)).rejects.toMatchObject({ code: 'file-changed' });
});

test('a table without a header and one of fixed width are read by positions', async () => {
  const columns = columnsOf('1', '2', '3');
  const plain = await fileOf('a.csv', 'PO-1;A;1\nPO-1;B;2\n');
  const fixed = await fileOf('a.txt', 'PO-1 A  1\nPO-1 B  2\n');
  for (const [file, keys] of [
    [plain, { delimiter: ';' }],
    [fixed, { format: 'csv', widths: [5, 3, 1] }],
  ] as const) {
    const inspection = await inspectFile(file, [
      mappingOf('m', { columns, header: 'none', ...keys }),
    ]);
    expect(shown(await ordersOf(file, inspection))).toEqual([['PO-1', 1, 2]]);
  }
});
