import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SheetData } from 'write-excel-file/node';
import type { Mapping } from '../../../src/config/config.ts';
import { mappingSchema } from '../../../src/config/mapping-schema.ts';
import type { CheckedOrder } from '../../../src/order/order.ts';
import { inspectFile } from '../../../src/parse/inspect.ts';
import { readOrders } from '../../../src/validate/read-orders.ts';
import { runs } from '../../support/runs.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { textRows, writeWorkbook, writeWorkbooks } from '../../support/write-workbook.ts';
import { storeZip, unzip } from '../../support/zip.ts';

const HEADER = ['purchaseOrderNumber', 'articleCode', 'quantity'];

async function read(content: Buffer, more: Record<string, unknown> = {}) {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders.xlsx');
  await writeFile(file, content);
  const mapping = mappingSchema.parse(more) as Mapping;
  const inspection = await inspectFile(file, mapping);
  const orders: CheckedOrder[] = [];
  for await (const order of readOrders(file, inspection)) orders.push(order);
  return { inspection, orders };
}

function rows(...cells: SheetData): SheetData {
  return [...textRows([HEADER]), ...cells];
}

const text = (value: string) => ({ type: String, value });
const number = (value: number, format?: string) => ({
  type: Number,
  value,
  ...(format !== undefined && { format }),
});

/** The workbook with one of its parts written anew. */
async function withPart(name: string, change: (xml: string) => string): Promise<Buffer> {
  const whole = await writeWorkbook(rows([text('1'), text('A'), number(5)]));
  const parts = await unzip(whole);
  parts.set(name, Buffer.from(change(String(parts.get(name)))));
  return storeZip(parts);
}

