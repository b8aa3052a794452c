import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Order } from '../../src/order/order.ts';
import { otherReading } from '../../src/order/other-reading.ts';
import { likelyCode } from '../../src/order/quantity.ts';
import { textFault } from '../../src/order/text.ts';
import { inShort, mappingOf, readText } from '../support/read-text.ts';
import { runs } from '../support/runs.ts';

type Dialect = {
  delimiter: string;
  newline: string;
  quote: 'always' | 'needed';
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'iso-8859-1';
  bom: boolean;
  endsWithNewline: boolean;
  gzip: boolean;
  /** Of a column that nobody asked for, row by row; none: there is no such column. */
  notes: string[];
};

const dialects: fc.Arbitrary<Dialect> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  quote: fc.constantFrom('always', 'needed'),
  encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'),
  bom: fc.boolean(),
  endsWithNewline: fc.boolean(),
  gzip: fc.boolean(),
  notes: fc.array(
    fc.string({
      unit: fc.constantFrom('a', 'ß', ' ', '"', ',', ';', '\t', '|', "'", '\n', '\r\n', '='),
      maxLength: 9,
    }),
    { maxLength: 4 },
  ),
});

/**
 * Characters that every one of the encodings has, with those that are special in some dialect. None that could be the
 * second byte of a UTF-8 character: `Ã¤` in windows-1252 is `ä` in UTF-8, and nothing shows the difference.
 */
const characters = fc.constantFrom(...Array.from('AZaz09äöüÄÖÜßéñ ,;|"\'-_/.=+@#'));
const codes = fc
  .string({ unit: characters, minLength: 1, maxLength: 12 })
  .map((text) => text.trim())
  .filter((text) => textFault(text) === undefined && otherReading(text) === undefined);
/** None that looks like a date or a GTIN. */
const quantities = fc
  .integer({ min: 1, max: 1e9 })
  .filter((quantity) => likelyCode(quantity) === undefined);
