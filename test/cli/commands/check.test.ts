import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkCommand, checkFiles } from '../../../src/cli/commands/check.ts';
import type { Config } from '../../../src/config/config.ts';
import { fakeShell } from '../../support/fake-shell.ts';
import { inboxSource } from '../../support/inbox-source.ts';
import { mappingOf } from '../../support/read-text.ts';
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
      fields: { purchaseOrderNumber: 'PO', articleCode: 'ART', quantity: 'QTY' },
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
  tracing: { enabled: false, traceparent: false },
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

describe('po-sync check', () => {
  test('counts a totals row as a row without an order number, and does not name its label as an order', async () => {
    const { out } = await check({ 'sum.csv': `${GOOD}Summe,,12\n,D,1\n` });
    expect(out).toContain(
      'sum.csv: 2 orders and 2 rows without an order number, 2 of them invalid\n',
    );
    expect(out).toContain('Summe');
    expect(out).not.toContain('(order Summe)');
  });

  test('names the columns that no field is read from, such as one that was meant', async () => {
    const files = {
      'more.csv': 'purchaseOrderNumber,articleCode,quantity,Qty,Remark\n1,A,2,20,-\n',
    };
    expect((await check(files)).out).toContain(
      'more.csv: columns that are not sent: Qty, Remark\n',
    );
    const { out } = await check(files, { json: true });
    expect(JSON.parse(out).files).toMatchObject([{ unused: ['Qty', 'Remark'] }]);
    expect((await check({ 'good.csv': GOOD })).out).not.toContain('not sent');
  });

  test('names the keys of JSON and XML that no field is read from, in orders and in items, also attributes', async () => {
    const items = [
      { articleCode: 'A', quantity: 1, note: 'x' },
      { articleCode: { a: 1 }, quantity: 1, price: null },
    ];
    const order = { purchaseOrderNumber: '1', orderState: 'NEW', buyer: { name: 'B' }, items };
    const more = { ...order, purchaseOrderNumber: '2', 'remark\u202e': '' };
    const files = {
      'more.json': JSON.stringify([order, more]),
      'more.xml':
        '<a><order purchaseOrderNumber="1"><items no="7"><item><articleCode code="AA-1">X</articleCode><quantity>1</quantity></item></items></order></a>',
      'good.ndjson': `${JSON.stringify({ purchaseOrderNumber: '3', articleCode: 'A', quantity: 1 })}\n`,
    };
    const { out } = await check(files);
    expect(out.split('\n').filter((line) => line.includes('not sent'))).toEqual([
      'more.json: keys that are not sent: buyer, items[].note, items[].articleCode.a, items[].price, remark\\u202e',
      expect.stringMatching(/^more\.xml: keys that are not sent: .*articleCode\.code$/),
    ]);
    const document = JSON.parse((await check(files, { json: true })).out);
    expect(document.files[0].unused).toContain('items[].note');
  });

  test('says that keys are those of the first objects where a file has more', async () => {
    const order = (at: number) => ({
      purchaseOrderNumber: `P${at}`,
      items: [{ articleCode: 'A', quantity: 1 }],
    });
    const lines = Array.from({ length: 101 }, (_, at) => ({ ...order(at), [`key${at}`]: 1 }));
    const { out } = await check({
      'many.ndjson': lines.map((one) => JSON.stringify(one)).join('\n'),
    });
    const named = Array.from({ length: 10 }, (_, at) => `key${at}`).join(', ');
    expect(out).toContain(
      `many.ndjson: keys of the first 100 objects that are not sent: ${named} and 90 more\n`,
    );
  });

  test('shows the format and the first order exactly as it would be sent', async () => {
    const { code, out } = await check({ 'good.csv': GOOD });
    expect(code).toBe(0);
    expect(out).toBe(
      `good.csv: csv, delimiter ",", utf-8; 3 rows
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

  test('says that the sign of other quantities decides about none that can be read in two ways', async () => {
    const { code, out } = await check({ 'auto.csv': `${GOOD}3,A,"2,50"\n4,B,1.000\n` });
    expect(code).toBe(2);
    expect(out).toContain('utf-8, decimal "," (as its unambiguous quantities have it); 5 rows');
    expect(out).toMatch(
      /"1\.000" can be read in two ways; .*with decimal: "," in the mapping of the source, it is 1000/,
    );
  });

  test('shows every problem with file, line, column, value and remedy', async () => {
    const { code, out } = await check({ 'bad.csv': `${GOOD}3,,"1,000"\n4,D\n` });
    expect(code).toBe(2);
    const lines = out
      .split('\n')
      .filter((line) => line.startsWith('bad.csv:5') || line.startsWith('bad.csv:6'));
    expect(lines).toEqual([
      'bad.csv:5: articleCode: is empty; enter a value (order 3)',
      'bad.csv:5: quantity: "1,000" can be read in two ways; enter 1000 or 1: confirmed does not say which one. The .xlsx form of the fix file keeps what you enter; in the .csv form, it can be held again. For your operator: with decimal: "." in the mapping of the source, it is 1000; with decimal: ",", it is 1 (order 3)',
      'bad.csv:5: a row of this order may be missing: line 6 (read as order "4") has 2 instead of 3 fields and may belong to this order. If it does, as where cells were merged, correct it and enter the number of this order in it. If it does not, enter the number of its order, or discard it. Only if that row stays as it is and this order is complete without it, write confirmed into _error_check of its rows in the fix file (order 3)',
      'bad.csv:6: has fewer fields than the header (2 instead of 3); check for a missing delimiter or a line break within a field. For your operator: if it is a totals row, add its label to skipRows in the mapping (order 4)',
    ]);
    expect(out).toContain('bad.csv: 4 orders, 2 invalid\n');
  });

  test('repeats the complete message for each row, so that a line of the output can be read alone', async () => {
    const rows = ['3,A,1', '3,A,1', '4,B,1', '4,B,1', '5,C,one', '6,C,one'];
    const files = { 'twice.csv': `purchaseOrderNumber,articleCode,quantity\n${rows.join('\n')}\n` };
    const { out } = await check(files);
    const [first, ...others] = out
      .split('\n')
      .filter((line) => line.startsWith('twice.csv:') && /:\d/.test(line));
    expect(first).toMatch(
      /^twice.csv:3: line 3 is equal to line 2 in every value: either the row was .* \(order 3\)$/,
    );
    expect(others).toEqual([
      expect.stringMatching(
        /^twice.csv:5: line 5 is equal to line 4 in every value: either the row was .* \(order 4\)$/,
      ),
      expect.stringMatching(/^twice.csv:6: quantity: "one" is not a number; .* \(order 5\)$/),
      expect.stringMatching(/^twice.csv:7: quantity: "one" is not a number; .* \(order 6\)$/),
    ]);
  });

  test('shows equal problems ten times and names the lines of all others, which JSON lists each', async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `${at + 1},,1\n`);
    rows.splice(25, 1, 'good,A,1\n');
    const { out } = await check({
      'same.csv': `purchaseOrderNumber,articleCode,quantity\n${rows.join('')}last,A,x\n`,
    });
    expect(out.match(/^same\.csv:\d.*$/gm)).toEqual([
      ...Array.from({ length: 10 }, (_, at) => at + 2).map(
        (line) => `same.csv:${line}: articleCode: is empty; enter a value (order ${line - 1})`,
      ),
      'same.csv:32: quantity: "x" is not a number; enter digits only, such as 12 (order last)',
    ]);
    const named = Array.from({ length: 10 }, (_, at) => `line ${at + 12} of order ${at + 11}`).join(
      ', ',
    );
    expect(out).toContain(
      `same.csv: 19 more like it: articleCode: is empty; enter a value. Also at ${named}, and in lines 22-26, 28-31\n`,
    );
    const objects = Array.from({ length: 24 }, (_, at) => ({
      purchaseOrderNumber: `PO-${at}`,
      lines: [{ sku: 'A', qty: 1 }],
    }));
    const files = { 'same.json': JSON.stringify(objects) };
    const text = (await check(files)).out;
    // One name that the mapping lacks is one mistake in all of them.
    expect(text.match(/has no items/g)).toHaveLength(2);
    expect(text).toMatch(
      /^same.json: 23 more like it: items: has no items; at least one is required. Also at \/1\/items of order PO-1, .*, and in line 1$/m,
    );
    const [document] = JSON.parse((await check(files, { json: true })).out).files;
    expect(document.problems).toHaveLength(24);
  });

  test('names the lines of equal problems in NDJSON, whose pointers are all the same', async () => {
    const one = JSON.stringify({ orderNo: 'A', items: [{ articleCode: 'X', quantity: 1 }] });
    const { out } = await check({ 'same.ndjson': `${one}\n`.repeat(14) });
    const named = Array.from({ length: 10 }, (_, at) => `line ${at + 2} /purchaseOrderNumber`).join(
      ', ',
    );
    expect(out).toContain(`Also at ${named}, and in lines 12-14\n`);
  });

  test('says nothing of one line where it counts problems of others: merged cells and equal rows', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => `M-${at},A,1\n,B,2\n`);
    const equal = Array.from({ length: 12 }, (_, at) => `E-${at},A,1\nE-${at},A,1\n`);
    const { out } = await check({
      'lines.csv': `purchaseOrderNumber,articleCode,quantity\n${[...rows, ...equal].join('')}`,
    });
    const counted = out.split('\n').filter((line) => line.includes(' more like it: '));
    expect(counted).toEqual([
      expect.stringMatching(
        /3 more like it: a row of this order may be missing: another line has no order number and /,
      ),
      expect.stringMatching(/2 more like it: purchaseOrderNumber: is empty/),
      expect.stringMatching(
        /2 more like it: this line is equal to another line in every value: either /,
      ),
    ]);
    expect(counted[0]).toMatch(
      / Also at line 22 of order M-10, line 24 of order M-11, line 26 of order E-0$/,
    );
  });

  test('names skipRows for a totals row with its label in the column of the quantity', async () => {
    const text =
      'purchaseOrderNumber;x;articleCode;quantity;y\n1;;A;5;\n;;;Summe 750 Positionen;\n';
    const { out } = await check({ 'sum.csv': text });
    expect(out.match(/^sum\.csv:3: .*$/gm)).toEqual([
      'sum.csv:3: quantity: this row ("Summe 750 Positionen") looks like a totals row, but is not clearly the sum of those above; discard it, or complete it if it is an order. For your operator: skipRows: ["^Summe"]',
    ]);
  });

  test('shows the content of a totals row, wherever its label is, and no other problem of it', async () => {
    const text =
      'purchaseOrderNumber,articleCode,quantity,price\n1,A,5,1\nSumme,,,7.50 \n,Total,9,8\u202e\nGesamt,X,1,\n';
    const { out } = await check({ 'sum.csv': text });
    const of = (line: number) =>
      out.split('\n').filter((one) => one.startsWith(`sum.csv:${line}: `));
    expect(of(3)[0]).toMatch(
      /: purchaseOrderNumber: this row \("Summe", "7.50"\) looks like a totals row, .{0,100}For your operator: skipRows/,
    );
    expect(of(3).join()).not.toContain('is empty');
    expect(of(4)[0]).toMatch(
      /: articleCode: this row \("Total", "9", "8\\u202e"\) looks like a totals row, /,
    );
    // Only a person knows whether it is an order: it has an article.
    expect(of(5)[0]).toMatch(/: "Gesamt" can be a value, or the label of a totals row; .{0,110}$/);
  });

  test('shows the complete message for each canceled row and draft', async () => {
    const rows = [
      '3,A,1,storniert',
      '4,B,1,draft',
      '5,C,1,ENTWURF',
      '6,D,1,CANCELLED',
      '7,E,1,on hold',
      '8,F,1,done',
    ];
    const { out } = await check({
      'off.csv': `purchaseOrderNumber,articleCode,quantity,status\n${rows.join('\n')}\n`,
    });
    expect(out.match(/^off\.csv:\d.*$/gm)).toEqual([
      expect.stringMatching(/^off.csv:2: .*no longer wanted; discard the order\. .* \(order 3\)$/),
      expect.stringMatching(/^off.csv:3: .*not wanted yet; .* \(order 4\)$/),
      expect.stringMatching(
        /^off.csv:4: status: "ENTWURF" says that this is not wanted yet; .{80,} \(order 5\)$/,
      ),
      expect.stringMatching(/^off.csv:5: .*no longer wanted; discard the order\. .* \(order 6\)$/),
      expect.stringMatching(
        /^off.csv:6: status: "on hold" says that this is not wanted yet; .{80,} \(order 7\)$/,
      ),
      expect.stringMatching(/^off.csv:7: .*done already; .* \(order 8\)$/),
    ]);
  });

  test('shows what happens to the orders with each value of a status column that is not sent', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `${at + 10},A,1,S${at},`);
    const rows = [
      '1,A,1,OFFEN,x',
      '2,A,1,OFFEN,x',
      '2,B,1,OFFEN,x',
      '3,A,1,erledigt,x',
      '4,,1,OFFEN,x',
      '5,A,1,"a,\u001b",x',
    ];
    const text = `purchaseOrderNumber,articleCode,quantity,Auftragsstatus,Stock\n${[...rows, ...many].join('\n')}\n`;
    const { out } = await check({ 's.csv': text });
    expect(out.match(/^s\.csv: Auftragsstatus: .*$/m)?.[0]).toBe(
      's.csv: Auftragsstatus: OFFEN 2 sent and 1 held, "a,\\u001b" 1 sent, S0 1 sent, S1 1 sent, S2 1 sent, S3 1 sent, S4 1 sent, S5 1 sent, S6 1 sent, S7 1 sent, other values 5',
    );
    const orders = ['OPEN', 'OPEN', 'closed'].map((status, at) => {
      return {
        purchaseOrderNumber: `PO-${at}`,
        status,
        items: [{ articleCode: 'A', quantity: 1 }],
      };
    });
    const [document] = JSON.parse(
      (await check({ 's.json': JSON.stringify(orders) }, { json: true })).out,
    ).files;
    expect(document.statuses).toEqual([
      {
        column: 'status',
        values: [
          { value: 'OPEN', sent: 2, known: 0, held: 0 },
          { value: 'closed', sent: 0, known: 0, held: 1 },
        ],
        more: 0,
      },
    ]);
  });

  test('shows the orders that onlyWhere or skipWhere leaves out among the values of their column', async () => {
    const erp = mappingOf({ onlyWhere: { status: ['frei'] }, skipWhere: { Art: ['Test'] } });
    const own = { ...config, mappings: { erp } };
    const rows = [
      '1,A,1,frei,',
      '2,A,1,Entwurf,',
      '2,B,1,,',
      '3,A,1,Entwurf,',
      '4,A,x,frei,',
      '5,A,1,frei,Test',
    ];
    const text = `purchaseOrderNumber,articleCode,quantity,Status,ART\n${rows.join('\n')}\n`;
    const { out } = await check({ 'only.csv': text }, { source: 'erp' }, [], own);
    expect(out).toContain('only.csv: Status: frei 1 sent and 1 held, Entwurf 2 left out\n');
    expect(out).toContain('only.csv: ART: Test 1 left out\n');
    const orders = ['frei', 'Entwurf'].map((Status, at) => {
      return {
        purchaseOrderNumber: `PO-${at}`,
        Status,
        items: [{ articleCode: 'A', quantity: 1 }],
      };
    });
    const found = await check(
      { 'only.json': JSON.stringify(orders) },
      { source: 'erp', json: true },
      [],
      {
        ...config,
        mappings: { erp: mappingOf({ onlyWhere: { status: ['frei'] } }) },
      },
    );
    expect(JSON.parse(found.out).files[0].statuses).toEqual([
      {
        column: 'Status',
        values: [
          { value: 'frei', sent: 1, known: 0, held: 0 },
          { value: 'Entwurf', sent: 0, known: 0, held: 0, leftOut: 1 },
        ],
        more: 0,
      },
    ]);
  });

  test('names the line of a file that cannot be read', async () => {
    const { code, err } = await check({ 'open.csv': `${GOOD}3,"D,1\n` });
    expect(code).toBe(2);
    expect(err).toContain(
      'open.csv:5: unreadable-quote: The row that begins on line 5 opens a quote in field 2',
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
      JSON.stringify({ batch, environment: 'staging', source: 'erp' }),
    );
    const written = `PO;ART;QTY;_error_line;_error_code;_error_message;_error_check\n007;X;two;2;not-a-number;QTY: is wrong (line 2 of batch ${batch});01,000\n`;
    await writeFile(path.join(folder, batch, 'dead-letters.csv'), written);
    for (const source of [{}, { source: 'inbox' }]) {
      const { code, out } = await check(
        { 'fix.csv': written.replace('007;X;two', '7;X;2').replace('01,000', '1') },
        source,
      );
      expect(code).toBe(0);
      expect(out).toContain('"purchaseOrderNumber": "007"');
    }
    const other = batch.replace('erp', 'old');
    const { out } = await check({ 'fix.csv': written.replace(batch, other) }, { source: 'erp' });
    expect(out).toContain(
      `warning: The file corrects batch ${other}, but its report is not in ${folder}: read with the mapping of source erp`,
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
      'bad.json': '[{"purchaseOrderNumber":"1","items":[{"articleCode":"A"}]}]',
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
              field: 'quantity',
              code: 'missing',
            },
          ],
        },
        { file: 'open.csv', error: { code: 'unreadable-quote', facts: { line: 5 } } },
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
    expect(out).toContain('orders.xlsx:3: quantity: "1,000" can be read in two ways');
    expect(out).toContain('"purchaseOrderNumber": "0012"');
  });

  test('shows why a damaged workbook cannot be read', async () => {
    const { code, err } = await check({ 'orders.xlsx': Buffer.from('PK\x03\x04') });
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('orders.xlsx: unreadable-zip: The zip archive is damaged'),
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
      'none.csv: csv, delimiter ",", utf-8; 0 rows\nnone.csv: 0 orders, nothing to send\n',
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
    [
      'that no source uses a mapping',
      'inbox, path: a }',
      'mappings.shop: is not used by any source\n',
    ],
    [
      'that it chose no mapping among several sources',
      'one, path: a }\n  - { type: inbox, name: two, path: b, mapping: shop }',
      'warning: there are several sources, so the standard columns apply; choose the mapping with --source (one, two)\n',
    ],
  ])('warns %s, except with --json', async (_, sources, warning) => {
    const addresses = 'baseUrl: https://a.example/api/v1, authUrl: https://b.example';
    const text = `environment: e\nenvironments:\n  e: { ${addresses} }\nsources:\n  - { type: inbox, name: ${sources}\n`;
    await writeFile(
      path.join(folder, 'own.yaml'),
      `${text}mappings:\n  shop: { delimiter: ";" }\n`,
    );
    await writeFile(path.join(folder, 'standard.csv'), GOOD);
    const ask = async (json: boolean) => {
      const shell = fakeShell({ cwd: folder });
      await checkCommand({ files: ['standard.csv'], json, config: 'own.yaml' }, shell);
      return shell.written.err;
    };
    expect(await ask(false)).toContain(warning);
    expect(await ask(true)).toBe('');
  });

  test.each([
    ['the only inbox', 'standard.csv', 'type: export, name: erp, path: e.csv', ''],
    ['the inbox that the file is in', 'b/done/sent.csv', 'type: inbox, name: erp, path: a', ''],
    [
      'no source, if two inboxes may be meant',
      'standard.csv',
      'type: inbox, name: erp, path: a',
      'several sources',
    ],
  ])('without --source reads with the mapping of %s', async (_, file, other, warning) => {
    const addresses = 'baseUrl: https://a.example/api/v1, authUrl: https://b.example';
    const sources = `  - { ${other} }\n  - { type: inbox, name: shop, path: b, mapping: shop }\n`;
    const text = `environment: e\nenvironments:\n  e: { ${addresses} }\nsources:\n${sources}mappings:\n  shop: { fields: { purchaseOrderNumber: PO } }\n`;
    await writeFile(path.join(folder, 'own.yaml'), text);
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), GOOD.replace('purchaseOrderNumber', 'PO'));
    const shell = fakeShell({ cwd: folder });
    const code = await checkCommand({ files: [file], json: false, config: 'own.yaml' }, shell);
    expect([code, shell.written.err.includes('several sources')]).toEqual(
      warning === '' ? [0, false] : [2, true],
    );
  });

  test('names the source whose mapping it chose, if that mapping cannot read the file', async () => {
    const addresses = 'baseUrl: https://a.example/api/v1, authUrl: https://b.example';
    const sources =
      '  - { type: export, name: erp, path: e.csv }\n  - { type: inbox, name: shop, path: b, mapping: book }\n';
    const text = `environment: e\nenvironments:\n  e: { ${addresses} }\nsources:\n${sources}mappings:\n  book: { format: xlsx }\n`;
    await writeFile(path.join(folder, 'own.yaml'), text);
    await writeFile(path.join(folder, 'standard.csv'), GOOD);
    const errorOf = async (source?: string) => {
      const shell = fakeShell({ cwd: folder });
      const args = {
        files: ['standard.csv'],
        json: false,
        config: 'own.yaml',
        ...(source && { source }),
      };
      expect(await checkCommand(args, shell)).toBe(2);
      return shell.written.out + shell.written.err;
    };
    const chosen = 'It was checked for source shop (mapping book), because no --source was given.';
    expect((await errorOf()).replace(/\s+/g, ' ')).toContain(chosen);
    expect(await errorOf('shop')).not.toContain('It was checked');
  });

  test('does not say that the standard columns apply to a fix file, which has the mapping of its batch', async () => {
    const addresses = 'baseUrl: https://a.example/api/v1, authUrl: https://b.example';
    const sources =
      '  - { type: inbox, name: one, path: a }\n  - { type: inbox, name: two, path: b, mapping: shop }\n';
    const text = `environment: e\nenvironments:\n  e: { ${addresses} }\nsources:\n${sources}mappings:\n  shop: { delimiter: ";" }\n`;
    await writeFile(path.join(folder, 'own.yaml'), text);
    const note = 'quantity: is empty (line 2 of batch 20261121T071500Z-one-a-3f2a91c0)';
    const fix = `purchaseOrderNumber,articleCode,quantity,_error_line,_error_code,_error_message,_error_check\n1,A,1,2,missing,${note},\n`;
    await writeFile(path.join(folder, 'fix.csv'), fix);
    await writeFile(path.join(folder, 'standard.csv'), GOOD);
    const ask = async (...files: string[]) => {
      const shell = fakeShell({ cwd: folder });
      await checkCommand({ files, json: false, config: 'own.yaml' }, shell);
      return shell.written.err;
    };
    expect(await ask('fix.csv')).not.toContain('the standard columns apply;');
    expect(await ask('fix.csv', 'standard.csv')).toContain('the standard columns apply;');
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
