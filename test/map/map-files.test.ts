import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mapFiles, proposalsJson } from '../../src/setup/map-files.ts';
import { printProposals } from '../../src/setup/print.ts';
import { rawWorkbook } from '../support/raw-workbook.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { type Answers, fileIn, proposed, triedWith } from './samples.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  folder = await makeTempFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

const EXAMPLES = path.resolve(import.meta.dirname, '../../config/examples');

describe('a proposed mapping reads each sample of the examples', () => {
  const outcomes: Readonly<Record<string, string>> = {
    'business-central.json': '1 sent, 1 condition',
    'erp-xml.xml': '1 sent, 1 not-a-number',
    'flat-json.json': '2 sent, 1 not-positive',
    'sap-list.txt': '2 sent',
    'sap.txt': '2 sent, 1 not-positive, 1 condition',
    'shopify.csv': '2 sent, 1 missing, 2 condition',
    'spreadsheet.csv': '3 sent',
    'woocommerce.csv': '2 sent, 1 condition',
  };
  const samples = readdirSync(EXAMPLES).filter((name) => !name.endsWith('.yaml'));

  test.each(samples)('%s', async (name) => {
    expect(await triedWith(path.join(EXAMPLES, name))).toBe(outcomes[name]);
  });
});

type Case = {
  of: string;
  name?: string;
  content: string | Buffer;
  answers?: Answers;
  asProposed?: string;
  outcome: string;
};

const POLISH = 'Nr zamówienia;Kod towaru;Nazwa;Ilość;Jm\n';
const LATIN = (text: string) => Buffer.from(text, 'latin1');

