import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRegularFile, stampOf } from '../../../src/core/regular-file.ts';
import { openWorkbook } from '../../../src/parse/xlsx/workbook.ts';
import { rawWorkbook, row, sheetXml, textCell } from '../../support/raw-workbook.ts';
import { inShort, mappingOf, readText } from '../../support/read-text.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const order = (purchaseOrderNumber: string, articleCode = 'A', quantity = 1) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: [{ articleCode, quantity }],
});
const plain = (number: string) => `${textCell(number)}${textCell('A')}<c><v>1</v></c>`;

describe('cells that are struck through', () => {
  test.each([
    [
      'the number',
      `<c s="1" t="inlineStr"><is><t>2</t></is></c>${textCell('A')}<c><v>1</v></c>`,
      'purchaseOrderNumber',
    ],
    [
      'the article',
      `${textCell('2')}<c s="1" t="inlineStr"><is><t>A</t></is></c><c><v>1</v></c>`,
      'articleCode',
    ],
    ['the quantity', `${textCell('2')}${textCell('A')}<c s="1"><v>1</v></c>`, 'quantity'],
  ])('hold their row: %s', async (_, cells, field) => {
    const { orders } = await readText(rawWorkbook([{ xml: sheetXml(plain('1'), cells) }]));
    const problems = orders.flatMap((one) => (one.valid ? [] : one.problems));
    expect(problems.map((problem) => problem.field)).toContain(field);
    expect(JSON.stringify(problems)).toContain(
      field === 'quantity' ? 'not a number' : 'struck through',
    );
  });

  test('do not matter in a column that is not sent', async () => {
    const book = rawWorkbook([
      { xml: sheetXml(`${plain('1')}<c s="1" t="inlineStr"><is><t>old</t></is></c>`) },
    ]);
    const text = textCell('text');
    const wide = (xml: string) => xml.replace('</row>', `${text}</row>`);
    expect(inShort((await readText(book)).orders)).toEqual([{ 1: ['2 too-many-fields'] }]);
    const fine = rawWorkbook([
      { xml: wide(sheetXml(`${plain('1')}<c s="1" t="inlineStr"><is><t>old</t></is></c>`)) },
    ]);
    expect(inShort((await readText(fine)).orders)).toEqual([order('1')]);
  });
});

describe('texts that are struck through in part', () => {
  const [struck, kept] = [
    '<r><rPr><strike/></rPr><t>A1</t></r>',
    '<r><rPr><b/></rPr><t>A2</t></r>',
  ];
  const cells = (runs: string) =>
    `${textCell('2')}<c t="inlineStr"><is>${runs}</is></c><c><v>1</v></c>`;

  test('hold their row', async () => {
    const { orders } = await readText(
      rawWorkbook([{ xml: sheetXml(plain('1'), cells(struck + kept)) }]),
    );
    expect(inShort(orders)).toEqual([order('1'), { 2: ['3 articleCode spreadsheet-damage'] }]);
    expect(JSON.stringify(orders)).toContain('struck through');
  });

  test('are read if nothing that is seen is', async () => {
    const off = '<r><rPr><strike val="0"/></rPr><t>A1</t></r>';
    const blank = '<r><rPr><strike/></rPr><t> </t></r>';
    const { orders } = await readText(rawWorkbook([{ xml: sheetXml(cells(off + kept + blank)) }]));
    expect(inShort(orders)).toEqual([order('2', 'A1A2')]);
  });
});

