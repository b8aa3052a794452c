import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { MappedOrder } from '../../src/mapping/group.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

// Files that people reported elsewhere, where other programs sent or lost something. Each is one row: the file, its mapping
// and what becomes of each order.

let folder: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  folder = await makeTempFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

/** What becomes of a file: its code if it waits or is unreadable, else `PO-1: A 1, B 2` or `PO-1: code` of each order. */
async function outcomeOf(content: string, keys: object | undefined): Promise<string[]> {
  const file = path.join(folder.path, 'orders');
  await writeFile(file, content);
  const mappings = keys === undefined ? [] : [{ name: 'm', mapping: mappingSchema.parse(keys) }];
  try {
    const inspection = await inspectFile(file, mappings);
    if (inspection.state !== 'ready') return [`waits: ${inspection.state.waits.code}`];
    const found: string[] = [];
    for await (const page of readOrderPages(file, inspection))
      for (const one of page) found.push(`${one.number}: ${textOf(one)}`);
    return found;
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    const { kind, names } = error.facts;
    return [[error.code, kind ?? names].filter((one) => one !== undefined).join(': ')];
  }
}

function textOf(one: MappedOrder): string {
  if ('problems' in one)
    return one.problems
      .map(({ code, facts }) => ('of' in facts ? `${facts.of} ${code}` : code))
      .join(', ');
  return one.order.items.map((item) => `${item.articleCode} ${item.quantity}`).join(', ');
}

const ROLES = {
  NR: { is: 'purchaseOrderNumber' },
  ART: { is: 'articleCode' },
  QTY: { is: 'quantity' },
};
const PLAIN = { columns: ROLES };

function csv(...lines: string[]): string {
  return `${['NR,ART,QTY', ...lines].join('\n')}\n`;
}

const SHOP = ['NR,STATUS,QTY,ART', '#722,refunded,1,MUG', '#722,,3,CAP', '#723,paid,1,BAG', ''];
const STATUS = { send: ['paid'], skip: ['refunded'] };

const UBL = (unit: string) =>
  `<?xml version="1.0"?><Order xmlns="urn:x" xmlns:cbc="urn:y"><cbc:ID>PO-1</cbc:ID><cac:OrderLine xmlns:cac="urn:z"><cbc:Quantity unitCode="${unit}">3</cbc:Quantity><cbc:ID>A</cbc:ID></cac:OrderLine></Order>`;
const UBL_MAPPING = {
  records: '',
  items: 'OrderLine',
  columns: {
    ID: { is: 'purchaseOrderNumber' },
    'OrderLine.ID': { is: 'articleCode' },
    'OrderLine.Quantity': { is: 'quantity' },
    'OrderLine.Quantity.unitCode': { send: ['EA', 'C62'] },
  },
};

const ITEM = '{"purchaseOrderNumber":"PO-1","articleCode":"A","quantity":1}';

type Case = [title: string, content: string, keys: object | undefined, outcome: string[]];