const CASES: readonly Case[] = [
  {
    of: 'a shop export with a status',
    content:
      'Order ID,Status,SKU,Qty\n1001,paid,AB-10,2\n1001,paid,AB-11,1\n1002,refunded,AB-10,1\n1003,paid,AB-12,4\n',
    asProposed: '2 sent, 1 condition',
    answers: { columns: { Status: { send: ['paid'], skip: ['refunded'] } } },
    outcome: '2 sent',
  },
  {
    of: 'a shop export with the status only in the first row of an order',
    content:
      'Name,Financial Status,Lineitem quantity,Lineitem sku\n#722,refunded,1,MUG-1\n#722,,3,CAP-2\n#723,paid,1,BAG-3\n#723,,2,MUG-1\n#724,paid,1,BAG-3\n',
    answers: {
      columns: { 'Financial Status': { send: ['paid'], skip: ['refunded'], of: 'order' } },
    },
    outcome: '2 sent',
  },
  {
    of: 'a German export in windows-1252',
    content: LATIN(
      'Bestellnummer;Artikelnummer;Bezeichnung;Menge;Einheit\n4500001;M-100;Rohr für Öl;1.200,5;ST\n4500002;M-200;Mutter groß;2,5;KG\n',
    ),
    outcome: '2 sent',
  },
  {
    of: 'objects whose items are counted beside their amount',
    content: JSON.stringify([
      {
        no: 'EB-451',
        lines: [
          { pos: 1, sku: 'AX-1', ordered: 24 },
          { pos: 2, sku: 'AX-2', ordered: 6 },
        ],
      },
      { no: 'EB-452', lines: [{ pos: 1, sku: 'AX-1', ordered: 10 }] },
    ]),
    name: 'orders.json',
    answers: { columns: { 'lines.pos': 'ignore' } },
    asProposed: '2 sent',
    outcome: '2 sent',
  },
  {
    of: 'French headers',
    content:
      'N° commande;Référence article;Désignation;Quantité\nC-101;R10;Tuyau;12\nC-102;R11;Écrou;3\n',
    outcome: '2 sent',
  },
  {
    of: 'Polish headers in windows-1250',
    content: Buffer.from(
      Array.from(
        `${POLISH}ZAM/12/2026;K-1;Śruba żółta;4;szt\nZAM/13/2026;K-2;Łożysko;5;szt\n`,
        (one) => POLISH_BYTES()[one] ?? one.charCodeAt(0),
      ),
    ),
    outcome: '2 sent',
  },
  {
    of: 'Japanese headers',
    content: '発注番号,品番,品名,数量,単位\nPO-1001,A-10,ボルト,12,個\nPO-1002,A-11,ナット,3,個\n',
    outcome: '2 sent',
  },
  {
    of: 'Russian headers',
    content: 'Номер заказа\tАртикул\tКоличество\nЗ-1001\tБ10\t12\nЗ-1002\tБ11\t3\n',
    outcome: '2 sent',
  },
  {
    of: 'a list in which the number is only in the first row',
    content: 'PO;Item code;Pieces\nP-1;A1;2\n;A2;3\nP-2;A1;1\n;A3;9\n;A4;1\n',
    outcome: '2 sent',
  },
  {
    of: 'a list with a title, totals and notes',
    content:
      'Orders of the week;;\n\nOrder no;Article;Quantity\nP-10;A-1;2\nP-10;A-2;3\nTotal;;5\nP-11;A-1;4\nTotal;;4\nPrinted by Anna;;\n',
    outcome: '2 sent',
  },
  {
    of: 'a table without a header',
    content: '4500001;M-100;2\n4500001;M-200;12\n4500002;M-100;1\n4500003;M-300;5\n',
    outcome: '3 sent',
  },
  {
    of: 'a table without a header in which some rows have a further value',
    content: '4500001;M-100;2\n4500001;M-200;12;x\n4500002;M-100;1\n4500003;M-300;5\n',
    outcome: '3 sent',
  },
  {
    of: 'two columns of one name',
    content: 'Order no,Article,Text,Quantity,Text\nP-10,A-1,x,2,y\nP-11,A-2,x,3,y\n',
    outcome: '2 sent',
  },
  {
    of: 'a name with a line break',
    content: '"Order\nno",Article,Quantity\nP-10,A-1,2\nP-11,A-2,3\n',
    outcome: '2 sent',
  },
  {
    of: 'a quote that is never closed',
    content: 'Order no,Article,Text,Quantity\nP-10,A-1,"3 inch,2\nP-11,A-2,x,3\n',
    outcome: '2 sent',
  },
  {
    of: 'another delimiter',
    content: 'Order no~Article~Quantity\nP-10~A-1~2\nP-11~A-2~3\n',
    outcome: '2 sent',
  },
  {
    of: 'names that say nothing',
    content:
      'a,b,c,d\nPO-10001,12.50,XK-77,2\nPO-10001,3.10,XK-78,1\nPO-10002,9.99,XL-10,30\nPO-10003,1.00,XM-20,4\n',
    outcome: '3 sent',
  },
  {
    of: 'JSON with one order as the document',
    name: 'one.json',
    content:
      '{"orderNumber":"PO-1","customer":{"id":7,"name":"Anna"},"lines":[{"sku":"A-1","qty":2},{"sku":"A-2","qty":1}]}',
    outcome: '1 sent',
  },
  {
    of: 'JSON with a list beside others',
    name: 'nested.json',
    content: JSON.stringify({
      meta: { number: 5 },
      errors: [{ code: 'x' }],
      result: {
        orders: [1, 2].map((nth) => ({
          header: { number: `PO-${nth}`, tags: ['a', 'b'] },
          lines: [{ product: { code: `A-${nth}` }, quantity: { value: nth } }],
        })),
      },
    }),
    outcome: '2 sent',
  },
  {
    of: 'NDJSON of rows',
    name: 'rows.ndjson',
    content:
      '{"po":"P-1","item":"A1","quantity":2}\n{"po":"P-1","item":"A2","quantity":1}\n{"po":"P-2","item":"A1","quantity":1,"note":"x"}\n',
    outcome: '2 sent',
  },
  {
    of: 'XML in which every order has one line',
    name: 'lines.xml',
    content:
      '<Msg><Order id="PO-1"><Line><Sku>A-1</Sku><Qty uom="EA">2</Qty></Line></Order><Order id="PO-2"><Line><Sku>A-2</Sku><Qty uom="EA">3</Qty></Line></Order></Msg>',
    outcome: '2 sent',
  },
  {
    of: 'XML of rows',
    name: 'rows.xml',
    content:
      '<rows><row><PONumber>P-1</PONumber><SKU>A1</SKU><Qty>1</Qty></row><row><PONumber>P-2</PONumber><SKU>A2</SKU><Qty>2</Qty></row></rows>',
    outcome: '2 sent',
  },
  {
    of: 'a workbook with two sheets',
    name: 'two.xlsx',
    content: rawWorkbook([
      { name: 'Info', xml: sheet([['About', 'this']]) },
      {
        name: 'Orders',
        xml: sheet([
          ['PO number', 'Article', 'Qty'],
          ['P-1', 'A-1', '2'],
          ['P-2', 'A-2', '3'],
        ]),
      },
    ]),
    outcome: '2 sent',
  },
];

