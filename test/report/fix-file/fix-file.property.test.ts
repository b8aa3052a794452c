import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFixNote } from '../../../src/order/fixing.ts';
import { jsonNumber } from '../../../src/order/quantity.ts';
import type { FileShape } from '../../../src/order/record.ts';
import { restore } from '../../../src/order/spreadsheet.ts';
import { fixFile, fixFileName } from '../../../src/report/fix-file/fix-file.ts';
import type { ReportedOrder } from '../../../src/report/write-report.ts';
import { CSV_SHAPE, dead, problem, rows, wrong } from '../../support/reported.ts';
import { runs } from '../../support/runs.ts';

const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';
const ERRORS = ['_error_line', '_error_code', '_error_message', '_error_check'];
/** The check in a table with semicolons. */
const CHECK = '01,000';
/** What the message of a record ends with. */
const from = (place: string) => ` (${place} of batch ${BATCH})`;
const MESSAGE = 'MENGE: The quantity must be a whole number above zero.';

function bytesOf(shape: FileShape, orders: readonly ReportedOrder[]): Buffer {
  const file = fixFile(shape, BATCH);
  const records = orders.flatMap(({ order, deadLetter }) =>
    deadLetter ? [file.recordsOf(order, deadLetter)] : [],
  );
  return Buffer.concat([file.opening(), ...records, file.closing()]);
}

function textOf(shape: FileShape, orders: readonly ReportedOrder[]): string {
  return bytesOf(shape, orders).toString('utf8');
}