describe('the format of a cell with a text', () => {
  const inFormat = async (code: string, text = '7', column = 1) => {
    const cells = ['1', 'A', '1']
      .map(textCell)
      .with(column, `<c s="1" t="inlineStr"><is><t>${text}</t></is></c>`);
    return inShort(
      (await readText(rawWorkbook([{ xml: sheetXml(cells.join('')) }], [code]))).orders,
    );
  };

  test('is applied to an article, as the cell shows it', async () => {
    expect(await inFormat('"A-"@')).toEqual([order('1', 'A-7')]);
    expect(await inFormat('00000')).toEqual([order('1', '7')]);
    expect(await inFormat('_(@_)', ' 7')).toEqual([order('1', '7')]);
  });

  test('that hides it or changes a quantity holds the row', async () => {
    expect(await inFormat(';;;')).toEqual([{ 1: ['2 articleCode spreadsheet-damage'] }]);
    expect(await inFormat('@" x 10"', '7', 2)).toEqual([{ 1: ['2 quantity not-a-number'] }]);
  });
});

describe('a formula that was not calculated', () => {
  const unknown = '<c><f>VLOOKUP(B2,Prices!A:B,2)</f></c>';
  const cells = ['<c><v>2</v></c>', textCell('B'), '<c><v>1</v></c>'];

  test.each([
    ['the number: the row may belong to the order above or below', 0],
    ['the article', 1],
    ['the quantity', 2],
  ])('is no empty cell as %s', async (_, column) => {
    const next = `<c><v>2</v></c>${textCell('C')}<c><v>1</v></c>`;
    const book = rawWorkbook([
      { xml: sheetXml(plain('1'), cells.with(column, unknown).join(''), next) },
    ]);
    const { orders } = await readText(book);
    const sent = orders.flatMap((one) => (one.valid ? [one.order.purchaseOrderNumber] : []));
    expect(sent).toEqual(column === 0 ? [] : ['1']);
    const text = JSON.stringify(orders);
    expect(text).toContain('=VLOOKUP(B2,Prices!A:B,2)');
  });

  test('makes no row of what is not sent, and one whose result is an empty text is empty', async () => {
    const more = `${plain('1')}${unknown}`;
    const empty = `<c t="str"><f>IF(A3="","",A3)</f><v></v></c>`;
    const header = ['purchaseOrderNumber', 'articleCode', 'quantity', 'price'];
    const xml = sheetXml(more, `${empty}${empty}${empty}`).replace(
      /<row[^>]*>.*?<\/row>/,
      row(header.map(textCell).join('')),
    );
    const { orders } = await readText(rawWorkbook([{ xml }]));
    expect(inShort(orders)).toEqual([order('1', 'A', 1)]);
  });
});

test('a quantity with a label in its format that makes another number of it is held', async () => {
  const held = ['0" x 10"', '0" dozen"', '0" Paar"', '"2 x "0', '0" Tsd."'];
  const fine = ['0" Stk"', '0" pcs"', '#,##0" kg"', '_-* #,##0_-', '"Nr. "0', '0" m2"'];
  const formats = [...held, ...fine];
  const cells = formats.map(
    (_, i) => `${textCell(`P${i}`)}${textCell('A')}<c s="${i + 1}"><v>5</v></c>`,
  );
  const { orders } = await readText(rawWorkbook([{ xml: sheetXml(...cells) }], formats));
  expect(inShort(orders)).toEqual([
    ...held.map((_, i) => ({ [`P${i}`]: [`${i + 2} quantity not-a-number`] })),
    ...fine.map((_, i) => order(`P${held.length + i}`, 'A', 5)),
  ]);
});

test('a second table below empty rows of a sheet is refused', async () => {
  const other = row([textCell('article'), textCell('name'), textCell('stock')].join(''), ' r="5"');
  const xml = sheetXml(plain('1')).replace(
    '</sheetData>',
    `${other}${row(plain('X'))}</sheetData>`,
  );
  await expect(readText(rawWorkbook([{ xml }]))).rejects.toMatchObject({
    code: 'unreadable-header',
    facts: { line: 5 },
  });
});

