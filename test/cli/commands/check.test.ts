import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkCommand, checkFiles } from '../../../src/cli/commands/check.ts';
import type { Config } from '../../../src/config/config.ts';
import { fakeShell } from '../../support/fake-shell.ts';
import { writeSheet } from '../../support/fix-workbook.ts';
import { inboxSource } from '../../support/inbox-source.ts';
import { mappingOf } from '../../support/mapping-of.ts';
import { textRows, writeWorkbook } from '../../support/write-workbook.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'po-sync-check-'));
afterAll(() => rm(folder, { recursive: true }));

const config: Config = {
  file: path.join(folder, 'po-sync.yaml'),
  environment: 'staging',
  data: folder,
  redis: {},
  environments: {},
  sources: [inboxSource(folder), inboxSource(folder, { name: 'erp', mapping: 'erp' })],
  mappings: {
    erp: mappingOf({
      delimiter: ';',
      columns: {
        PO: { is: 'purchaseOrderNumber' },
        ART: { is: 'articleCode' },
        QTY: { is: 'quantity' },
        Werk: 'ignore',
      },
    }),
  },
  reports: { path: folder, keep: 0 },
  ledger: { keep: 'forever' },
  notify: [],
  delivery: {
    concurrency: 1,
    timeout: 1,
    attempts: 1,
    backoff: { initial: 1, max: 1 },
    settle: 1,
    probe: { initial: 1, max: 1 },
    onDoubt: 'verify',
    readList: 'newLedger',
    refusalHold: { share: 1, of: 1 },
  },
  admin: { host: '127.0.0.1', port: 0 },
  tracing: { enabled: false },
  log: { level: 'silent' },
};

async function check(
  files: Record<string, string | Buffer>,
  more: { source?: string; json?: boolean; orders?: boolean } = {},
  also: string[] = [],
  own: Config = config,
) {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const shell = fakeShell({ cwd: folder });
  const args = { files: [...Object.keys(files), ...also], json: false, ...more };
  return { code: await checkFiles(args, shell, own), ...shell.written };
}

const GOOD = 'purchaseOrderNumber,articleCode,quantity\n1,A,2\n1,B,3\n2,C,1\n';

const COLUMNS =
  'columns: { PO: { is: purchaseOrderNumber }, articleCode: { is: articleCode }, quantity: { is: quantity } }';

