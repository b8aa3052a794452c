import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { openRegularFile, stampOf } from '../../src/core/regular-file.ts';
import { openFile } from '../../src/parse/open.ts';
import type { OddCell } from '../../src/parse/record.ts';
import { isDateFormat, numberText } from '../../src/parse/xlsx/number-text.ts';
import { openWorkbook } from '../../src/parse/xlsx/workbook.ts';
import { rawWorkbook, row, textCell } from '../support/raw-workbook.ts';
import { runs } from '../support/runs.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { writeWorkbook } from '../support/write-workbook.ts';
import { storeZip, unzip } from '../support/zip.ts';
import { cellsOf, faultOf, openReader, rowsOf } from './read-file.ts';

let reader: Awaited<ReturnType<typeof openReader>>;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader[Symbol.asyncDispose]());

const sheet = (...rows: string[]) => ({
  xml: `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
});
const FORMATS = ['General', '0', '@', '00000', '#,##0', 'dd.mm.yyyy', '[h]:mm', '0.00" kg"'];
const style = (format: string) => `s="${FORMATS.indexOf(format) + 1}"`;
const STRUCK = `s="${FORMATS.length + 1}"`;

test('a cell is read as its text, and what it is besides', async () => {
  const number = (format: string): OddCell => ({ kind: 'number', format });
  const date = (text: string): OddCell => ({ kind: 'date', date: text });
  const cases: [xml: string, text: string, odd: OddCell | undefined][] = [
    [textCell(' a '), ' a ', undefined],
    ['<c><v>4.500012345E9</v></c>', '4500012345', number('General')],
    [`<c ${style('00000')}><v>123</v></c>`, '123', number('00000')],
    [`<c ${style('@')}><v>0.1</v></c>`, '0.1', number('@')],
    [`<c ${style('0.00" kg"')}><v>5</v></c>`, '5', number('0.00" kg"')],
    ['<c><v>1234567890123456789</v></c>', '1.2345678901234568E+18', number('General')],
    ['<c><v>-1.5E-7</v></c>', '-0.00000015', number('General')],
    ['<c s="99"><v>7</v></c>', '7', number('?')],
    ['<c><v>x</v></c>', 'x', { kind: 'error' }],
    [`<c ${style('dd.mm.yyyy')}><v>46347</v></c>`, '2026-11-21', date('2026-11-21')],
    [
      `<c ${style('[h]:mm')}><v>46347.5</v></c>`,
      '2026-11-21T12:00:00',
      date('2026-11-21T12:00:00'),
    ],
    [`<c ${style('dd.mm.yyyy')}><v>-1</v></c>`, '-1', number('dd.mm.yyyy')],
    ['<c t="d"><v>2026-11-21T00:00:00Z</v></c>', '2026-11-21', date('2026-11-21')],
    ['<c t="b"><v>1</v></c>', 'TRUE', { kind: 'boolean' }],
    ['<c t="e"><v>#N/A</v></c>', '#N/A', { kind: 'error' }],
    ['<c><f>A1</f></c>', '', { kind: 'no-value' }],
    ['<c><f>A1</f><v>7</v></c>', '7', number('General')],
    ['<c t="str"><f>A1</f><v>x</v></c>', 'x', undefined],
    [`<c ${STRUCK} t="inlineStr"><is><t>old</t></is></c>`, 'old', { kind: 'text', isStruck: true }],
    [`<c ${STRUCK}><v>7</v></c>`, '7', { kind: 'number', format: 'General', isStruck: true }],
    [
      '<c t="inlineStr"><is><r><rPr><strike/></rPr><t>a</t></r><r><t>b</t></r></is></c>',
      'ab',
      { kind: 'text', isStruck: true },
    ],
    [
      '<c t="inlineStr"><is><r><rPr><strike val="0"/></rPr><t>a</t></r><rPh><t>b</t></rPh></is></c>',
      'a',
      undefined,
    ],
    ['<c t="inlineStr"><is><t>a_x0009_b_x005F_x0041_</t></is></c>', 'a\tb_x0041_', undefined],
  ];
  // A text cell at the end keeps the cell before it, whatever it is.
  const rows = cases.map(([xml]) => row(`${xml}${textCell('.')}`));
  const read = rowsOf(await reader.read(rawWorkbook([sheet(...rows)], FORMATS)));
  expect(read.map(({ cells, odd }) => [cells[0], odd?.[0]])).toEqual(
    cases.map(([, text, odd]) => [text, odd]),
  );
});

test('dates are counted from 1904 where the workbook says so', async () => {
  const parts = await unzip(
    rawWorkbook([sheet(row(`<c ${style('dd.mm.yyyy')}><v>44885</v></c>`))], FORMATS),
  );
  const name = 'xl/workbook.xml';
  const text = String(parts.get(name)).replace('<sheets>', '<workbookPr date1904="1"/><sheets>');
  expect(cellsOf(await reader.read(storeZip(parts.set(name, Buffer.from(text)))))).toEqual([
    ['2026-11-21'],
  ]);
});

test.each([
  ['yyyy-mm-dd', true],
  ['[$-407]d. mmm', true],
  ['h:mm AM/PM', true],
  ['[mm]:ss', true],
  ['General', false],
  ['0.00E+00', false],
  ['[Red]0;[Black]-0', false],
  ['"Stk: "0', false],
  ['0\\d', false],
  ['_d0', false],
  ['@', false],
])('the number format %s shows a date: %s', (code, isDate) => {
  expect(isDateFormat(code)).toBe(isDate);
});

test('the text of any double is its shortest form, without an exponent below 1e15', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const text = numberText(number);
      expect(Number(text)).toBe(number === 0 ? 0 : number);
      expect(text.includes('E')).toBe(Math.abs(number) >= 1e15);
      if (Math.abs(number) < 1e15) expect(text).toMatch(/^-?\d+(?:\.\d+)?$/);
    }),
    { numRuns: runs(5_000) },
  );
});

test('rows and cells have their places, and those without a value are none', async () => {
  const rows = [
    row(`<c r="B2" t="str"><v>b</v></c><c t="str"><v>c</v></c><c r="E2" s="1"/>`, ' r="2"'),
    row('<c r="A3" s="1"/><c r="B3" s="1"/>', ' r="3"'),
    '<row r="4"/>',
    row(`<c s="1"/><c t="str"><v>b</v></c>`),
    row(`<c t="str"><v> </v></c>`),
    row(`<c r="A9" s="1"/><c r="AB9" t="str"><v>z</v></c>`, ' r="9"'),
  ];
  const read = rowsOf(await reader.read(rawWorkbook([sheet(...rows)])));
  expect(read.map(({ line }) => line)).toEqual([2, 5, 9]);
  expect(read.map(({ cells }) => cells.join('|'))).toEqual(['|b|c', '|b', `${'|'.repeat(27)}z`]);
});

test('text that looks like a blank cell stays text', async () => {
  const cell = '<c t="str"><v><![CDATA[<c r="A1"/><c r="B1"/>]]></v></c>';
  expect(cellsOf(await reader.read(rawWorkbook([sheet(row(cell))])))).toEqual([
    ['<c r="A1"/><c r="B1"/>'],
  ]);
});

test('250,000 formatted blank rows cost few seconds of processor time', async () => {
  const blank = (line: number) =>
    `<row r="${line}" spans="1:4" s="1" customFormat="1" x14ac:dyDescent="0.25"><c r="A${line}" s="1"/><c r="B${line}" s="1"/><c r="C${line}" s="1"/></row>`;
  const rows = Array.from({ length: 250_000 }, (_, i) => blank(i + 2));
  const last = row('<c r="B250003" t="str"><v>z</v></c>', ' r="250003"');
  const zip = new ZipFile();
  const book = await unzip(rawWorkbook([sheet(row(textCell('a')), rows.join(''), last)], ['0']));
  for (const [name, content] of book) zip.addBuffer(content, name);
  zip.end();
  const bytes = await buffer(zip.outputStream);
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'book.xlsx');
  await writeFile(file, bytes);
  await using handle = await openRegularFile(file);
  await using opened = await openWorkbook(handle, await stampOf(handle), {
    sheet: undefined,
    signal: undefined,
    seconds: 5,
  });
  const read = [];
  for await (const page of opened.pages()) read.push(...page);
  expect(read.map(({ line, cells }) => [line, ...cells])).toEqual([
    [1, 'a'],
    [250_003, '', 'z'],
  ]);
});

describe('the sheet that is read', () => {
  const plain = (text: string) => sheet(row(textCell(text)));
  const empty = sheet(row('<c s="1"/>'));

  test('is the only visible one with data', async () => {
    const book = rawWorkbook([
      { name: 'Old', state: 'hidden', ...plain('1') },
      { name: 'Older', state: 'veryHidden', ...plain('2') },
      { name: 'Empty', ...empty },
      { name: 'Orders', ...plain('3') },
    ]);
    const read = await reader.read(book);
    expect(cellsOf(read)).toEqual([['3']]);
    expect(read.summary.workbook).toEqual({
      sheet: 'Orders',
      sheets: ['Orders'],
      hiddenRows: 0,
      hiddenColumns: [],
    });
    expect(cellsOf(await reader.read(book, { sheet: 'Old' }))).toEqual([['1']]);
  });

  test('is none of several; all are named', async () => {
    const book = rawWorkbook([
      { name: 'May', ...plain('1') },
      { name: 'June', ...plain('2') },
    ]);
    const read = await reader.read(book);
    expect(read.records).toEqual([]);
    expect(read.summary.workbook).toEqual({
      sheets: ['May', 'June'],
      hiddenRows: 0,
      hiddenColumns: [],
    });
    const named = await reader.read(book, { sheet: 'June' });
    expect([cellsOf(named), named.summary.workbook?.sheets]).toEqual([[['2']], ['May', 'June']]);
    expect(await faultOf(reader.read(book, { sheet: 'Juni' }))).toEqual({
      code: 'sheet',
      sheet: '"Juni"',
      names: '"May", "June"',
    });
  });

  test('has nothing where no sheet is visible or has data', async () => {
    expect((await reader.read(rawWorkbook([{ state: 'hidden', ...plain('1') }]))).records).toEqual(
      [],
    );
    expect((await reader.read(rawWorkbook([empty, { name: 'B', ...empty }]))).records).toEqual([]);
  });

  test('says which rows and columns with values nobody sees', async () => {
    const cols =
      '<cols><col min="2" max="3" hidden="1"/><col min="5" max="16384" width="0"/></cols>';
    const rows = [
      row(textCell('a') + textCell('b')),
      row(textCell('1'), ' hidden="1"'),
      row(textCell('2'), ' ht="0"'),
      row('<c s="1"/>', ' hidden="1"'),
    ];
    const xml = sheet(...rows).xml.replace('<sheetData>', `${cols}<sheetData>`);
    const read = await reader.read(rawWorkbook([{ xml }]));
    expect(rowsOf(read).map(({ isHidden = false }) => isHidden)).toEqual([false, true, true]);
    expect(read.summary.workbook).toMatchObject({ hiddenRows: 2, hiddenColumns: [1] });
  });
});

test('workbooks of other programs: prefixes, absolute, backward and capital part names, Strict', async () => {
  const rel = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
  const link = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${rel}/${type}" Target="${target}"/>`;
  const parts = {
    '_rels\\.rels': `<Relationships>${link('r', 'officeDocument', '/xl/workbook.xml')}</Relationships>`,
    'XL\\WORKBOOK.XML': `<x:workbook xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main" xmlns:q="${rel}"><x:sheets><x:sheet name='S' sheetId='1' q:id='a'/></x:sheets></x:workbook>`,
    'xl/_rels/workbook.xml.rels': `<p:Relationships xmlns:p="urn:p">${link('a', 'worksheet', 'worksheets\\Sheet 1.xml').replace('<R', '<p:R')}${link('b', 'sharedStrings', '/xl/sharedStrings.xml').replace('<R', '<p:R')}</p:Relationships>`,
    'xl/SharedStrings.xml':
      '\ufeff<x:sst><x:si><x:t xml:space="preserve"> ä </x:t></x:si><x:si><x:r><x:t>b</x:t></x:r><x:r><x:t>c</x:t></x:r></x:si></x:sst>',
    'xl/worksheets/sheet 1.xml':
      "<x:worksheet><x:sheetData><x:row r='1'><x:c r='A1' t='s'><x:v>0</x:v></x:c><x:c r='B1' t='s'><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>",
  };
  const entries = Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)] as const);
  expect(cellsOf(await reader.read(storeZip(new Map(entries))))).toEqual([[' ä ', 'bc']]);
});