describe('the sheet of a workbook that is read', () => {
  test('is the only visible one with data', async () => {
    const book = rawWorkbook([
      { name: 'Old', state: 'hidden', xml: sheetXml(plain('1')) },
      { name: 'Older', state: 'veryHidden', xml: sheetXml(plain('2')) },
      { name: 'Empty', xml: '<worksheet><sheetData><row><c s="1"/></row></sheetData></worksheet>' },
      { name: 'Orders', xml: sheetXml(plain('3')) },
    ]);
    expect(inShort((await readText(book)).orders)).toEqual([order('3')]);
    expect(inShort((await readText(book, mappingOf({ sheet: 'Old' }))).orders)).toEqual([
      order('1'),
    ]);
  });

  test('must be named when there are several', async () => {
    const book = rawWorkbook([
      { name: 'May', xml: sheetXml(plain('1')) },
      { name: 'June', xml: sheetXml(plain('2')) },
    ]);
    await expect(readText(book)).rejects.toMatchObject({
      code: 'unreadable-sheet',
      message: expect.stringContaining('"May", "June"'),
      remedy:
        'Save each sheet as a separate file, or hide or delete the others. For your operator: set sheet in the mapping of the source.',
    });
  });

  test('is reported with its hidden rows', async () => {
    const hidden = `${row(plain('2'), ' r="7" hidden="1"')}${row(plain('3'), ' r="8" ht="0" customHeight="1"')}`;
    const xml = sheetXml(plain('1')).replace('</sheetData>', `${hidden}</sheetData>`);
    const { orders, inspection } = await readText(rawWorkbook([{ xml }]));
    expect(orders.map(({ number, place }) => [number, place.line])).toEqual([
      ['1', 2],
      ['2', 7],
      ['3', 8],
    ]);
    const warning = '2 hidden rows of the sheet were read: lines 7, 8.';
    expect(inspection.warnings).toEqual([`${warning} Remove them if they are not meant.`]);
    const filter = '</sheetData><autoFilter ref="A1:C8"><filterColumn colId="0"/></autoFilter>';
    const filtered = await readText(rawWorkbook([{ xml: xml.replace('</sheetData>', filter) }]));
    expect(filtered.inspection.warnings).toEqual([
      `${warning} A filter is set. Remove them if they are not meant.`,
    ]);
  });

  test('is reported with a hidden column that is sent, by its name', async () => {
    const warningsOf = async (cols: string) => {
      const xml = sheetXml(plain('1')).replace('<sheetData>', `<cols>${cols}</cols><sheetData>`);
      const { orders, inspection } = await readText(rawWorkbook([{ xml }]));
      expect(inShort(orders)).toEqual([order('1')]);
      return inspection.warnings;
    };
    const warning = 'The column "quantity" is hidden. It was read.';
    expect(await warningsOf('<col min="3" max="3" hidden="1"/>')).toEqual([warning]);
    expect(await warningsOf('<col min="3" max="16384" width="0" customWidth="1"/>')).toEqual([
      warning,
    ]);
    expect(
      await warningsOf('<col min="1" max="3" width="9"/><col min="4" max="9" hidden="1"/>'),
    ).toEqual([]);
  });

  test('is reported with values in the color of their background, where they are sent', async () => {
    const cells = (style: number) =>
      `${textCell('2')}<c s="${style}" t="inlineStr"><is><t>A</t></is></c><c><v>1</v></c>`;
    const read = (style: number) =>
      readText(rawWorkbook([{ xml: sheetXml(plain('1'), cells(style)) }]));
    const { orders, inspection } = await read(2);
    expect(inShort(orders)).toEqual([order('1'), order('2')]);
    expect(inspection.warnings).toEqual([
      'Values of the column "articleCode" have the color of their background: line 3. They were read.',
    ]);
    expect((await read(3)).inspection.warnings).toEqual([]);
  });
});

/** Formats with a number each, one row for each in one workbook: `cells` gives the row of a styled cell. */
function book(
  cases: readonly (readonly [format: string, value: string])[],
  cells: (cell: string, i: number) => string,
) {
  const rows = cases.map(([, value], i) => cells(`<c s="${i + 1}"><v>${value}</v></c>`, i));
  return { xml: sheetXml(...rows), formats: cases.map(([format]) => format) };
}