describe('a workbook', () => {
  test('is read: texts unchanged, numbers by their digits, each with its row', async () => {
    const sheet = rows(
      [text('00123'), text('A'), number(5)],
      [],
      [text('2'), number(4711), text('7')],
    );
    const { inspection, orders } = await read(await writeWorkbook(sheet));
    expect(inspection).toMatchObject({
      records: 2,
      warnings: [],
      shape: { format: { type: 'xlsx' }, header: HEADER },
    });
    expect(orders).toMatchObject([
      {
        number: '00123',
        place: { line: 2 },
        order: { items: [{ articleCode: 'A', quantity: 5 }] },
      },
      { number: '2', place: { line: 4 }, order: { items: [{ articleCode: '4711', quantity: 7 }] } },
    ]);
  });

  test('is read without the rows with a value of skipWhere', async () => {
    const head = [...HEADER, 'Status'].map((name) => text(name));
    const sheet = [
      head,
      [text('1'), text('A'), number(5), text('DRAFT')],
      [text('2'), text('A'), number(5), text('ok')],
    ];
    const { inspection, orders } = await read(await writeWorkbook(sheet), {
      skipWhere: { status: 'DRAFT' },
    });
    expect(orders.map((one) => one.number)).toEqual(['2']);
    expect(inspection.warnings).toEqual(['One row that matches skipWhere was skipped.']);
  });

  test('in which a quantity was left as text holds the fractions, which may have been thousands', async () => {
    const workbook = await writeWorkbook(
      rows(
        [text('1'), text('A'), number(1.2)],
        [text('2'), text('B'), text('3,5')],
        [text('3'), text('C'), number(7)],
      ),
    );
    const { orders } = await read(workbook, { decimal: ',', quantity: 'number' });
    expect(orders).toMatchObject([
      {
        number: '1',
        problems: [
          {
            code: 'ambiguous-number',
            message: expect.stringContaining('enter 1200 or, if fractions are allowed, 1.2'),
          },
        ],
      },
      { number: '2', order: { items: [{ quantity: 3.5 }] } },
      { number: '3', order: { items: [{ quantity: 7 }] } },
    ]);
    const alone = await writeWorkbook(
      rows([text('1'), text('A'), number(1.2)], [text('2'), text('B'), number(3.5)]),
    );
    expect((await read(alone, { decimal: ',', quantity: 'number' })).orders).toMatchObject([
      { order: { items: [{ quantity: 1.2 }] } },
      { order: { items: [{ quantity: 3.5 }] } },
    ]);
  });

  test('is read without its totals rows; one that may be a row is held', async () => {
    const sums = rows(
      [text('1'), text('A'), number(5)],
      [text('1'), text('B'), number(2.5)],
      [text('Total'), null, number(7.5)],
    );
    const { inspection, orders } = await read(await writeWorkbook(sums), { quantity: 'number' });
    expect(orders).toMatchObject([{ number: '1', valid: true, records: [{}, {}] }]);
    expect(inspection.warnings).toEqual([
      'One totals row (marked with stars, or the sum of the rows above, as far as it can be checked) was skipped: line 4 ("Total", "7.5").',
    ]);
    const other = rows([text('1'), text('A'), number(5)], [text('1'), text('Summe'), number(6)]);
    expect((await read(await writeWorkbook(other))).orders).toMatchObject([
      { problems: [{ line: 3, code: 'total-row' }] },
    ]);
  });

  test('is read from the sheet that the mapping names; a missing sheet is reported', async () => {
    const book = await writeWorkbooks([
      { sheet: 'Notes', data: textRows([['nothing here']]) },
      { sheet: 'Orders', data: rows([text('1'), text('A'), number(5)]) },
    ]);
    const { orders, inspection } = await read(book, { sheet: 'Orders' });
    expect(orders).toHaveLength(1);
    expect(inspection.warnings).toContain(
      'Only the sheet "Orders" was read, as the mapping says. The sheet "Notes" was not.',
    );
    await expect(read(book, { sheet: 'Order' })).rejects.toMatchObject({
      code: 'unreadable-sheet',
    });
    await expect(read(book)).rejects.toMatchObject({
      code: 'unreadable-sheet',
      remedy: expect.stringContaining('For your operator: set sheet'),
    });
  });

  test.each([
    ['00000', 123, '00123'],
    ['"PO-"0000', 17, 'PO-0017'],
    ['000-000', 1234567, '1234-567'],
    ['0', 123, '123'],
  ])('shows the format %s of %d as %s', async (format, value, shown) => {
    const { orders } = await read(
      await writeWorkbook(rows([number(value, format), text('A'), number(5)])),
    );
    expect(orders).toMatchObject([{ number: shown, valid: true }]);
  });

  test('holds an order whose number lost digits or became a date', async () => {
    const date = { type: Date, value: new Date(Date.UTC(2026, 0, 3)), format: 'yyyy-mm-dd' };
    const { orders } = await read(
      await writeWorkbook(rows([number(1.23e18), text('A'), number(5)], [text('2'), date, date])),
    );
    expect(orders).toMatchObject([
      { valid: false, problems: [{ line: 2, code: 'spreadsheet-damage', value: '="1.23E+18"' }] },
      {
        valid: false,
        problems: [
          { line: 3, code: 'spreadsheet-damage' },
          { line: 3, code: 'not-a-number' },
          { line: 3, code: 'row-in-doubt' },
        ],
      },
    ]);
  });

  test.each(['auto', ',', '.'])(
    'has fractions that no decimal sign (%s) changes',
    async (decimal) => {
      const sheet = rows(
        [text('1'), text('A'), number(1.234)],
        [text('2'), text('A'), number(1.1)],
      );
      const { orders } = await read(await writeWorkbook(sheet), { decimal, quantity: 'number' });
      expect(orders).toMatchObject([
        { order: { items: [{ quantity: 1.234 }] } },
        { order: { items: [{ quantity: 1.1 }] } },
      ]);
      expect((await read(await writeWorkbook(sheet), { decimal })).orders[0]).toMatchObject({
        valid: false,
      });
    },
  );

  test('returns any texts, joined by number and with their rows', async () => {
    const cell = fc
      .string({
        unit: fc.constantFrom(
          'a',
          'B',
          '0',
          '7',
          ' ',
          '<',
          '&',
          '"',
          "'",
          'é',
          '€',
          ';',
          ',',
          '𝄞',
          ']',
        ),
      })
      // Marks may mean the row above, zeros nothing, an apostrophe a text: other tests.
      .filter((value) => /^[aBé]/.test(value) && value.trim() === value);
    const row = fc.record({
      number: fc.constantFrom('1', '02', 'P-3'),
      code: cell,
      quantity: fc.integer({ min: 1, max: 999 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { minLength: 1, maxLength: 20, selector: JSON.stringify }),
        async (wanted) => {
          const sheet = rows(
            ...wanted.map(({ number: id, code, quantity }) => [
              text(id),
              text(code),
              number(quantity),
            ]),
          );
          const { orders } = await read(await writeWorkbook(sheet));
          const found = orders.flatMap((order) =>
            order.valid
              ? order.order.items.map((item) => [order.number, item.articleCode, item.quantity])
              : [],
          );
          const groups = [...new Set(wanted.map(({ number: id }) => id))].flatMap((id) =>
            wanted
              .filter((one) => one.number === id)
              .map(({ code, quantity }) => [id, code, quantity]),
          );
          const sorted = (all: unknown[]) =>
            all.map((one) => JSON.stringify(one)).toSorted((a, b) => (a < b ? -1 : 1));
          expect(sorted(found)).toEqual(sorted(groups));
        },
      ),
      { numRuns: runs(8) },
    );
  });

  test.each([
    ['packed once more', async () => gzipSync(await writeWorkbook(rows())), 'unreadable-format'],
    [
      'an old one, or protected',
      async () => Buffer.from('d0cf11e0a1b11ae1'.padEnd(2048, '0'), 'hex'),
      'unreadable-format',
    ],
    [
      'another zip archive',
      async () => storeZip(new Map([['word/document.xml', Buffer.from('<a/>')]])),
      'unreadable-format',
    ],
    ['cut off', async () => (await writeWorkbook(rows())).subarray(0, -30), 'unreadable-zip'],
    ['with a broken part', async () => flipped(await writeWorkbook(rows())), 'unreadable-zip'],
    [
      'broken XML',
      () => withPart('xl/worksheets/sheet1.xml', (xml) => xml.slice(0, 700)),
      undefined,
    ],
    [
      'without its sheet',
      () => withPart('xl/workbook.xml', (xml) => xml.replace(/<sheet .*?>/, '')),
      'unreadable-sheet',
    ],
    [
      'of blanks only',
      () => withPart('xl/worksheets/sheet1.xml', () => ' '.repeat(17 * 1024 * 1024)),
      'unreadable-too-large',
    ],
    [
      'too large',
      async () => Buffer.concat([await writeWorkbook(rows()), Buffer.alloc(33 * 1024 * 1024)]),
      'unreadable-too-large',
    ],
    [
      'of cells far apart',
      () => withPart('xl/worksheets/sheet1.xml', () => farApart(5_000)),
      'unreadable-too-large',
    ],
  ])('that is %s is refused completely', async (_, make, code) => {
    await expect(read(await make())).rejects.toMatchObject({
      code: code ?? expect.stringMatching(/^unreadable-/),
    });
  });
});

/** The last column in each row: every cell before it takes room. */
function farApart(count: number): string {
  const cells = Array.from(
    { length: count },
    (_, i) => `<row r="${i + 1}"><c r="XFD${i + 1}"><v>1</v></c></row>`,
  );
  return `<worksheet><sheetData>${cells.join('')}</sheetData></worksheet>`;
}

function flipped(book: Buffer): Buffer {
  const at = book.indexOf('xl/worksheets/sheet1.xml') + 60;
  book.writeUInt8(book.readUInt8(at) ^ 0xff, at);
  return book;
}