describe('the fix file of a table', () => {
  it('a table keeps its columns, followed by the line and the errors of each row', () => {
    const records = rows(2, ['7', 'A', '1'], ['7', 'B', '1,5'], ['7', 'C', 'x']);
    const order = wrong(
      records,
      problem(3),
      problem(4, { code: 'quantity-not-number', message: 'No number.' }),
    );
    expect(textOf(CSV_SHAPE, [order])).toBe(
      [
        'PO_NO;MATNR;MENGE;_error_line;_error_code;_error_message;_error_check',
        `7;A;1;2;;part of this order${from('line 2')};${CHECK}`,
        `7;B;1,5;3;quantity-not-whole;${MESSAGE}${from('line 3')};${CHECK}`,
        `7;C;x;4;quantity-not-number;MENGE: No number.${from('line 4')};${CHECK}`,
        '',
      ].join('\n'),
    );
  });

  it('a row shows all its errors', () => {
    const order = wrong(
      rows(2, ['7', '', '1,5']),
      problem(2),
      problem(2, { field: 'MATNR', code: 'empty', message: 'Empty.' }),
    );
    expect(textOf(CSV_SHAPE, [order])).toContain(
      `;2;quantity-not-whole, empty;${MESSAGE} | MATNR: Empty.${from('line 2')};${CHECK}\n`,
    );
  });

  it('a conflict says what to enter', () => {
    const order = dead(
      rows(2, ['7', 'A', '1']),
      'conflict',
      'other-content',
      'this number is already accepted',
    );
    expect(textOf(CSV_SHAPE, [order])).toContain(
      `;this number is already accepted; if it is the same order, leave it out here and discard it in the dashboard; enter another number only if it really is another order${from('line 2')}`.slice(
        1,
      ),
    );
  });

  it('a refusal that names no article is at every row, and says that the API does not say which row', () => {
    const order = dead(
      rows(9, ['7', 'A', '1'], ['7', 'B', '2']),
      'refused',
      '400',
      'Unknown\r\narticle',
    );
    expect(textOf(CSV_SHAPE, [order])).toContain(
      `7;A;1;9;400;Unknown article. The API refused the complete order and does not say which row: check all 2 rows.${from('line 9')};${CHECK}\n7;B;2;10;;part of this order, which the API refused: Unknown article${from('line 10')};${CHECK}\n`,
    );
  });

  it('an order of one row has the message alone', () => {
    const order = dead(rows(9, ['7', 'A', '1']), 'refused', '400', 'Unknown article');
    expect(textOf(CSV_SHAPE, [order])).toContain(`;9;400;Unknown article${from('line 9')};`);
  });

  it.each([
    [
      'failed',
      'Service unavailable.',
      'The complete order was not sent: this is about all 2 rows.',
      'was not sent',
    ],
    [
      'inDoubt',
      'No answer',
      'The complete order is in doubt: this is about all 2 rows.',
      'is in doubt',
    ],
    [
      'conflict',
      'already accepted',
      'The complete order is in conflict: this is about all 2 rows.',
      'is in conflict',
    ],
  ] as const)(
    'a %s order says at each row that it is about the complete order',
    (kind, message, first, other) => {
      const text = textOf(CSV_SHAPE, [
        dead(rows(9, ['7', 'A', '1'], ['7', 'B', '2']), kind, 'code', message),
      ]);
      const [, one, two] = text.split('\n');
      expect(one).toContain(message);
      expect(one).toContain(`${first}${from('line 9')}`);
      expect(two).toContain(
        `;10;;part of this order, which ${other}: ${message}${from('line 10')};`,
      );
    },
  );

  it('a long message of the API does not cut what a person has to know, nor the place', () => {
    const order = dead(
      rows(9, ['7', 'A', '1'], ['7', 'B', '2']),
      'refused',
      '400',
      'long '.repeat(400),
    );
    const [, one, two] = textOf(CSV_SHAPE, [order]).split('\n');
    expect(one).toContain(
      `long… The API refused the complete order and does not say which row: check all 2 rows.${from('line 9')}`,
    );
    expect(two).toContain(`long…${from('line 10')}`);
  });

  it('every row of a refused order is read back as itself, also where the message looks like a place', () => {
    const message = 'No such path (/v1/items) in (line 3)';
    const order = dead(rows(9, ['7', 'A', '1'], ['7', 'B', '2']), 'refused', '400', message);
    const table: string[][] = parse(textOf(CSV_SHAPE, [order]), { delimiter: ';' });
    expect(table.slice(1).map((row) => readFixNote(row[5] ?? ''))).toEqual([
      { batch: BATCH, place: 'line 9' },
      { batch: BATCH, place: 'line 10' },
    ]);
  });

  it('a refusal is shown at the only row whose article it names', () => {
    const order = dead(
      rows(9, ['7', 'A-1', '1'], ['7', 'B', '2']),
      'refused',
      '400',
      'The article "B" does not exist.',
    );
    if (order.order.valid) {
      const items = ['A-1', 'B'].map((articleCode) => ({ articleCode, quantity: 1 }));
      order.order = { ...order.order, order: { ...order.order.order, items } };
    }
    expect(textOf(CSV_SHAPE, [order])).toContain(
      `7;A-1;1;9;;part of this order${from('line 9')};${CHECK}\n7;B;2;10;400;"The article ""B"" does not exist.${from('line 10')}";${CHECK}\n`,
    );
  });

  it('the error columns replace those of an earlier round', () => {
    const header = ['PO_NO', '_error_line', 'MATNR', 'MENGE', ' _ERROR_CODE ', '_error_message'];
    const order = wrong(rows(2, ['7', '12', 'A', '1,5', 'old', 'old message']), problem(2));
    expect(textOf({ ...CSV_SHAPE, header }, [order])).toBe(
      `PO_NO;MATNR;MENGE;_error_line;_error_code;_error_message;_error_check\n7;A;1,5;2;quantity-not-whole;${MESSAGE}${from('line 2')};${CHECK}\n`,
    );
  });

  it('surplus cells of a row come after the error columns, so the row stays too long until it is corrected', () => {
    const order = wrong(
      rows(2, ['7', 'A', '1', '5']),
      problem(2, { field: '', code: 'row-too-long', message: 'Long.' }),
    );
    const [, row] = parse(textOf(CSV_SHAPE, [order]), { delimiter: ';', relax_column_count: true });
    expect(row).toEqual(['7', 'A', '1', '2', 'row-too-long', `Long.${from('line 2')}`, CHECK, '5']);
  });

  it('a row that is too short is filled up and marked, so it stays invalid until it is corrected', () => {
    const order = wrong(
      rows(2, ['7', 'A']),
      problem(2, { field: '', code: 'row-too-short', message: 'Short.' }),
    );
    const [, row] = parse(textOf(CSV_SHAPE, [order]), { delimiter: ';', relax_column_count: true });
    const mark = 'put each value into its column, then clear this cell';
    expect(row).toEqual([
      '7',
      'A',
      '',
      '2',
      'row-too-short',
      `Short.${from('line 2')}`,
      CHECK,
      mark,
    ]);
  });

  it('byte order mark and line ends are kept', () => {
    const bytes = bytesOf({ ...CSV_SHAPE, bom: true, newline: '\r\n' }, []);
    expect(bytes.toString('utf8')).toBe(
      '\ufeffPO_NO;MATNR;MENGE;_error_line;_error_code;_error_message;_error_check\r\n',
    );
  });

  it('a workbook becomes CSV with a byte order mark, and its short rows are complete', () => {
    const shape: FileShape = { format: { type: 'xlsx' }, header: ['PO', 'ART', 'NOTE'] };
    const text = textOf(shape, [dead(rows(2, ['7', 'A']), 'failed', '502', 'Down')]);
    expect(text).toBe(
      `\ufeffPO,ART,NOTE,_error_line,_error_code,_error_message,_error_check\r\n7,A,,2,502,Down${from('line 2')},01.000\r\n`,
    );
  });

  it('formulas are neutralized, numbers are not', () => {
    const text = textOf(CSV_SHAPE, [
      dead(rows(2, ['=1+1', "'@x", '-5,00']), 'refused', '400', '+cmd'),
    ]);
    expect(text).toContain(`\n'=1+1;''@x;-5,00;2;400;'+cmd${from('line 2')};${CHECK}\n`);
  });
});