describe('a number with a format', () => {
  test('is read as shown', async () => {
    const cases = [
      ['0000;[Red]-0000', '42', '0042'],
      ['[Blue]000000', '43', '000043'],
      ['[$-407]00000', '44', '00044'],
      ['000000;;;@', '45', '000045'],
      ['0000_)', '46', '0046'],
      ['"PO-"0000', '17', 'PO-0017'],
      ['000-000', '1234567', '1234-567'],
      ['@', '48', '48'],
      ['General', '4500012345', '4500012345'],
    ] as const;
    const { xml, formats } = book(
      cases.map(([format, value]) => [format, value]),
      (cell) => `${cell}${cell}<c><v>1</v></c>`,
    );
    const expected = cases.map(([, , shown]) => order(shown, shown));
    for (const written of [xml, xml.replaceAll('"', "'"), prefixed(xml)]) {
      expect(inShort((await readText(rawWorkbook([{ xml: written }], formats))).orders)).toEqual(
        expected,
      );
    }
  });

  test('is held as a number or an article when that is not certain', async () => {
    const cases = [
      ['yyyy-mm-dd', '46000'],
      [';;;', '42'],
      ['bad[[', '43'],
      ['#,##0', '42000'],
      ['"PO-"General', '44'],
      ['0', '45.4'],
      ['General', '42.5'],
      ['General', '1234567890123456'],
      ['General', '1.5E+20'],
    ] as const;
    for (const cells of [
      (cell: string) => `${cell}${textCell('A')}<c><v>1</v></c>`,
      (cell: string, i: number) => `${textCell(`P${i}`)}${cell}<c><v>1</v></c>`,
    ]) {
      const { xml, formats } = book(cases, cells);
      const { orders } = await readText(rawWorkbook([{ xml }], formats));
      expect(
        orders.flatMap((one) =>
          (one.valid ? ['valid'] : one.problems.map(({ code }) => code)).slice(0, 1),
        ),
      ).toEqual(cases.map(() => 'spreadsheet-damage'));
    }
  });

  test('is a quantity by its number, however it is shown', async () => {
    const cases = [
      ['#,##0', '42000'],
      ['0.00', '42'],
      ['0', '1E3'],
      ['[$-407]#,##0', '1500'],
      ['#,##0 [$EUR-407]', '1500'],
    ] as const;
    const { xml, formats } = book(
      cases,
      (cell, i) => `${textCell(`P${i}`)}${textCell('A')}${cell}`,
    );
    expect(inShort((await readText(rawWorkbook([{ xml }], formats))).orders)).toEqual([
      order('P0', 'A', 42_000),
      order('P1', 'A', 42),
      order('P2', 'A', 1000),
      order('P3', 'A', 1_500),
      order('P4', 'A', 1_500),
    ]);
  });

  test('is not a quantity when its cell shows another number', async () => {
    const formats = ['0%', '0,', '0"00"', '#,##0,,"M"', '0"."000'];
    const cells = formats.map(
      (_, i) => `${textCell(`P${i}`)}${textCell('A')}<c s="${i + 1}"><v>5000000</v></c>`,
    );
    const { orders } = await readText(rawWorkbook([{ xml: sheetXml(...cells) }], formats));
    expect(orders.map(({ valid }) => valid)).toEqual(formats.map(() => false));
    const same = [
      '#,##0',
      '0.00',
      '0" pcs"',
      '0000000000',
      '0.00E+00',
      '"CR "0',
      '# ?/?',
      '0" m2"',
    ];
    const fine = same.map(
      (_, i) => `${textCell(`P${i}`)}${textCell('A')}<c s="${i + 1}"><v>5000000</v></c>`,
    );
    const sent = await readText(rawWorkbook([{ xml: sheetXml(...fine) }], same));
    expect(inShort(sent.orders)).toEqual(same.map((_, i) => order(`P${i}`, 'A', 5_000_000)));
  });

  test('is an article as it is shown, also with a label', async () => {
    const cells = `${textCell('P')}<c s="1"><v>12</v></c><c><v>1</v></c>`;
    const { orders } = await readText(rawWorkbook([{ xml: sheetXml(cells) }], ['0"/26"']));
    expect(inShort(orders)).toEqual([order('P', '12/26')]);
  });

  test('is not a quantity when it is a date, hidden, or an error', async () => {
    const cells = [
      '<c s="1"><v>46000</v></c>',
      '<c s="2"><v>4</v></c>',
      '<c t="e"><v>#N/A</v></c>',
      '<c t="b"><v>1</v></c>',
    ];
    const xml = sheetXml(...cells.map((cell, i) => `${textCell(`P${i}`)}${textCell('A')}${cell}`));
    const { orders } = await readText(rawWorkbook([{ xml }], ['dd.mm.yyyy', ';;;']));
    expect(orders.map(({ valid }) => valid)).toEqual([false, false, false, false]);
  });
});