describe('po-sync check', () => {
  test('says what happens to each column, and that a file with one that nobody declared waits', async () => {
    const files = { 'more.csv': 'PO;ART;QTY;Werk;Rabatt\n1;A;2;;\n2;B;1;0815;5\n' };
    const { code, out } = await check(files, { source: 'erp' });
    expect(code).toBe(2);
    expect(out).toContain('more.csv: ignored: Werk\n');
    expect(out).toContain('more.csv: not declared: Rabatt\n');
    expect(out).toMatch(/^more\.csv: waits: .*"?Rabatt"?/m);
    expect(out).toContain('more.csv: 2 orders, all valid once a person releases it\n');
    const {
      files: [document],
    } = JSON.parse((await check(files, { source: 'erp', json: true })).out);
    expect(document).toMatchObject({
      columns: [
        { column: 'PO', use: 'purchaseOrderNumber' },
        { column: 'ART', use: 'articleCode' },
        { column: 'QTY', use: 'quantity' },
        { column: 'Werk', use: 'ignored' },
        { column: 'Rabatt', use: 'undeclared' },
      ],
      waits: { code: 'layout', facts: { undeclared: [{ name: 'Rabatt', rows: 1 }] } },
    });
  });

  test('shows the format and the first order exactly as it would be sent', async () => {
    const { code, out } = await check({ 'good.csv': GOOD });
    expect(code).toBe(0);
    expect(out).toBe(
      `good.csv: csv, delimiter ",", utf-8; 3 rows
good.csv: columns: purchaseOrderNumber is purchaseOrderNumber, articleCode is articleCode, quantity is quantity
good.csv: 2 orders, all valid
First order as it would be sent:
{
  "purchaseOrderNumber": "1",
  "orderState": "NEW",
  "items": [
    {
      "articleCode": "A",
      "quantity": 2
    },
    {
      "articleCode": "B",
      "quantity": 3
    }
  ]
}
`,
    );
  });

  test('lists every order that would be sent with --orders, also where rows of several orders alternate', async () => {
    const files = { 'all.csv': `${GOOD}3,A,none\n1,C,1\n4,A\u200b,1\n5,D,4\n` };
    const { code, out } = await check(files, { orders: true });
    expect(code).toBe(2);
    expect(out).toContain('all.csv:4: would be sent: {"purchaseOrderNumber":"2",');
    expect(out).toContain('all.csv: 5 orders, 2 invalid\n');
    expect(out).not.toContain('First order');
    const item = (articleCode: string, quantity: number) => ({ articleCode, quantity });
    const toSend = [
      { line: 2, purchaseOrderNumber: '1', items: [item('A', 2), item('B', 3), item('C', 1)] },
      { line: 4, purchaseOrderNumber: '2', items: [item('C', 1)] },
      { line: 8, purchaseOrderNumber: '5', items: [item('D', 4)] },
    ].map(({ line, purchaseOrderNumber, items }) => ({
      line,
      purchaseOrderNumber,
      orderState: 'NEW',
      items,
    }));
    const json = await check(files, { orders: true, json: true }, ['missing.csv']);
    const shown = JSON.parse(json.out).files[0].toSend as { line: number }[];
    expect(shown.toSorted((a, b) => a.line - b.line)).toEqual(toSend);
    expect(JSON.parse((await check(files, { json: true })).out).files[0]).not.toHaveProperty(
      'toSend',
    );
    expect(
      JSON.parse((await check({ 'none.csv': 'a,b\n1,2\n' }, { orders: true, json: true })).out),
    ).toHaveProperty('files.0.error');
  });

  test('shows every problem with file, line, column, value and remedy', async () => {
    const { code, out } = await check({ 'bad.csv': `${GOOD}3,,"1,000"\n4,D\n` });
    expect(code).toBe(2);
    const lines = out
      .split('\n')
      .filter((line) => line.startsWith('bad.csv:5') || line.startsWith('bad.csv:6'));
    expect(lines).toEqual([
      'bad.csv:5: quantity: can be read in two ways: declare decimal in the mapping, found "1,000" (order 3)',
      'bad.csv:5: the row on line 6 may belong to it (order 3)',
      'bad.csv:5: articleCode: is empty (order 3)',
      'bad.csv:6: the row has 2 cells, and the header 3',
    ]);
    expect(out).toContain(
      'bad.csv: 3 orders and 1 row without an order number, 2 of them invalid\n',
    );
  });

  test('repeats the complete message for each row, so that a line of the output can be read alone', async () => {
    const rows = ['3,A,1', '3,A,1', '4,B,1', '4,B,1', '5,C,one', '6,C,one'];
    const files = { 'twice.csv': `purchaseOrderNumber,articleCode,quantity\n${rows.join('\n')}\n` };
    const { out } = await check(files);
    expect(out.match(/^twice\.csv:\d.*$/gm)).toEqual([
      'twice.csv:3: the row is equal to the one on line 2 (order 3)',
      'twice.csv:5: the row is equal to the one on line 4 (order 4)',
      'twice.csv:6: quantity: is not a number, found "one" (order 5)',
      'twice.csv:7: quantity: is not a number, found "one" (order 6)',
    ]);
  });

  test('groups problems by rule, ten of each, and names the lines of all others, which JSON lists each', async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `${at + 1},,1\n`);
    rows.splice(25, 1, '26,A,1\n');
    const { out } = await check({
      'same.csv': `purchaseOrderNumber,articleCode,quantity\n${rows.join('')}31,A,x\n`,
    });
    expect(out.match(/^same\.csv:\d.*$/gm)).toEqual([
      ...Array.from({ length: 10 }, (_, at) => at + 2).map(
        (line) => `same.csv:${line}: articleCode: is empty (order ${line - 1})`,
      ),
      'same.csv:32: quantity: is not a number, found "x" (order 31)',
    ]);
    expect(out).toContain('same.csv: missing, 29 times:\nsame.csv:2: ');
    expect(out).toContain('same.csv: the others in lines 12-26, 28-31\n');
  });

  test('names the line of a file that cannot be read', async () => {
    const { code, err } = await check({ 'open.csv': `${GOOD}3,"D,1\n` });
    expect(code).toBe(2);
    expect(err).toContain(
      'open.csv:5: unreadable-incomplete: The file ends too early: the quote that closes field 2 of line 5 is missing.',
    );
  });

  test('reads with the mapping of the named source', async () => {
    const { code, out } = await check({ 'erp.csv': 'PO;ART;QTY\n7;X;1\n' }, { source: 'erp' });
    expect(code).toBe(0);
    expect(out).toContain('"purchaseOrderNumber": "7"');
  });

  test('reads a fix file with the mapping of the batch that it names, whatever the source', async () => {
    const batch = '20261121T071500Z-erp-orders-3f2a91c0';
    await mkdir(path.join(folder, batch));
    await writeFile(
      path.join(folder, batch, 'report.json'),
      JSON.stringify({
        batch,
        environment: 'staging',
        source: 'erp',
        format: { type: 'csv' },
        header: ['PO', 'ART', 'QTY'],
      }),
    );
    const [PO, ART] = ['007', 'X'];
    const letter = {
      id: `${batch}-0`,
      revision: 1,
      purchaseOrderNumber: PO,
      kind: 'invalid',
      problems: [{ line: 2, field: 'QTY', code: 'not-a-number', value: 'two', message: 'No' }],
      location: { line: 2 },
      rows: [{ row: 1, line: 2, cells: { PO, ART, QTY: 'two' } }],
    };
    await writeFile(
      path.join(folder, batch, 'dead-letters.json'),
      `[\n${JSON.stringify(letter)}\n]\n`,
    );
    const header = ['PO', 'ART', 'QTY', '_do', '_id'];
    const fixOf = (of: string) =>
      writeSheet({ header, rows: [{ PO: '7', ART, QTY: '2', _id: `${of}-0.1@1` }] });
    for (const source of [{}, { source: 'inbox' }]) {
      const { code, out } = await check({ 'fix.xlsx': await fixOf(batch) }, source);
      expect(code).toBe(0);
      expect(out).toContain('"purchaseOrderNumber": "007"');
      expect(out).toContain('PO: "7" was "007"');
    }
    const other = batch.replace('erp', 'old');
    const { code, err } = await check({ 'fix.xlsx': await fixOf(other) }, { source: 'erp' });
    expect(code).toBe(2);
    expect(err).toContain(
      `The file corrects batch ${other}, which the environment staging does not know`,
    );
  });

  test('an unknown source is refused, with the nearest name', async () => {
    await expect(check({ 'good.csv': GOOD }, { source: 'epr' })).rejects.toMatchObject({
      code: 'source-unknown',
      remedy: 'Did you mean erp?',
    });
  });

  test('exits with 1 if a file cannot be opened, after checking the others, and says so as any command does', async () => {
    await mkdir(path.join(folder, 'folder.csv'));
    const { code, out, err } = await check({ 'good.csv': GOOD }, {}, ['missing.csv', 'folder.csv']);
    expect(code).toBe(1);
    expect(out).toContain('good.csv: 2 orders, all valid');
    const [missing, other] = ['missing.csv', 'folder.csv'].map((name) => path.join(folder, name));
    expect(err).toBe(
      `po-sync: File ${missing} not found.\n  Check its name and path.\n` +
        `po-sync: ${other} is not a regular file.\n  Use a file, not a link, folder, pipe or device.\n`,
    );
  });

  test('prints one JSON document for several files', async () => {
    const files = {
      'good.csv': GOOD,
      'bad.json':
        '[{"purchaseOrderNumber":"1","items":[{"articleCode":"A"},{"articleCode":"B","quantity":2}]}]',
      'open.csv': `${GOOD}"`,
    };
    const { code, out, err } = await check(files, { json: true });
    expect([code, err]).toEqual([2, '']);
    expect(JSON.parse(out)).toMatchObject({
      files: [
        {
          file: 'good.csv',
          format: { type: 'csv', delimiter: ',' },
          records: 3,
          problems: [],
          orders: 2,
          invalid: 0,
        },
        {
          file: 'bad.json',
          orders: 1,
          invalid: 1,
          first: null,
          problems: [
            {
              order: '1',
              line: 1,
              pointer: '/0/items/0/quantity',
              field: 'items.quantity',
              code: 'missing',
            },
          ],
        },
        { file: 'open.csv', error: { code: 'unreadable-incomplete', facts: { line: 5 } } },
      ],
    });
  });

  test('shows control and bidi characters of a file as escapes', async () => {
    const text =
      'purchaseOrderNumber,articleCode,quantity\n\u202e1,\u001b[2J,2\n\u202e2,C\u200e,1\n';
    for (const json of [false, true]) {
      const { out } = await check({ 'hostile\u001b.csv': text }, { json });
      expect(out).toContain('\\u202e');
      expect(out).toContain('\\u001b');
      expect(out).toContain('not allowed (U+202E)');
      for (const hidden of ['\u001b', '\u202e', '\u200e']) expect(out).not.toContain(hidden);
    }
  });

  test('reads a workbook and names its rows', async () => {
    const book = await writeWorkbook(
      textRows([
        ['purchaseOrderNumber', 'articleCode', 'quantity'],
        ['0012', 'A', '2'],
        ['0013', 'B', '1,000'],
      ]),
    );
    const { code, out } = await check({ 'orders.xlsx': book });
    expect(code).toBe(2);
    expect(out).toContain('orders.xlsx: xlsx; 2 rows\n');
    expect(out).toContain('orders.xlsx:3: quantity: can be read in two ways');
    expect(out).toContain('"purchaseOrderNumber": "0012"');
  });

  test('shows why a damaged workbook cannot be read', async () => {
    const { code, err } = await check({ 'orders.xlsx': Buffer.from('PK\x03\x04') });
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        'orders.xlsx: unreadable-incomplete: The file ends too early: the end of the zip archive',
      ),
    ]);
  });

  test('cuts a very long order number', async () => {
    const { out } = await check({ 'long.csv': `${GOOD}${'9'.repeat(5_000)},A,x\n` });
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThan(500);
  });

  test('reports an empty file, and says of one without orders that there is nothing to send', async () => {
    expect(await check({ 'empty.csv': '' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('The file is empty'),
    });
    const { code, out } = await check({ 'none.csv': 'purchaseOrderNumber,articleCode,quantity\n' });
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(
        'none.csv: warning: The file has no orders.\nnone.csv: 0 orders, nothing to send\n',
      ),
    ]);
  });

  test('uses the standard columns if there is no configuration', async () => {
    await writeFile(path.join(folder, 'standard.csv'), GOOD);
    const shell = fakeShell({ cwd: folder });
    expect(await checkCommand({ files: ['standard.csv'], json: false }, shell)).toBe(0);
    expect(shell.written.out).toContain('standard.csv: 2 orders, all valid');
    expect(shell.written.err).toBe('No configuration found; checking with the standard columns.\n');
  });

  test.each([
    ['the only inbox', 'standard.csv', 'type: export, name: erp, path: e.csv', 0],
    ['the inbox that the file is in', 'b/done/sent.csv', 'type: inbox, name: erp, path: a', 0],
    [
      'no source, if two inboxes may be meant',
      'standard.csv',
      'type: inbox, name: erp, path: a',
      2,
    ],
  ])('without --source reads with the mapping of %s', async (_, file, other, expected) => {
    const addresses = 'baseUrl: https://a.example/api/v1, authUrl: https://b.example';
    const sources = `  - { ${other} }\n  - { type: inbox, name: shop, path: b, mapping: shop }\n`;
    const text = `environment: e\nenvironments:\n  e: { ${addresses} }\nsources:\n${sources}mappings:\n  shop: { ${COLUMNS} }\n`;
    await writeFile(path.join(folder, 'own.yaml'), text);
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), GOOD.replace('purchaseOrderNumber', 'PO'));
    const shell = fakeShell({ cwd: folder });
    const code = await checkCommand({ files: [file], json: false, config: 'own.yaml' }, shell);
    expect(code).toBe(expected);
  });

  test.each([{ config: 'nowhere.yaml' }, { source: 'erp' }])(
    'needs a configuration if %j names one',
    async (named) => {
      const args = { files: ['standard.csv'], json: false, ...named };
      await expect(checkCommand(args, fakeShell({ cwd: folder }))).rejects.toMatchObject({
        code: 'config-missing',
      });
    },
  );
});