const orderLists: fc.Arbitrary<Order[]> = fc.uniqueArray(
  fc.record({
    // Numbers that seem to be commented out are held.
    purchaseOrderNumber: codes.filter((text) => !/^(?:#|--)/.test(text)),
    orderState: fc.constant('NEW' as const),
    items: fc.uniqueArray(fc.record({ articleCode: codes, quantity: quantities }), {
      minLength: 1,
      maxLength: 5,
      selector: ({ articleCode }) => articleCode,
    }),
  }),
  // Numbers that differ only in case, spaces or zeros are held.
  {
    selector: ({ purchaseOrderNumber: number }) => number.toLowerCase().replace(/^[ 0]+| /g, ''),
    maxLength: 12,
  },
);

const HEADER = ['purchaseOrderNumber', 'orderState', 'articleCode', 'quantity'];

function rowsOf(orders: readonly Order[]): string[][] {
  return orders.flatMap(({ purchaseOrderNumber, orderState, items }) =>
    items.map(({ articleCode, quantity }) => [
      purchaseOrderNumber,
      orderState,
      articleCode,
      String(quantity),
    ]),
  );
}

function write(rows: readonly string[][], dialect: Dialect): Buffer {
  const { delimiter, newline, quote, endsWithNewline, notes } = dialect;
  const noteOf = (index: number) => (notes.length === 0 ? [] : [notes[index % notes.length] ?? '']);
  const cell = (text: string) =>
    quote === 'always' || /["\r\n]/.test(text) || text.includes(delimiter)
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const header = notes.length === 0 ? HEADER : ['note', ...HEADER];
  const all = [header, ...rows.map((row, index) => [...noteOf(index), ...row])];
  const lines = all.map((row) => row.map(cell).join(delimiter));
  const bytes = encode(lines.join(newline) + (endsWithNewline ? newline : ''), dialect);
  return dialect.gzip ? gzipSync(bytes) : bytes;
}

function encode(text: string, { encoding, bom }: Dialect): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from((bom ? '\ufeff' : '') + text);
    case 'utf-16le':
      return Buffer.from((bom ? '\ufeff' : '') + text, 'utf16le');
    case 'utf-16be':
      return Buffer.from((bom ? '\ufeff' : '') + text, 'utf16le').swap16();
    case 'windows-1252':
    case 'iso-8859-1':
      return Buffer.from(text, 'latin1');
  }
}

const LAST_LINE_END_OPTIONAL = mappingOf({ finalNewline: 'optional' });

/** Letters beyond ASCII in an encoding that nothing names are a guess. */
function isCertain(order: Order, { encoding }: Dialect): boolean {
  return encoding.startsWith('utf') || !/[^ -~]/.test(JSON.stringify(order));
}

describe('any orders in any dialect', () => {
  test('are the same orders when read, or held where the encoding is a guess', async () => {
    await fc.assert(
      fc.asyncProperty(orderLists, dialects, async (list, dialect) => {
        const { orders, inspection } = await readText(
          write(rowsOf(list), dialect),
          LAST_LINE_END_OPTIONAL,
        );
        expect(orders.filter((order) => order.valid).map(({ order }) => order)).toEqual(
          list.filter((order) => isCertain(order, dialect)),
        );
        expect(orders).toHaveLength(list.length);
        expect(inspection.records).toBe(rowsOf(list).length);
      }),
      { numRuns: runs(150) },
    );
  });

  test('are the same orders when the mapping names the dialect', async () => {
    await fc.assert(
      fc.asyncProperty(orderLists, dialects, async (list, dialect) => {
        const { delimiter, encoding } = dialect;
        const mapping = mappingOf({ delimiter, encoding, finalNewline: 'optional' });
        const { orders, inspection } = await readText(write(rowsOf(list), dialect), mapping);
        expect(inShort(orders)).toEqual(list);
        expect(inspection.shape.format).toMatchObject({ delimiter, encoding });
      }),
      { numRuns: runs(100) },
    );
  });

  test('are joined from shuffled rows', async () => {
    const cases = orderLists.chain((list) => {
      const rows = rowsOf(list).map((row, index) => ({ row, index }));
      return fc.tuple(fc.constant(list), fc.shuffledSubarray(rows, { minLength: rows.length }));
    });
    await fc.assert(
      fc.asyncProperty(cases, dialects, async ([list, shuffled], dialect) => {
        const rows = shuffled.map(({ row }) => row);
        const { encoding } = dialect;
        const { orders } = await readText(
          write(rows, dialect),
          mappingOf({ encoding, finalNewline: 'optional' }),
        );
        const expected = list.map(({ purchaseOrderNumber, items }) => [
          purchaseOrderNumber,
          shuffled.filter(({ row }) => row[0] === purchaseOrderNumber).map(({ row }) => row[2]),
          items.length,
        ]);
        const found = orders.map((order) => {
          const items = order.valid ? order.order.items : [];
          return [order.number, items.map(({ articleCode }) => articleCode), items.length];
        });
        expect(sorted(found)).toEqual(sorted(expected));
        expect(orders.map(({ ordinal }) => ordinal)).toEqual(orders.map((_, index) => index));
      }),
      { numRuns: runs(100) },
    );
  });

  test('are the same orders as JSON of any shape', async () => {
    // Random numbers can differ only as one that was typed twice does, such as `#1` and `1`.
    const anyNumbers = mappingOf({ otherReadings: 'allow' });
    const shapes = fc.constantFrom<(list: readonly object[]) => string>(
      (list) => JSON.stringify(list),
      (list) => JSON.stringify(list, null, 2),
      (list) => JSON.stringify({ count: list.length, list }, null, '\t'),
      (list) => list.map((one) => `${JSON.stringify(one)}\n`).join(''),
      (list) => `${JSON.stringify(list)}\r\n`,
    );
    const anyText = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((text) => !/^\p{Zs}|\p{Zs}$/u.test(text) && textFault(text) === undefined)
      .filter((text) => otherReading(text) === undefined);
    const lists = fc.uniqueArray(
      fc.record({
        purchaseOrderNumber: anyText,
        orderState: fc.constant('NEW' as const),
        items: fc.array(fc.record({ articleCode: anyText, quantity: quantities }), {
          minLength: 1,
        }),
      }),
      { selector: ({ purchaseOrderNumber }) => purchaseOrderNumber, minLength: 1 },
    );
    const encodings = dialects.filter(({ encoding }) => encoding.startsWith('utf'));
    await fc.assert(
      fc.asyncProperty(lists, shapes, encodings, async (list, shape, dialect) => {
        const bytes = encode(shape(list), dialect);
        const { orders } = await readText(dialect.gzip ? gzipSync(bytes) : bytes, anyNumbers);
        expect(inShort(orders)).toEqual(list);
      }),
      { numRuns: runs(100) },
    );
  });
});

function sorted(list: readonly unknown[]): string[] {
  return list.map((one) => JSON.stringify(one)).sort();
}

describe('the format that was found', () => {
  test.each([
    ['a;b;c\n', undefined],
    ['purchaseOrderNumber;articleCode;quantity\n1,2;A,B;3\n', ';'],
    ['purchaseOrderNumber\tarticleCode\tquantity\n1\tA;B\t3\n', '\t'],
    ['sep=|\npurchaseOrderNumber|articleCode|quantity\n1|A|3\n', '|'],
    ['purchaseOrderNumber,"a;b;c;d;e",articleCode,quantity\n1,x,A,3\n', ','],
  ])('of %j has the delimiter %j', async (text, delimiter) => {
    const found = await readText(text).catch(() => undefined);
    expect(found?.inspection.shape.format.delimiter).toBe(delimiter);
  });

  test('contains decimal sign, encoding, line end and byte order mark', async () => {
    const text = '\ufeffpurchaseOrderNumber;articleCode;quantity\r\n1;A;1,50\r\n2;B;1.234,5\r\n';
    const { inspection } = await readText(
      Buffer.from(text, 'utf16le'),
      mappingOf({ quantity: 'number' }),
    );
    expect(inspection.shape).toEqual({
      format: { type: 'csv', delimiter: ';', encoding: 'utf-16le', decimal: ',' },
      header: ['purchaseOrderNumber', 'articleCode', 'quantity'],
      newline: '\r\n',
      bom: true,
    });
  });

  test('warns when both decimal signs occur, and when the encoding is a guess', async () => {
    const rows = 'purchaseOrderNumber;articleCode;quantity\n1;Grün;1,5\n2;B;2.5\n';
    const { inspection } = await readText(Buffer.from(rows, 'latin1'));
    expect(inspection.shape.format).not.toHaveProperty('decimal');
    expect(inspection.warnings).toEqual([
      expect.stringMatching(
        /^The file does not say its encoding and was read as windows-1252\. .*: line 2 was read as "Grün"\./,
      ),
      'Quantities are written with decimal point (line 3) and decimal comma (line 2).',
    ]);
  });

  test('of windows-1252 has the characters that ISO-8859-1 lacks', async () => {
    const text = Buffer.from('purchaseOrderNumber,articleCode,quantity\n1,\x80\x9f,1\n', 'latin1');
    expect(
      inShort((await readText(text, mappingOf({ encoding: 'windows-1252' }))).orders),
    ).toMatchObject([{ items: [{ articleCode: '€Ÿ' }] }]);
  });
});