test('a workbook that needs more processor time than it may is refused', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'large.xlsx');
  await writeFile(
    file,
    rawWorkbook([
      { xml: sheetXml(...Array.from({ length: 100_000 }, (_, i) => plain(String(i)))) },
    ]),
  );
  await using handle = await openRegularFile(file);
  await expect(
    openWorkbook(handle, await stampOf(handle), { sheet: undefined, seconds: 0 }),
  ).rejects.toMatchObject({
    code: 'unreadable-too-large',
    message: 'The workbook needs more than 0 s of processor time.',
  });
});

describe('a malicious workbook is refused at once', () => {
  test.each([
    ['two million brackets', '<'.repeat(2_000_000), 'unreadable-xml'],
    [
      'eighty thousand attributes',
      `<worksheet ${Array.from({ length: 80_000 }, (_, i) => `a${i}=""`).join(' ')}>`,
      'unreadable-xml',
    ],
    [
      'a long comment',
      `<worksheet><!--${'x'.repeat(30_000_000)}--></worksheet>`,
      'unreadable-too-large',
    ],
    ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>', 'unreadable-xml'],
    ['deep nesting', '<a>'.repeat(100_000), 'unreadable-xml'],
    [
      'a row twice',
      `<worksheet><sheetData>${row(plain('1'), ' r="1"')}${row(plain('2'), ' r="1"')}</sheetData></worksheet>`,
      'unreadable-format',
    ],
    [
      'a column beyond the last',
      `<worksheet><sheetData>${row('<c r="ZZZ1"><v>1</v></c>')}</sheetData></worksheet>`,
      'unreadable-format',
    ],
    [
      'a text that is missing',
      `<worksheet><sheetData>${row('<c t="s"><v>9</v></c>')}</sheetData></worksheet>`,
      'unreadable-format',
    ],
    ['a sheet that is cut off', sheetXml(plain('1')).slice(0, -20), 'unreadable-xml'],
    ['another document', '<chartsheet/>', 'unreadable-format'],
  ])('%s', async (_, xml, code) => {
    const message = expect.not.stringContaining('processor time');
    await expect(readText(rawWorkbook([{ xml }]))).rejects.toMatchObject({ code, message });
  });

  test('an empty sheet contains no orders', async () => {
    const xml = '<worksheet><sheetData/></worksheet>';
    await expect(readText(rawWorkbook([{ xml }]))).rejects.toMatchObject({
      code: 'unreadable-empty',
    });
  });
});

function prefixed(xml: string): string {
  return xml
    .replaceAll(/<(\/?)(\w+)/g, '<$1x:$2')
    .replace(
      '<x:worksheet',
      '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"',
    );
}