const dialects: fc.Arbitrary<FileShape> = fc.record({
  header: fc.constant(['PO_NO', 'MATNR', 'MENGE']),
  format: fc.record({
    type: fc.constant('csv' as const),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'),
  }),
  bom: fc.boolean(),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
});
const tricky = fc.constantFrom(...'";,\t|\r\n =+-@\'5xÄ€'.split(''));
const texts = fc.oneof(
  fc.string({ unit: tricky }),
  fc.string({ unit: fc.constantFrom('a', '1', 'ß', 'ÿ') }),
);
const tables = fc.array(fc.tuple(texts, texts, texts), { minLength: 1, maxLength: 5 });

it('every cell survives any dialect and encoding', () => {
  fc.assert(
    fc.property(dialects, tables, (shape, cells) => {
      const order = dead(rows(2, ...cells), 'refused', '400', 'Parameters are invalid');
      const { encoding, delimiter = ',' } = shape.format;
      const decoder = new TextDecoder(encoding);
      // Windows-1252 has its byte for no mark, so there it cannot be one.
      const marked = shape.bom === true && encoding?.startsWith('utf') === true;
      const text = decoder.decode(bytesOf({ ...shape, bom: marked }, [order]));
      const [header, ...read]: string[][] = parse(text, {
        delimiter,
        record_delimiter: shape.newline ?? '\n',
      });
      expect(header).toEqual(['PO_NO', 'MATNR', 'MENGE', ...ERRORS]);
      expect(read.map((row) => row.slice(0, 3).map(restore))).toEqual(cells);
      expect(read.map((row) => row[4])).toEqual(
        cells.map((_, index) => (index === 0 ? '400' : '')),
      );
    }),
    { numRuns: runs(400) },
  );
});

