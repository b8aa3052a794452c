import { gzipSync } from 'node:zlib';
import { CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRowParser } from '../../src/parse/csv/row-parser.ts';
import type { Declared, Row } from '../../src/parse/record.ts';
import { runs } from '../support/runs.ts';
import { cellsOf, faultOf, openReader, rowsOf } from './read-file.ts';

let reader: Awaited<ReturnType<typeof openReader>>;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader[Symbol.asyncDispose]());

describe('a table is read as it is written', () => {
  const row = (line: number, ...cells: string[]): Row => ({ kind: 'row', line, cells });
  const cases: [what: string, content: string | Buffer, declared: Partial<Declared>, Row[]][] = [
    ['line ends LF', 'a,b\n1,2\n', {}, [row(1, 'a', 'b'), row(2, '1', '2')]],
    ['line ends CRLF', 'a,b\r\n1,2\r\n', {}, [row(1, 'a', 'b'), row(2, '1', '2')]],
    ['line ends CR', 'a,b\r1,2\r', {}, [row(1, 'a', 'b'), row(2, '1', '2')]],
    ['line ends CR CR LF', 'a\r\r\nb\r\r\n', {}, [row(1, 'a'), row(3, 'b')]],
    ['a last row without line end', 'a\nb', {}, [row(1, 'a'), { ...row(2, 'b'), isOpen: true }]],
    ['a quoted last row without line end', '"a"', {}, [{ ...row(1, 'a'), isOpen: true }]],
    ['empty lines are no rows', '\n\na\n\n\nb\n', {}, [row(3, 'a'), row(6, 'b')]],
    ['rows of blanks and delimiters are', ' \n,,\n', {}, [row(1, ' '), row(2, '', '', '')]],
    ['outer spaces stay', ' a ,\tb\t\n', {}, [row(1, ' a ', '\tb\t')]],
    [
      'rows of any width',
      'a,b\n1\n1,2,3\n',
      {},
      [row(1, 'a', 'b'), row(2, '1'), row(3, '1', '2', '3')],
    ],
    ['quotes with doubled ones', '"a ""b""",c\n', {}, [row(1, 'a "b"', 'c')]],
    ['a line break within quotes', '"a\r\nb",c\r\nd\r\n', {}, [row(1, 'a\r\nb', 'c'), row(3, 'd')]],
    [
      'a quote in the middle of a field',
      '5" pipe,1\nx,2\n',
      {},
      [row(1, '5" pipe', '1'), row(2, 'x', '2')],
    ],
    [
      'text behind a quoted field',
      '"a"b,1\nx,2\n',
      {},
      [{ ...row(1, '"a"b', '1'), strayAt: 0 }, row(2, 'x', '2')],
    ],
    ['a stray quote takes what follows', '"19,1\nx,2\n30",3\n', {}, [row(1, '19,1\nx,2\n30', '3')]],
    [
      'no quotes where none are declared',
      '"19,1\n"x",2\n',
      { quote: 'none' },
      [row(1, '"19', '1'), row(2, '"x"', '2')],
    ],
    ['zeros and control characters', 'a\0,\x01\n', {}, [row(1, 'a\0', '\x01')]],
    ['a byte order mark', '\ufeffa,b\n', {}, [row(1, 'a', 'b')]],
    [
      'UTF-16 with its mark, whatever is declared',
      Buffer.from('\ufeffä,b\n', 'utf16le'),
      { encoding: 'windows-1252' },
      [row(1, 'ä', 'b')],
    ],
    [
      'declared windows-1252',
      Buffer.from('ä,\x80\n', 'latin1'),
      { encoding: 'windows-1252' },
      [row(1, 'ä', '€')],
    ],
    [
      'declared cp850',
      Buffer.from('Schr\x84ge\n', 'latin1'),
      { encoding: 'cp850' },
      [row(1, 'Schräge')],
    ],
    ['declared cp858', Buffer.from('\xd5\n', 'latin1'), { encoding: 'cp858' }, [row(1, '€')]],
    [
      'declared Shift-JIS, whose second byte can be |',
      Buffer.from([0x83, 0x7c, 0x7c, 0x31, 0x0a]),
      { encoding: 'shift_jis', delimiter: '|' },
      [row(1, 'ポ', '1')],
    ],
    ['gzip', gzipSync('a,b\n'), {}, [row(1, 'a', 'b')]],
    [
      'gzip of two members',
      Buffer.concat([gzipSync('a,'), gzipSync('b\n')]),
      {},
      [row(1, 'a', 'b')],
    ],
    [
      'fixed widths',
      'PO-1 ABC 12\nPO-2 D\n\nPO-3 EFG 12 x\n',
      { widths: [5, 4, 2] },
      [row(1, 'PO-1 ', 'ABC ', '12'), row(2, 'PO-2 ', 'D'), row(4, 'PO-3 ', 'EFG ', '12', ' x')],
    ],
    ['fixed widths count characters', '😀äb\r\n', { widths: [2, 1] }, [row(1, '😀ä', 'b')]],
    [
      'an open line of fixed widths',
      'ab',
      { widths: [1, 1] },
      [{ ...row(1, 'a', 'b'), isOpen: true }],
    ],
    ['only a byte order mark', '\ufeff', {}, []],
  ];
  test.each(cases)('%s', async (_, content, declared, rows) => {
    const { records, summary } = await reader.read(content, {
      delimiter: ',',
      format: 'csv',
      ...declared,
    });
    expect(records).toEqual(rows);
    expect(summary.isOpenEnded).toBe(rows.at(-1)?.isOpen === true);
  });
});

