import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { howToRead } from '../../src/validate/how-to-read.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { inShort, mappingOf } from '../support/read-text.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const BATCH = '20261121T071500Z-erp-orders-3f2a91c0';
const HEADER = 'PO_NO;MATNR;MENGE;_error_line;_error_code;_error_message;_error_check';
const note = (line: number) => `MATNR: is empty (line ${line} of batch ${BATCH})`;
/** As po-sync wrote it. */
const WRITTEN = [
  HEADER,
  '00987;000123;1;2;;;01,000',
  `00987;;5;3;missing;${note(3)};01,000`,
  `00988;1-2;two;4;not-a-number;${note(4)};01,000`,
  `00989;A-1;1,000;5;ambiguous-number;${note(5)};01,000`,
  `;A-2;1;6;missing;${note(6)};01,000`,
  '',
].join('\n');

const ERP = {
  delimiter: ';',
  fields: { purchaseOrderNumber: 'PO_NO', articleCode: 'MATNR', quantity: 'MENGE' },
};
const order = (purchaseOrderNumber: string, ...items: [string, number][]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
});

describe('a fix file', () => {
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;

  beforeEach(async () => {
    folder = await makeTempFolder();
    await mkdir(path.join(folder.path, BATCH));
    await writeFile(path.join(folder.path, BATCH, 'dead-letters.csv'), WRITTEN);
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  /** Reads a file that comes back into the inbox of another source. */
  async function comesBack(content: string, mapping: object = ERP) {
    const file = path.join(folder.path, 'back.csv');
    await writeFile(file, content);
    const config = {
      sources: [{ name: 'erp', mapping: 'erp' }, { name: 'inbox' }],
      mappings: { erp: mappingOf(mapping) },
      reports: { path: folder.path },
    } as unknown as Config;
    const batches = {
      find: (name: string) =>
        Promise.resolve(name === BATCH ? ({ batch: BATCH, source: 'erp' } as never) : undefined),
    };
    const how = await howToRead(file, 'inbox', { config, batches });
    const inspection = await inspectFile(file, how.mapping, { originals: how.originals });
    const orders: CheckedOrder[] = [];
    for await (const one of readOrders(file, inspection)) orders.push(one);
    const cells = orders.flatMap(({ records }) =>
      records.map((one) => (one.kind === 'row' ? one.cells : [])),
    );
    return { orders: inShort(orders), warnings: inspection.warnings, cells };
  }

  test('is read with the mapping of the batch that it names, in any inbox', async () => {
    const fixed = WRITTEN.replace('00987;;5', '00987;A-7;5')
      .replace('two', '2')
      .replace('A-1;1,000', 'A-1;1')
      .replace('\n;A-2', '\n00990;A-2');
    const { orders, warnings } = await comesBack(fixed);
    expect(orders).toEqual([
      order('00987', ['000123', 1], ['A-7', 5]),
      order('00988', ['1-2', 2]),
      order('00989', ['A-1', 1]),
      order('00990', ['A-2', 1]),
    ]);
    expect(warnings).toEqual([]);
  });

  describe('in which copies were joined', () => {
    const corrected = (quantity: number, batch = BATCH) =>
      `00988;1-2;${quantity};4;not-a-number;MATNR: is empty (line 4 of batch ${batch});01,000`;
    const OTHER = '20261121T071600Z-erp-orders-11111111';

    test('holds an order whose row is there twice, adjacent or not', async () => {
      expect((await comesBack(`${HEADER}\n${corrected(3)}\n${corrected(4)}\n`)).orders).toEqual([
        { '00988': ['3 fix-row-twice'] },
      ]);
      const apart = `${HEADER}\n${corrected(3)}\n00990;A-2;1;6;;;01,000\n${corrected(4)}\n`;
      expect(JSON.stringify((await comesBack(apart)).orders)).toContain('4 fix-row-twice');
    });

    test('holds an order with rows of two batches', async () => {
      const { orders } = await comesBack(`${HEADER}\n${corrected(3)}\n${corrected(5, OTHER)}\n`);
      expect(orders).toEqual([{ '00988': ['3 fix-row-twice'] }]);
    });

    test('sends a row that a person added without error columns', async () => {
      const { orders } = await comesBack(`${HEADER}\n${corrected(3)}\n00988;NEW-1;4;;;;\n`);
      expect(orders).toEqual([order('00988', ['1-2', 3], ['NEW-1', 4])]);
    });

    test('holds flat JSON objects that name one object', async () => {
      const object = (quantity: number) => ({
        PO_NO: '00988',
        MATNR: 'A-1',
        MENGE: quantity,
        _error_line: 1,
        _error_message: `is empty (/0 of batch ${BATCH})`,
      });
      const { orders } = await comesBack(JSON.stringify([object(3), object(4)]));
      expect(JSON.stringify(orders)).toContain('1 fix-row-twice');
    });
  });

  /** As a spreadsheet in the United States saves it, with the same corrections. */
  const SAVED = [
    HEADER.replaceAll(';', ','),
    '987,123,1,2,,,1000',
    `987,A-7,5,3,missing,"${note(3)}",1000`,
    `988,01. Feb,2,4,not-a-number,"${note(4)}",1000`,
    `989,A-1,1000,5,ambiguous-number,"${note(5)}",1000`,
    `990,A-2,1,6,missing,"${note(6)}",1000`,
    '',
  ].join('\r\n');

  test('that a spreadsheet saved has its other columns restored, too: the answer of its program has the position 0010', async () => {
    const head = 'PO_NO;POS;MATNR;MENGE;NOTE;_error_line;_error_code;_error_message;_error_check';
    const written = `${head}\n00987;0010;A-1;two;x;2;not-a-number;${note(2)};01,000\n`;
    await writeFile(path.join(folder.path, BATCH, 'dead-letters.csv'), written);
    const back = `${head}\n987;10;A-1;2;y;2;not-a-number;${note(2)};1000\n`;
    const { orders, cells } = await comesBack(back);
    expect(orders).toEqual([order('00987', ['A-1', 2])]);
    expect(cells).toEqual([['00987', '0010', 'A-1', '2', 'y']]);
    // Not rewritten: a person changed it.
    expect((await comesBack(written.replace('two', '2').replace('0010', '10'))).cells[0]?.[1]).toBe(
      '10',
    );
  });

  test('that a spreadsheet saved keeps apart columns with one name, or without any', async () => {
    const head = 'PO_NO;KEY;KEY;;;MATNR;MENGE;_error_line;_error_code;_error_message;_error_check';
    const written = `${head}\n00987;0010;10;02;2;A-1;two;2;not-a-number;${note(2)};01,000\n`;
    await writeFile(path.join(folder.path, BATCH, 'dead-letters.csv'), written);
    const { cells } = await comesBack(
      `${head}\n987;10;10;2;2;A-1;2;2;not-a-number;${note(2)};1000\n`,
    );
    expect(cells).toEqual([['00987', '0010', '10', '02', '2', 'A-1', '2']]);
  });

  test('that a spreadsheet saved has its values restored, and a quantity that the message asked for is held', async () => {
    const { orders, warnings } = await comesBack(SAVED);
    expect(orders).toEqual([
      order('00987', ['000123', 1], ['A-7', 5]),
      order('00988', ['1-2', 2]),
      { '00989': ['5 MENGE spreadsheet-rewrite'] },
      order('990', ['A-2', 1]),
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^A spreadsheet changed \d cells, which were restored: line 2, PO_NO: "987" was "00987"; .*and \d more\.$/,
      ),
    ]);
  });

  test('that a spreadsheet saved is held if the original row is not known', async () => {
    const lines = SAVED.replace('990,A-2,1,6', '990,A-2,1,66');
    const { orders } = await comesBack(lines);
    expect(orders.at(-1)).toEqual({
      990: ['6 PO_NO spreadsheet-rewrite', '6 MENGE spreadsheet-rewrite'],
    });
  });

  test('that a spreadsheet saved is held if no original row is known, because zeros and thousands may be lost', async () => {
    await rm(path.join(folder.path, BATCH), { recursive: true });
    const row = (number: string, article: string, line: number, check = '1000') =>
      `${number},${article},1,${line},missing,"${note(line)}",${check}`;
    const header = HEADER.replaceAll(';', ',');
    const lines = [
      header,
      row('987', 'A-1', 2),
      row('P-1', '123', 3),
      row('P-2', 'A-1', 4),
      row('989', '123', 5, '01.000'),
    ];
    const { orders } = await comesBack(`${lines.join('\n')}\n`);
    expect(orders).toEqual([
      { 987: ['2 PO_NO spreadsheet-rewrite', '2 MENGE spreadsheet-rewrite'] },
      { 'P-1': ['3 MATNR spreadsheet-rewrite', '3 MENGE spreadsheet-rewrite'] },
      { 'P-2': ['4 MENGE spreadsheet-rewrite'] },
      order('989', ['123', 1]),
    ]);
  });

  test('with guessed characters is held until they are corrected', async () => {
    const written = [HEADER, `1;Schr\x84ge;1;2;encoding-unsure;${note(2)};01,000`, ''].join('\n');
    await writeFile(
      path.join(folder.path, BATCH, 'dead-letters.csv'),
      Buffer.from(written, 'latin1'),
    );
    for (const encoding of ['auto', 'cp850']) {
      const mapping = { ...ERP, encoding };
      const guess = `\ufeff${written.replace('\x84', '„')}`;
      expect((await comesBack(guess, mapping)).orders).toEqual([
        { 1: ['2 MATNR spreadsheet-rewrite'] },
      ]);
      const right = `\ufeff${written.replace('\x84', 'ä')}`;
      expect((await comesBack(right, mapping)).orders).toEqual([order('1', ['Schräge', 1])]);
    }
  });

  test('without its check column is compared as well', async () => {
    const { orders } = await comesBack(SAVED.replaceAll(/,(?:_error_check|1000)(?=\r)/g, ''));
    expect(orders[1]).toEqual(order('00988', ['1-2', 2]));
  });
});

describe('a JSON fix file', () => {
  const items = (articleCode: unknown, quantity: unknown) => [
    { MATNR: articleCode, MENGE: quantity },
  ];
  const entry = (PO_NO: unknown, pointer: string, list: unknown, check = '01,000') => ({
    PO_NO,
    items: list,
    _error_line: 1,
    _error_code: 'x',
    _error_message: `is wrong (${pointer} of batch ${BATCH})`,
    _error_check: check,
  });
  const WRITTEN_JSON = [
    entry('00987', '/0', items('000123', 'two')),
    entry('00988', '/1', items('1-2', '5')),
  ];
  let folder: Awaited<ReturnType<typeof makeTempFolder>>;

  beforeEach(async () => {
    folder = await makeTempFolder();
    await mkdir(path.join(folder.path, BATCH));
    await writeFile(
      path.join(folder.path, BATCH, 'dead-letters.fix.json'),
      JSON.stringify(WRITTEN_JSON),
    );
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  async function comesBack(content: object[], encoding = 'auto') {
    const file = path.join(folder.path, 'back.json');
    await writeFile(file, `\ufeff${JSON.stringify(content)}`);
    const config = {
      sources: [{ name: 'erp', mapping: 'erp' }],
      mappings: {
        erp: mappingOf({ fields: ERP.fields, format: 'json', records: 'a.b', encoding }),
      },
      reports: { path: folder.path },
    } as unknown as Config;
    const found = { batch: BATCH, source: 'erp' } as never;
    const how = await howToRead(file, 'erp', {
      config,
      batches: { find: () => Promise.resolve(found) },
    });
    const inspection = await inspectFile(file, how.mapping, { originals: how.originals });
    const orders: CheckedOrder[] = [];
    for await (const one of readOrders(file, inspection)) orders.push(one);
    return {
      orders: inShort(orders),
      records: orders.map((one) => one.records[0]),
      warnings: inspection.warnings,
    };
  }

  test('whose check is intact is read as it is', async () => {
    const { orders, warnings } = await comesBack([entry('987', '/0', items('123', '2'))]);
    expect([orders, warnings]).toEqual([[order('987', ['123', 2])], []]);
  });

  test('that a program rewrote has its values restored', async () => {
    const { orders, warnings } = await comesBack([
      entry(987, '/0', items(123, 2), '1000'),
      entry(988, '/1', items('01. Feb', 5), '1000'),
    ]);
    expect(orders).toEqual([order('00987', ['000123', 2]), order('00988', ['1-2', 5])]);
    expect(warnings).toEqual(['A program changed 4 values, which were restored.']);
  });

  test('that a program rewrote is held if the original is not known', async () => {
    const { orders } = await comesBack([entry(987, '/7', items(123, 2), '1000')]);
    const fields = ['PO_NO', 'MATNR', 'MENGE'];
    expect(orders).toEqual([{ 987: fields.map((field) => `1 ${field} spreadsheet-rewrite`) }]);
  });

  test('that a program rewrote is held if no original is known', async () => {
    await rm(path.join(folder.path, BATCH), { recursive: true });
    const { orders } = await comesBack([
      entry(987, '/0', items('A-1', 2), '1000'),
      entry('P-1', '/1', items(123, 2), '1000'),
      entry('P-2', '/2', items('A-1', 2), '1000'),
    ]);
    expect(orders).toEqual([
      { 987: ['1 PO_NO spreadsheet-rewrite', '1 MENGE spreadsheet-rewrite'] },
      { 'P-1': ['1 MATNR spreadsheet-rewrite', '1 MENGE spreadsheet-rewrite'] },
      { 'P-2': ['1 MENGE spreadsheet-rewrite'] },
    ]);
  });

  const unsure = (article: string, code = 'encoding-unsure') => [
    { ...entry('1', '/0', [...items('B', 1), ...items(article, 1)]), _error_code: code },
  ];

  test.each([
    ['JSON', 'latin1' as const, ''],
    ['XML', 'utf8' as const, '\ufeff'],
  ])('of %s with guessed characters is held until they are corrected', async (_, bytes, mark) => {
    const letter = bytes === 'latin1' ? '\x84' : '„';
    const written = Buffer.from(mark + JSON.stringify(unsure(`Schr${letter}ge`)), bytes);
    await writeFile(path.join(folder.path, BATCH, 'dead-letters.fix.json'), written);
    for (const encoding of ['auto', 'cp850']) {
      expect((await comesBack(unsure('Schr„ge'), encoding)).orders).toEqual([
        { 1: ['1 MATNR spreadsheet-rewrite'] },
      ]);
      expect((await comesBack(unsure('Schräge'), encoding)).orders).toEqual([
        order('1', ['B', 1], ['Schräge', 1]),
      ]);
    }
  });

  test('with guessed characters is held if the original is not known, or if it was held before', async () => {
    const written = JSON.stringify(unsure('Schr„ge', 'spreadsheet-rewrite'));
    await writeFile(path.join(folder.path, BATCH, 'dead-letters.fix.json'), written);
    expect(JSON.stringify((await comesBack(JSON.parse(written))).orders)).toContain(
      '1 MATNR spreadsheet-rewrite',
    );
    await rm(path.join(folder.path, BATCH), { recursive: true });
    expect((await comesBack(unsure('Schräge'))).orders).toEqual([
      { 1: ['1 MATNR spreadsheet-rewrite'] },
    ]);
    expect((await comesBack(unsure('Schrage'))).orders).toEqual([
      order('1', ['B', 1], ['Schrage', 1]),
    ]);
  });

  test('keeps a value that is not an object', async () => {
    const { _error_line, _error_code, _error_message, _error_check } = entry('', '/0', []);
    const wrapped = { _error_value: [7], _error_line, _error_code, _error_message, _error_check };
    const { orders, records } = await comesBack([wrapped]);
    expect(orders).toEqual([{ '': ['1 not-an-object'] }]);
    expect(records).toMatchObject([{ value: [7] }]);
  });
});

test('a fix file of a fix file has the columns that its report names, where Redis lost the batch', async () => {
  await using folder = await makeTempFolder();
  await mkdir(path.join(folder.path, BATCH));
  const report = { environment: 'staging', source: 'inbox', readAs: 'erp' };
  await writeFile(path.join(folder.path, BATCH, 'report.json'), JSON.stringify(report));
  const file = path.join(folder.path, 'back.csv');
  await writeFile(file, `PO_NO;_error_message\n1;is wrong (line 2 of batch ${BATCH})\n`);
  const config = {
    environment: 'staging',
    sources: [{ name: 'erp', mapping: 'erp' }, { name: 'inbox' }],
    mappings: { erp: mappingOf({ fields: { ...ERP.fields, purchaseOrderNumber: 'PO_NO' } }) },
    reports: { path: folder.path },
  } as unknown as Config;
  const how = await howToRead(file, 'inbox', {
    config,
    batches: { find: () => Promise.resolve(undefined) },
  });
  expect([how.readAs, how.mapping?.fields['purchaseOrderNumber']]).toEqual(['erp', ['PO_NO']]);
});