function sheet(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const lines = rows.map((row) => `<row>${row.map(cell).join('')}</row>`).join('');
  return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${lines}</sheetData></worksheet>`;
}

function POLISH_BYTES(): Readonly<Record<string, number>> {
  return { ó: 0xf3, ś: 0x9c, ć: 0xe6, Ś: 0x8c, ż: 0xbf, ł: 0xb3, Ł: 0xa3 };
}

describe('a proposed mapping with its obvious answers sends all of', () => {
  test.each(CASES)('$of', async ({ name = 'sample.csv', content, answers, ...expected }) => {
    const file = await fileIn(folder.path, name, content);
    if (expected.asProposed !== undefined) expect(await triedWith(file)).toBe(expected.asProposed);
    expect(await triedWith(file, answers)).toBe(expected.outcome);
  });
});

test('only the most frequent value of a status is sent until a person says which others are', async () => {
  const rows = ['OPEN', 'OPEN', 'DRAFT', ''].map((status, nth) => `P-${nth},A-${nth},1,${status}`);
  const file = await fileIn(folder.path, 's.csv', `PO,Article,Qty,Status\n${rows.join('\n')}\n`);
  const { proposal, printed } = await proposed(file);
  expect(printed).toMatch(/Status: .*\{ send: \[ OPEN \] \}/);
  expect(proposalsJson([proposal]).questions).toContainEqual({
    mapping: 's',
    column: 'Status',
    values: ['OPEN', 'DRAFT', ''],
    question: expect.stringContaining('2× "OPEN", 1× "DRAFT", 1× empty: which are sent?'),
  });
});

test.each(['only\nX-1\nX-2\n', '1\n2\n', 'a,b\nX-1,\nX-2,\n', 'a,b\n,\n,x\n'])(
  'a table that lacks what orders need (%j) gives a mapping that asks for it',
  async (content) => {
    const [proposal] = await mapFiles([await fileIn(folder.path, 'less.csv', content)]);
    expect(proposal?.questions.join()).toMatch(/no column looks like the (?:article|quantity)/);
  },
);

test('files of one layout are put together, and others have another mapping', async () => {
  const files = await Promise.all([
    fileIn(folder.path, 'a.csv', 'PO;Article;Qty\nP-1;A-1;2\n'),
    fileIn(folder.path, 'b.csv', 'Qty;PO;Article\n9;P-2;A-22\n'),
    fileIn(folder.path, 'c.csv', 'PO,Article,Qty,Text\nP-3,A-3,2,x\n'),
  ]);
  const proposals = await mapFiles(files);
  expect(proposals.map(({ name, files: of }) => [name, of])).toEqual([
    ['a', ['a.csv', 'b.csv']],
    ['c', ['c.csv']],
  ]);
  expect(printProposals(proposals)).toContain('mapping: [a, c]');
  expect(proposalsJson(proposals).mappings['a']).toMatchObject({
    columns: { Article: { is: 'articleCode', like: '[A-Z]-\\d{1,2}' }, Qty: { max: 20 } },
  });
});

test.each(['', '\n\n', 'PO;Article;Qty\n', '[]'])(
  'a file without records (%j) is refused',
  async (content) => {
    const file = await fileIn(folder.path, 'empty', content);
    await expect(mapFiles([file])).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:map-empty|unreadable-empty)$/),
    });
  },
);