test('a row carries its line as it is written where that is asked for', async () => {
  const long = `"${'x\n'.repeat(40_000)}"`;
  const content = `a, "b"\r\n\r\n"c\r\nd",e\r\n${long},1\r\nlast`;
  const rows = rowsOf(await reader.read(content, { isWritten: true }));
  expect(rows.map(({ written }) => written)).toEqual(['a, "b"', '"c\r\nd",e', `${long},1`, 'last']);
  const [fixed] = rowsOf(await reader.read('ab \r\n', { widths: [2], isWritten: true }));
  expect(fixed?.written).toBe('ab ');
});

test('the head shows the first 50 rows under each delimiter, without an error for what is cut', async () => {
  const content = `a;b,c\n${'1;2,3\n'.repeat(80)}"open`;
  for (const [delimiter, header] of [
    [';', ['a', 'b,c']],
    [',', ['a;b', 'c']],
    ['\t', ['a;b,c']],
  ] as const) {
    const rows = await reader.head(content, {}, delimiter);
    expect(rows).toHaveLength(50);
    expect(rows[0]).toEqual(header);
  }
  expect(await reader.head('a\n"b', {}, ',')).toEqual([['a']]);
  expect(await reader.head('abc\n', { widths: [1, 2] }, ',')).toEqual([['a', 'bc']]);
});

test('characters across the ends of chunks are read, also behind a byte order mark and in gzip', async () => {
  const text = 'a,ä,€,😀\n'.repeat(10_000);
  const marked = Buffer.from(`\ufeff${text}`);
  const cases: [Buffer, string][] = [
    [Buffer.from(text), 'utf-8'],
    [marked, 'utf-8'],
    [gzipSync(marked), 'utf-8'],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), 'utf-8'],
    [Buffer.from(text, 'utf16le').swap16(), 'utf-16be'],
  ];
  for (const [bytes, encoding] of cases) {
    const read = cellsOf(await reader.read(bytes, { encoding, delimiter: ',', format: 'csv' }));
    expect(read).toHaveLength(10_000);
    expect(new Set(read.map((cells) => cells.join()))).toEqual(new Set(['a,ä,€,😀']));
  }
});