test('any table of texts, written as a workbook, is read back cell by cell', async () => {
  const cell = fc
    .string({
      unit: fc.constantFrom(...Array.from('aZ0 <&"\n_x\u2028ä😀=')),
      minLength: 1,
      maxLength: 9,
    })
    .filter((text) => text.trim() !== '');
  const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 9,
  });
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const zip = new ZipFile();
      const book = await unzip(
        rawWorkbook([sheet(...rows.map((cells) => row(cells.map(textCell).join(''))))]),
      );
      for (const [name, content] of book)
        zip.addBuffer(content, name, { compress: rows.length % 2 === 0 });
      zip.end();
      const read = await reader.read(await buffer(zip.outputStream));
      expect(cellsOf(read)).toEqual(rows);
    }),
    { numRuns: runs(50) },
  );
});

describe('a workbook that cannot be read', () => {
  test('is damaged in its parts', async () => {
    const cell = (reference: string) => sheet(row(`<c r="${reference}"><v>1</v></c>`));
    const cases: [string, Buffer, Record<string, unknown>][] = [
      [
        'a row that goes back',
        rawWorkbook([sheet('<row r="2"><c><v>1</v></c></row><row r="1"><c><v>1</v></c></row>')]),
        { code: 'damaged', reason: 'row 1' },
      ],
      [
        'a cell that goes back',
        rawWorkbook([sheet(row('<c r="B1"><v>1</v></c><c r="A1"><v>1</v></c>'))]),
        { code: 'damaged', reason: 'cell A1' },
      ],
      [
        'a column beyond the last',
        rawWorkbook([cell('XFE1')]),
        { code: 'damaged', reason: 'cell XFE1' },
      ],
      [
        'a text that is missing',
        rawWorkbook([sheet(row('<c t="s"><v>7</v></c>'))]),
        { code: 'damaged', reason: 'text 7 is missing' },
      ],
      [
        'a sheet that ends early',
        rawWorkbook([{ xml: '<worksheet><sheetData><row>' }]),
        { code: 'incomplete' },
      ],
      [
        'another kind of sheet',
        rawWorkbook([{ xml: '<chartsheet/>' }]),
        { code: 'damaged', reason: 'it is not a worksheet' },
      ],
      ['a document type', rawWorkbook([{ xml: '<!DOCTYPE a><worksheet/>' }]), { code: 'xml' }],
      ['too many cells', rawWorkbook([cell('NTQ1')]), { code: 'too-large', limit: 10_000 }],
    ];
    for (const [what, book, fault] of cases)
      expect([what, await faultOf(reader.read(book))]).toMatchObject([what, fault]);
  });

  test('has another text than its checksum says', async () => {
    const book = rawWorkbook([sheet(row(textCell('PO-1')))]);
    book.write('PO-2', book.indexOf('PO-1'));
    expect(await faultOf(reader.read(book))).toMatchObject({ code: 'damaged', what: 'zip' });
  });

  test('is cut: not complete, wherever it is cut', async () => {
    const whole = await writeWorkbook([[{ type: String, value: 'a' }]]);
    for (const part of [0.02, 0.6, 0.999]) {
      const cut = whole.subarray(0, Math.floor(whole.length * part));
      expect([part, await faultOf(reader.read(cut))]).toMatchObject([part, { code: 'incomplete' }]);
    }
  });

  test('has a byte that was changed: its cells are the same or it is refused', async () => {
    const whole = rawWorkbook([sheet(row(textCell('PO-1') + textCell('A')))]);
    const wrong: number[] = [];
    for (let at = 5; at < whole.length; at += 997) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      const read = await reader.read(bytes).catch(() => undefined);
      if (read && JSON.stringify(cellsOf(read)) !== '[["PO-1","A"]]') wrong.push(at);
    }
    expect(wrong).toEqual([]);
  });

  test('inflates to more than it may, or takes too long', async () => {
    await using folder = await makeTempFolder();
    const file = path.join(folder.path, 'book.xlsx');
    const zip = new ZipFile();
    const xml = `<worksheet><sheetData>${'<row><c t="str"><v>a</v></c></row>'.repeat(600_000)}`;
    const book = await unzip(rawWorkbook([{ xml }]));
    for (const [name, content] of book) zip.addBuffer(content, name);
    zip.end();
    await writeFile(file, await buffer(zip.outputStream));
    await using handle = await openRegularFile(file);
    const options = { sheet: undefined, signal: undefined, seconds: 0.2 };
    const reading = openWorkbook(handle, await stampOf(handle), options);
    expect(await faultOf(reading)).toMatchObject({ code: 'too-large', unit: 'seconds' });
  });
});

test('a workbook gives the same rows in each pass, and is refused in the next once it changed', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'book.xlsx');
  await writeFile(file, rawWorkbook([sheet(row(textCell('a')))]));
  await using opened = await openFile(file, { isWritten: false });
  const pass = async () => {
    const cells: (readonly string[])[] = [];
    for await (const page of opened.records()) cells.push(...cellsOf({ records: [...page] }));
    return cells;
  };
  expect([await pass(), await pass()]).toEqual([[['a']], [['a']]]);
  await appendFile(file, ' ');
  await expect(pass()).rejects.toMatchObject({ code: 'file-changed' });
});