const CASES: Case[] = [
  [
    'a status only in the first row of its order leaves the whole order out',
    SHOP.join('\n'),
    { columns: { ...ROLES, STATUS: { ...STATUS, of: 'order' } } },
    ['#723: BAG 1'],
  ],
  [
    'a status only in the first row, declared for rows, holds the order',
    SHOP.join('\n'),
    { columns: { ...ROLES, STATUS } },
    ['#722: condition', '#723: BAG 1'],
  ],
  [
    'objects by their index are no list',
    `{"0":${ITEM},"1":${ITEM}}`,
    undefined,
    ['unreadable-column-missing: "0", "1"'],
  ],
  [
    'a path through an index leaves the others undeclared',
    `{"0":${ITEM},"1":${ITEM}}`,
    {
      columns: {
        '0.purchaseOrderNumber': { is: 'purchaseOrderNumber' },
        '0.articleCode': { is: 'articleCode' },
        '0.quantity': { is: 'quantity' },
      },
    },
    ['waits: layout'],
  ],
  [
    'a table by columns has no orders',
    '{"purchaseOrderNumber":{"0":"PO-1","1":"PO-2"},"articleCode":{"0":"A","1":"B"},"quantity":{"0":1,"1":2}}',
    undefined,
    ['waits: layout'],
  ],
  [
    'merge conflict markers hold the orders around them',
    csv('PO-0,A,1', '<<<<<<< HEAD', 'PO-1,A,1', '=======', 'PO-1,A,2', '>>>>>>> b', 'PO-2,A,1'),
    PLAIN,
    [
      ': width',
      'PO-0: beside-damaged',
      ': width',
      ': width',
      'PO-1: beside-damaged',
      'PO-2: beside-damaged',
    ],
  ],
  [
    'a control character in an article',
    csv('"PO-1","A\tR",1', 'PO-2,B,1'),
    PLAIN,
    ['PO-1: article character', 'PO-2: B 1'],
  ],
  [
    'a stray quote that may have taken the values beside it damages its row',
    'NR,QTY,ART,W,X\nPO-1,1,A,,\nPO-2,2,"B,9.9,"y z",n\nPO-3,3,C,,\n',
    { columns: { ...ROLES, W: 'ignore', X: 'ignore' } },
    [': stray-quote', 'PO-1: beside-damaged', 'PO-3: beside-damaged'],
  ],
  [
    'a stray quote behind all columns that are used changes nothing',
    'NR,QTY,ART,W,X\nPO-2,2,B,"3" pipe",n\n',
    { columns: { ...ROLES, W: 'ignore', X: 'ignore' } },
    ['PO-2: B 2'],
  ],
  [
    'empty ignored columns at the end may be missing',
    'NR,ART,QTY,W,X\nPO-1,A,1,,\nPO-2,B,2\n',
    { columns: { ...ROLES, W: 'ignore', X: 'ignore' } },
    ['PO-1: A 1', 'PO-2: B 2'],
  ],
  [
    'a footer holds the order above',
    csv('PO-1,A,1', 'PO-2,B,1', '(2 rows affected)'),
    PLAIN,
    ['PO-1: A 1', ': width', 'PO-2: beside-damaged'],
  ],
  [
    'a footer that skipRows names is no row',
    csv('PO-1,A,1', 'PO-2,B,1', '(2 rows affected)'),
    { ...PLAIN, skipRows: [String.raw`^\(\d+ rows? affected\)$`] },
    ['PO-1: A 1', 'PO-2: B 1'],
  ],
  [
    'groups of two digits, and a number in another notation than the declared one',
    csv('PO-1,A,"1,00,000"', 'PO-2,A,"1,234.00"', 'PO-3,A,"1.234,00"'),
    { ...PLAIN, decimal: ',' },
    ['PO-1: quantity not-a-number', 'PO-2: quantity not-a-number', 'PO-3: A 1234'],
  ],
  ['each line one quoted cell', '"NR,ART,QTY"\n"PO-1,A,1"\n', PLAIN, ['unreadable-header']],
  [
    'a number as an object with its type',
    `[{"NR":"PO-1","ART":"A","QTY":{"$numberInt":"3"}}]`,
    { columns: { NR: ROLES.NR, ART: ROLES.ART, 'QTY.$numberInt': ROLES.QTY } },
    ['PO-1: A 3'],
  ],
  ['a unit that is declared', UBL('EA'), UBL_MAPPING, ['PO-1: A 3']],
  ['a unit that is not declared', UBL('DZN'), UBL_MAPPING, ['PO-1: condition']],
  [
    'rows above the header of a template',
    `Data Import Template\nTable:,Order\n\nNotes:,Fill in,below\n${csv('PO-1,A,1')}`,
    PLAIN,
    ['PO-1: A 1'],
  ],
  ['CR CR LF', 'NR,ART,QTY\r\r\nPO-1,A,1\r\r\n', PLAIN, ['PO-1: A 1']],
  ['a #TYPE line', `#TYPE System.Object\n${csv('PO-1,A,1')}`, PLAIN, ['PO-1: A 1']],
];

test.each(CASES)('%s', async (_, content, keys, outcome) => {
  expect(await outcomeOf(content, keys)).toEqual(outcome);
});

const NOTHING = [
  'False',
  'None',
  'Array',
  '[object Object]',
  'System.Object[]',
  '{}',
  '[]',
  '(unknown)',
  String.raw`\N`,
  '<NA>',
  '#N/A',
  '???',
];

test.each(NOTHING)(
  '%s is no number of an order, and no article where `like` is declared',
  async (word) => {
    const columns = { ...ROLES, ART: { ...ROLES.ART, like: String.raw`[A-Z]-\d` } };
    const content = csv('PO-1,A-1,1', '', `PO-2,"${word}",1`, '');
    expect(await outcomeOf(content, { columns })).toEqual(['PO-1: A-1 1', 'PO-2: article unlike']);
    expect(await outcomeOf(csv(`"${word}",A-1,1`), { columns })).toEqual([
      expect.stringMatching(/^: number /),
    ]);
  },
);