describe('a table that cannot be read names its place', () => {
  const cases: [string, string | Buffer, Partial<Declared>, Record<string, unknown>][] = [
    ['no bytes', '', {}, { code: 'empty' }],
    ['an empty gzip', gzipSync(''), {}, { code: 'empty' }],
    ['an open quote', 'a,b\nc,"d\n', {}, { code: 'incomplete', of: 'quote', line: 2, column: 2 }],
    [
      'a cut gzip',
      gzipSync('a,b\n1,2\n').subarray(0, -3),
      {},
      { code: 'incomplete', lacks: 'the end of the gzip data' },
    ],
    [
      'zeros behind a gzip',
      Buffer.concat([gzipSync('a'), Buffer.alloc(9)]),
      {},
      { code: 'damaged', what: 'gzip' },
    ],
    [
      'a damaged gzip',
      Buffer.concat([gzipSync('a'), Buffer.from('rest')]),
      {},
      { code: 'damaged', what: 'gzip' },
    ],
    [
      'a byte that is not UTF-8',
      Buffer.from('a\nüb\xe4c\n', 'latin1'),
      {},
      { code: 'encoding', line: 2, column: 1, byte: 2, encoding: 'utf-8' },
    ],
    [
      'one behind the first chunk',
      Buffer.concat([Buffer.from('äö\n'.repeat(20_000)), Buffer.from('x\xff\n', 'latin1')]),
      {},
      { code: 'encoding', line: 20_001, column: 2, byte: 100_001 },
    ],
    [
      'one that Shift-JIS lacks',
      Buffer.from('a\n\x83\x7c\xff\n', 'latin1'),
      { encoding: 'shift_jis' },
      { code: 'encoding', line: 2, column: 2, byte: 4 },
    ],
    [
      'a lone surrogate',
      Buffer.from('\ufeffa\n\ud800b\n', 'utf16le'),
      {},
      { code: 'encoding', line: 2, column: 1, byte: 6 },
    ],
    [
      'an end within a character',
      Buffer.from('a,ä').subarray(0, 3),
      {},
      { code: 'incomplete', line: 1, column: 3 },
    ],
    [
      'a row beyond its limit',
      `a\nb,"${'x'.repeat(2 ** 20)}"\n`,
      {},
      { code: 'too-large', line: 2, limit: 2 ** 20 },
    ],
    [
      'a row that never ends',
      `a\n"${'x\n'.repeat(2 ** 20)}`,
      {},
      { code: 'too-large', line: 2, limit: 2 ** 20 },
    ],
    [
      'too many cells',
      `a\n${','.repeat(10_000)}\n`,
      {},
      { code: 'too-large', line: 2, limit: 10_000 },
    ],
    [
      'a fixed line beyond its limit',
      `a\n${'x'.repeat(2 ** 20 + 1)}`,
      { widths: [1] },
      { code: 'too-large', line: 2 },
    ],
  ];
  test.each(cases)('%s', async (_, content, declared, fault) => {
    expect(await faultOf(reader.read(content, declared))).toMatchObject(fault);
  });
});

const NEWLINES = ['\n', '\r\n', '\r'] as const;
const ENCODINGS = { 'utf-8': 'utf8', 'utf-16le': 'utf16le', 'windows-1252': 'latin1' } as const;