describe('the fix file of JSON', () => {
  const object = (line: number, value: unknown, pointer?: string) => [
    {
      kind: 'object' as const,
      place: { line, ...(pointer === undefined ? {} : { pointer }) },
      value,
    },
  ];
  const json: FileShape = { format: { type: 'json', encoding: 'utf-8' } };

  it('JSON becomes an array of the same objects with error keys', () => {
    const value = { id: '7', items: [{ sku: 'A', n: 1.5 }], _error_code: 'old' };
    const order = wrong(
      object(3, value, '/0'),
      problem(5, { pointer: '/0/items/0/n', field: 'n' }),
    );
    const file = JSON.parse(
      textOf(json, [order, dead(object(9, { id: '8' }), 'refused', '400', 'No')]),
    );
    expect(file).toEqual([
      {
        ...value,
        _error_line: 3,
        _error_code: 'quantity-not-whole',
        _error_message: `n: The quantity must be a whole number above zero.${from('/0')}`,
        _error_check: CHECK,
      },
      {
        id: '8',
        _error_line: 9,
        _error_code: '400',
        _error_message: `No${from('line 9')}`,
        _error_check: CHECK,
      },
    ]);
  });

  it('of rows on one line, each row names its place', () => {
    const records = ['/0', '/1'].flatMap((pointer) => object(1, { id: '7', n: pointer }, pointer));
    const [first, second] = JSON.parse(
      textOf(json, [wrong(records, problem(1, { pointer: '/1/n', field: 'n' }))]),
    );
    expect(first).toMatchObject({
      _error_code: '',
      _error_message: `part of this order${from('/0')}`,
    });
    expect(second).toMatchObject({
      _error_code: 'quantity-not-whole',
      _error_message: `n: The quantity must be a whole number above zero.${from('/1')}`,
    });
  });

  it('NDJSON stays NDJSON', () => {
    const lines = textOf({ format: { type: 'ndjson' }, newline: '\r\n' }, [
      dead(object(1, { id: '7' }), 'failed', '502', 'Down'),
      dead(object(2, { id: '8' }), 'failed', '502', 'Down'),
    ]).split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines.slice(0, 2).map((line) => JSON.parse(line).id)).toEqual(['7', '8']);
  });

  it('a value that is not an object gets the key _error_value', () => {
    const [entry] = JSON.parse(
      textOf(json, [wrong(object(1, [5], '/0'), problem(1, { pointer: '/0', field: '' }))]),
    );
    expect(entry).toMatchObject({ _error_value: [5], _error_code: 'quantity-not-whole' });
  });

  it('numbers keep every digit', () => {
    const value = { n: jsonNumber('12345678901234567890'), q: jsonNumber('1.50') };
    expect(textOf(json, [dead(object(1, value), 'failed', '502', 'Down')])).toContain(
      '{"n":12345678901234567890,"q":1.50,',
    );
    const alone = dead(object(1, jsonNumber('1e400'), '/0'), 'failed', '502', 'Down');
    expect(textOf(json, [alone])).toContain('{"_error_value":1e400,');
  });

  it('a key named __proto__ is kept as data', () => {
    const value: unknown = JSON.parse('{"__proto__":{"x":1},"id":"7"}');
    expect(textOf(json, [dead(object(1, value), 'failed', '502', 'Down')])).toContain(
      '"__proto__":{"x":1}',
    );
  });

  it('without orders it is an empty array; characters that the encoding lacks are escaped', () => {
    expect(JSON.parse(textOf(json, []))).toEqual([]);
    const bytes = bytesOf({ format: { type: 'json', encoding: 'windows-1252' } }, [
      dead(object(1, { id: 'ß漢𝒳' }), 'failed', '502', 'Down'),
    ]);
    expect(JSON.parse(new TextDecoder('windows-1252').decode(bytes))[0].id).toBe('ß漢𝒳');
  });
});

it('a fix file never has the name of the list of entries', () => {
  const names = (['csv', 'xlsx', 'json', 'ndjson'] as const).map((type) => fixFileName({ type }));
  expect(names).toEqual([
    'dead-letters.csv',
    'dead-letters.csv',
    'dead-letters.fix.json',
    'dead-letters.ndjson',
  ]);
});