test('any table, written with any delimiter, quoting, line end and encoding, is read back cell by cell', async () => {
  const letters = fc.constantFrom(...Array.from('aZ09 ;,\t|"\r\nä\'=.'), '\u00a0', '\0');
  const cell = fc.string({ unit: letters, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 12 }),
      fc.constantFrom(',', ';', '\t', '|'),
      fc.constantFrom(...NEWLINES),
      fc.constantFrom('utf-8', 'utf-16le', 'windows-1252'),
      fc.record({
        quoted: fc.boolean(),
        gzip: fc.boolean(),
        ends: fc.boolean(),
        repeat: fc.constantFrom(1, 1, 400),
      }),
      async (some, delimiter, newline, encoding, { quoted, gzip, ends, repeat }) => {
        const rows = Array.from({ length: repeat }, () => some).flat();
        const text = stringify(rows, {
          delimiter,
          record_delimiter: newline,
          quoted,
          quoted_empty: true,
          quoted_match: /[\r\n]/,
          eof: ends,
        });
        const bytes = Buffer.from(text, ENCODINGS[encoding]);
        const read = await reader.read(gzip ? gzipSync(bytes, { level: 1 }) : bytes, {
          format: 'csv',
          delimiter,
          encoding,
        });
        expect(cellsOf(read)).toEqual(rows);
        // In a file that has CRLF too, a CR at the end may be half of one.
        const isOpenEnded = !ends || (newline === '\r' && text.includes('\r\n'));
        expect(read.summary).toMatchObject({ isOpenEnded, gzip, encoding });
        expect(rowsOf(read).map(({ line }) => line)).toEqual(firstLines(rows));
      },
    ),
    { numRuns: runs(100) },
  );
});

test('any text, in pieces of any size, has the rows that csv-parse finds', () => {
  const unit = fc.constantFrom('"', '"', ',', '\n', '\n', 'a', 'b', '\r\n', '\r');
  const newlines = fc.constantFrom(['\n'], ['\r\n'], ['\r'], ['\r\n', '\n'], ['\r\n', '\n', '\r']);
  fc.assert(
    fc.property(
      fc.string({ unit, maxLength: 30 }),
      newlines,
      fc.constantFrom('"' as const, null),
      fc.integer({ min: 1, max: 9 }),
      (text, record_delimiter, quote, size) => {
        const dialect = { delimiter: ',', quote, newlines: record_delimiter, isWritten: false };
        const parser = createRowParser(dialect);
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, nth) =>
          parser.write(text.slice(nth * size, (nth + 1) * size)),
        );
        const { rows, fault } = parser.end();
        const options = { relax_column_count: true, relax_quotes: true, skip_empty_lines: true };
        const theirs: string[][] = [];
        try {
          const on_record = (cells: string[]) => void theirs.push(cells);
          parse(text, { ...options, record_delimiter: [...record_delimiter], quote, on_record });
          expect(fault).toBeUndefined();
        } catch (error) {
          if (!(error instanceof CsvError)) throw error;
          expect(fault).toMatchObject({ code: 'unreadable-incomplete' });
        }
        expect([...pieces.flat(), ...rows].map(({ cells }) => cells)).toEqual(theirs);
      },
    ),
    { numRuns: runs(2_000) },
  );
});

/** Where each row begins: a row takes a line, and one more for each line end in it. */
function firstLines(rows: readonly string[][]): number[] {
  let line = 1;
  return rows.map((cells) => {
    const own = line;
    line += 1 + (cells.join(' ').match(/\r\n|\n|\r/g)?.length ?? 0);
    return own;
  });
}

test('a table cut at any byte ends open, or with a complete row', async () => {
  const content = Buffer.from('nr,"art",qty\r\nPO-1,"Schräge ""A""",5\r\nPO-2,"a\r\nb",7\r\n');
  const whole = cellsOf(await reader.read(content));
  for (const bytes of [content, Buffer.from(`\ufeff${content.toString()}`, 'utf16le')]) {
    for (let at = 2; at < bytes.length; at++) {
      const read = reader.read(bytes.subarray(0, at), { format: 'csv' });
      const fault = await faultOf(read);
      if (fault['code'] === 'incomplete') continue;
      expect(fault).toEqual({ code: 'read' });
      const { records, summary } = await read;
      const rows = cellsOf({ records });
      const complete = summary.isOpenEnded ? rows.slice(0, -1) : rows;
      expect(complete).toEqual(whole.slice(0, complete.length));
    }
  }
});
