import { describe, expect, test } from 'vitest';
import { CONFIRMED } from '../../src/order/fixing.ts';
import { openFixRound } from '../support/fix-round.ts';
import { inShort, mappingOf, readText } from '../support/read-text.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';
const item = (articleCode: string, quantity = 1) => ({ articleCode, quantity });
const order = (purchaseOrderNumber: string, ...items: object[]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items,
});
const table = (...rows: string[]) => [HEADER, ...rows, ''].join('\n');

/** The messages of everything that is held. */
async function messagesOf(...read: Parameters<typeof readText>): Promise<string[]> {
  const { orders } = await readText(...read);
  return orders.flatMap((one) => (one.valid ? [] : one.problems.map(({ message }) => message)));
}

const SINGLE_BYTE = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'windows-1258',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-7',
  'iso-8859-13',
  'iso-8859-15',
  'macintosh',
] as const;

/** Articles whose bytes in that encoding are UTF-8 of other letters, or nearly so. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'windows-1250': ['PÓŁKA-1', 'ŹRÓDŁO', 'Říž-3', 'GŁÓG', 'KRŮŽ'],
  'windows-1251': ['ЁЖ-7', 'ОБЪЁМ', 'ТАРА-1'],
  'windows-1257': ['ŠĶĪDUMS', 'ĄŽUOLAS'],
  'iso-8859-2': ['PÓŁKA-1', 'ŹRÓDŁO'],
};

describe('a row without a usable number', () => {
  test('puts the orders above and below it in doubt: it may be the last row of one or the first of the other', async () => {
    const { orders } = await readText(table('1,A,1', ',B,2', '2,C,3', '3,D,4'));
    expect(inShort(orders)).toEqual([
      { 1: ['2 row-in-doubt'] },
      { '': ['3 purchaseOrderNumber missing'] },
      { 2: ['4 row-in-doubt'] },
      order('3', item('D', 4)),
    ]);
    expect(await messagesOf(table('1,A,1', ',B,2'))).toContain(
      'a row of this order may be missing: line 3 has no order number and may belong to this order. If it does, as where cells were merged, correct it and enter the number of this order in it. If it does not, enter the number of its order, or discard it. Only if that row stays as it is and this order is complete without it, write confirmed into _error_check of its rows in the fix file',
    );
  });

  test('that is only the label of a total puts none in doubt; with a quantity, it can be an item', async () => {
    const totals = async (row: string) =>
      inShort((await readText(table('1,A,1', '2,C,3', row))).orders);
    const alone = [order('1', item('A', 1)), order('2', item('C', 3))];
    expect((await totals(',Total,')).slice(0, 2)).toEqual(alone);
    expect((await totals(',,Total')).slice(0, 2)).toEqual(alone);
    expect((await totals(',Total,7')).slice(0, 2)).toEqual([alone[0], { 2: ['3 row-in-doubt'] }]);
    const noted = async (note: string) =>
      inShort(
        (await readText(`purchaseOrderNumber,articleCode,quantity,note\n2,C,3,\n,,7,${note}\n`))
          .orders,
      );
    expect(await noted('Total')).toEqual([{ 2: ['2 row-in-doubt'] }, { '': ['3 total-row'] }]);
    expect((await noted('Total Quartz 9000'))[1]).toEqual({
      '': ['3 purchaseOrderNumber missing', '3 articleCode missing'],
    });
  });

  test('puts these orders in doubt, also where the one above has rows further down', async () => {
    const { orders } = await readText(table('1,A,1', ',B,2', '2,C,3', '1,D,1'));
    expect(inShort(orders)).toEqual([
      { '': ['3 purchaseOrderNumber missing'] },
      { 2: ['4 row-in-doubt'] },
      { 1: ['2 row-in-doubt'] },
    ]);
  });

  test('at the top puts the first order in doubt', async () => {
    const { orders } = await readText(table(',A,1', '1,B,1', '2,C,1'));
    expect(inShort(orders)).toEqual([
      { '': ['2 purchaseOrderNumber missing'] },
      { 1: ['3 row-in-doubt'] },
      order('2', item('C')),
    ]);
  });

  test('and without article and quantity is invalid alone', async () => {
    const text = 'purchaseOrderNumber,articleCode,quantity,text\n1,A,1,\n,,,see above\n';
    expect(inShort((await readText(text)).orders)).toMatchObject([order('1', item('A')), {}]);
  });

  test('whose number looks like another puts that order and its neighbors in doubt', async () => {
    const { orders } = await readText(
      table('1,A,1', '2,B,1', '3,C,1', '1\u200b,D,1', '4,E,1', '5,F,1'),
    );
    expect(orders.map(({ number, valid }) => [number, valid])).toEqual([
      ['1', false],
      ['2', true],
      ['3', false],
      ['1\u200b', false],
      ['4', false],
      ['5', true],
    ]);
  });

  test('of the wrong width puts its neighbors in doubt, but not when it has the number of one of them', async () => {
    const { orders } = await readText(table('1,A,1', '2 B,1', '3,C,1', '4,D,1', '4,E', '5,F,1'));
    expect(inShort(orders)).toEqual([
      { 1: ['2 row-in-doubt'] },
      { '2 B': ['3 too-few-fields'] },
      { 3: ['4 row-in-doubt'] },
      { 4: ['6 too-few-fields'] },
      order('5', item('F')),
    ]);
  });

  test.each([
    ['a line end is lost', ['1,A,1', '2,X,1', '2,B,13,C,1', '3,D,1', '4,E,1'], ['1', '4']],
    ['a line break splits it', ['10,A,1', '4', '5,B,1', '45,C,1', '6,D,1'], ['6']],
    [
      'its values are in other columns',
      ['PO-1,A,1', 'PO-2,B,1', 'C,5,PO-2', 'PO-3,D,1'],
      ['PO-1', 'PO-3'],
    ],
  ])('where %s puts the orders in doubt that it may belong to', async (_, rows, sent) => {
    const { orders } = await readText(table(...rows));
    expect(orders.filter(({ valid }) => valid).map(({ number }) => number)).toEqual(sent);
  });

  test('repeats the number above with fillDown, but not across an empty line', async () => {
    const text = table('1,A,1', ',B,2', '', ',C,3', '2,D,1', ' ,E,1');
    const { orders } = await readText(text, mappingOf({ fillDown: true }));
    expect(inShort(orders)).toEqual([
      { 1: ['2 row-in-doubt'] },
      { '': ['5 purchaseOrderNumber missing'] },
      { 2: ['6 row-in-doubt'] },
    ]);
  });

  test('is not one whose number only has spaces or a tab around it', async () => {
    const { orders } = await readText(table('PO-1,A,1', 'PO-1\t,B,1', ' PO-1 ,C,1'));
    expect(inShort(orders)).toEqual([order('PO-1', item('A'), item('B'), item('C'))]);
  });
});

describe('a last row without a line end', () => {
  test('is held if its last field is sent, because half a quantity is a valid quantity', async () => {
    const { orders, inspection } = await readText(`${HEADER}\n1,A,1\n2,B,1`);
    expect(inspection.warnings).toEqual([expect.stringContaining('The last line has no line end')]);
    expect(inShort(orders)).toEqual([order('1', item('A')), { 2: ['3 quantity cut-off'] }]);
    expect(await messagesOf(`${HEADER}\n2,B,1`)).toEqual([
      expect.stringContaining('finalNewline: optional'),
    ]);
  });

  test.each([
    ['the mapping says that it is optional', `${HEADER}\n1,A,12`, { finalNewline: 'optional' }],
    ['its last field is in quotes', `${HEADER}\n1,A,"12"`, {}],
    ['its last field is not sent', `${HEADER},text\n1,A,12,x`, {}],
  ])('is complete where %s', async (_, text, mapping) => {
    expect(inShort((await readText(text, mappingOf(mapping))).orders)).toEqual([
      order('1', item('A', 12)),
    ]);
  });
});

describe('a quantity with another decimal sign than the mapping names', () => {
  const rows = [`${HEADER.replaceAll(',', ';')}`, '1;A;12', '2;B;2.400', '3;C;3,5', ''].join('\n');

  test('puts the quantities of the file that have two readings in doubt', async () => {
    const { orders, inspection } = await readText(
      rows,
      mappingOf({ decimal: '.', quantity: 'number' }),
    );
    expect(inShort(orders)).toEqual([
      order('1', item('A', 12)),
      { 2: ['3 quantity ambiguous-number'] },
      { 3: ['4 quantity not-a-number'] },
    ]);
    expect(inspection.warnings).toEqual([
      'The mapping sets decimal: ".", and line 4 has a quantity with a decimal comma.',
    ]);
  });

  test.each([
    [
      'otherReadings: allow',
      rows,
      { decimal: '.', quantity: 'number', otherReadings: 'allow' },
      2.4,
    ],
    ['the sign of the mapping', rows, { decimal: ',', quantity: 'number' }, 2400],
    ['no other sign', rows.replace('3,5', '3.5'), { decimal: '.', quantity: 'number' }, 2.4],
  ] as const)('leaves them as they are with %s', async (_, text, mapping, quantity) => {
    const { orders } = await readText(text, mappingOf(mapping));
    expect(inShort(orders)[1]).toEqual(order('2', item('B', quantity)));
  });
});

describe('an encoding that is only a guess', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');

  test('holds orders with other characters in a number or an article, with the readings', async () => {
    const { orders } = await readText(latin(`${HEADER},text\n1,Schr\x84ge,1,x\n2,B,1,Gr\xfcn\n`));
    expect(inShort(orders)).toEqual([
      { 1: ['2 articleCode encoding-unsure'] },
      order('2', item('B')),
    ]);
    expect(await messagesOf(latin(table('1,Schr\x84ge,1')))).toEqual([
      expect.stringMatching(
        /Schr„ge \(windows-1252\) · Schräge \(cp850\).* write confirmed .* set encoding in its mapping/,
      ),
    ]);
  });

  test('that the mapping names wrongly is named where a letter became a control character', async () => {
    expect(await messagesOf(table('1,Öl-5,1'), mappingOf({ encoding: 'iso-8859-1' }))).toEqual([
      'contains the control character U+0096; its letters are UTF-8 that was read as iso-8859-1: enter "Öl-5", or ask your operator to correct encoding in the mapping of the source',
    ]);
  });

  test.each(SINGLE_BYTE)(
    'in UTF-8 is held where the mapping names %s, and a value of that encoding is sent',
    async (encoding) => {
      const mapping = mappingOf({ encoding });
      for (const article of ['Öl-5', 'Grün', 'Größe', 'café-à-l’été', 'Łódź', 'Žluť']) {
        // A byte that the encoding does not have makes the file unreadable.
        const read = readText(table(`1,${article},1`), mapping).catch(() => ({ orders: [] }));
        expect([article, (await read).orders.some(({ valid }) => valid)]).toEqual([article, false]);
      }
      const own = new TextDecoder(encoding);
      for (const article of OWN[encoding] ?? []) {
        const byte = (one: string) =>
          Array.from({ length: 256 }, (_, i) => i).find(
            (i) => own.decode(Uint8Array.of(i)) === one,
          );
        const bytes = Buffer.from(Array.from(table(`1,${article},1`), (one) => byte(one) ?? 0));
        expect([article, inShort((await readText(bytes, mapping)).orders)]).toEqual([
          article,
          [order('1', item(article))],
        ]);
      }
    },
  );

  test('is a warning with the readings of the first such value', async () => {
    const { inspection } = await readText(latin(`${HEADER},text\n1,A,1,x\n2,Gr\x81n,1,x\n`));
    expect(inspection.warnings).toEqual([
      expect.stringMatching(
        /^The file does not say .* Look at one value: line 3 is probably "Grün", in cp850\. .* write confirmed .* For your operator: set encoding in the mapping/,
      ),
    ]);
  });

  test('names the columns when other letters are only in some that are not sent', async () => {
    const { inspection, orders } = await readText(
      latin(`${HEADER},text,note\n1,A,1,x,x\n2,B,1,Gr\x81n,x\n`),
    );
    expect(orders.map(({ valid }) => valid)).toEqual([true, true]);
    expect(inspection.warnings).toEqual([
      expect.stringMatching(
        /^Nothing needs to be done, unless such a column says .*: letters .* are only in columns that are not sent \(text\)\. The file was read as windows-1252\.$/,
      ),
    ]);
    const weak = await readText(`${HEADER},text\n1,A,1,Grün\n`);
    expect(weak.inspection.warnings).toEqual([]);
    const rule = mappingOf({ skipWhere: { text: ['gelöscht'] } });
    const read = await readText(latin(`${HEADER},text\n1,A,1,gel\x94scht\n`), rule);
    expect(read.inspection.warnings[0]).toMatch(
      /line 2 was read as "gel”scht"\. .* the value can be gel”scht \(windows-1252\) · gelöscht \(cp850\)/,
    );
  });

  test('of a file that also has UTF-8 is unreadable, with the readings', async () => {
    const mixed = Buffer.concat([Buffer.from(table('1,Größe,1')), latin('2,Schr\x84ge,1\n')]);
    await expect(readText(mixed)).rejects.toMatchObject({
      code: 'unreadable-encoding',
      message: expect.stringMatching(
        /^Line 3, column 7 .*Schr„ge \(windows-1252\) · Schräge \(cp850\)/,
      ),
    });
  });

  test.each([
    [
      'one letter of two bytes',
      '1,Grün,1',
      /^The file was read as UTF-8; only one letter shows that it is\. Look at one value: it was read as "Grün"\. If that is right, nothing needs to be done\. .* For your operator: .*Grün \(utf-8\) · GrÃ¼n \(windows-1252\)/,
    ],
    [
      'two letters of two bytes',
      '1,Grün,1,ö',
      /^The file was read as UTF-8; only 2 letters show that it is\. /,
    ],
    ['three letters', '1,Grün,1,öä', undefined],
    ['one letter of three bytes', '1,€,1', undefined],
    ['none', '1,A,1', undefined],
  ])('is what little evidence of UTF-8 may be: %s', async (_, row, warning) => {
    const { inspection, orders } = await readText(
      `${HEADER},text\n${row.split(',').length === 3 ? `${row},` : row}\n`,
    );
    expect(orders.map(({ valid }) => valid)).toEqual([true]);
    expect(inspection.warnings).toEqual(
      warning === undefined ? [] : [expect.stringMatching(warning)],
    );
    if (warning) expect(inspection.warnings[0]).toContain('. If it is wrong, ask your operator. ');
    const named = await readText(`${HEADER}\n1,Grün,1\n`, mappingOf({ encoding: 'utf-8' }));
    expect(named.inspection.warnings).toEqual([]);
  });

  test('also holds a character that is a space in the guessed encoding', async () => {
    expect(inShort((await readText(latin(table('1,A\xa0,1')))).orders)).toEqual([
      { 1: ['2 articleCode encoding-unsure'] },
    ]);
  });

  test('holds it in JSON as well', async () => {
    const text = latin(JSON.stringify([order('1', item('Gr\xfcn')), order('2', item('B'))]));
    expect(inShort((await readText(text)).orders)).toEqual([
      { 1: ['1 articleCode encoding-unsure'] },
      order('2', item('B')),
    ]);
  });

  test.each([
    ['cp437', 'Schr\x84ge', 'Schräge'],
    ['cp850', 'T\x9aR', 'TÜR'],
    ['cp852', '\xe7roub', 'šroub'],
    ['cp858', '\xd5', '€'],
    ['windows-1251', '\xc1\xee\xeb\xf2', 'Болт'],
    ['koi8-r', '\xe2\xcf\xcc\xd4', 'Болт'],
    ['macintosh', 'Schr\x8age', 'Schräge'],
    ['shift_jis', '\x83l\x83W', 'ネジ'],
    ['gbk', '\xc2\xdd\xcb\xbf', '螺丝'],
    ['big5', '\xc1\xb3\xb5\xb7', '螺絲'],
    ['euc-kr', '\xb3\xaa\xbb\xe7', '나사'],
  ])('is settled by %s in the mapping', async (encoding, written, read) => {
    const text = latin(table(`1,${written},1`, `2,${written},2`));
    const { orders } = await readText(text, mappingOf({ encoding }));
    expect(inShort(orders)).toEqual([order('1', item(read)), order('2', item(read, 2))]);
    const guessed = await readText(text).catch(() => undefined);
    expect(guessed?.orders.some(({ valid }) => valid) ?? false).toBe(false);
  });
});

describe('a text with two readings is held', () => {
  test.each([
    ['4.500012345E9', 'spreadsheet-damage', '4500012345'],
    ['1.23457e11', 'spreadsheet-damage', '123457000000'],
    ['3E+05', 'spreadsheet-damage', '300000'],
    ['123.0', 'spreadsheet-damage', '123'],
    ['"123,00"', 'spreadsheet-damage', '123'],
    ['#N/A', 'spreadsheet-damage', 'enter the full value'],
    ['#VALEUR!', 'spreadsheet-damage', 'enter the full value'],
    ['#¡VALOR!', 'spreadsheet-damage', 'enter the full value'],
    ['#BRAK!', 'spreadsheet-damage', 'enter the full value'],
    ['#N/D', 'spreadsheet-damage', 'enter the full value'],
    ['#NV', 'spreadsheet-damage', 'enter the full value'],
    ['#NAZWA?', 'spreadsheet-damage', 'enter the full value'],
    ['Err:502', 'spreadsheet-damage', 'enter the full value'],
    ['NULL', 'spreadsheet-damage', 'had no value'],
    ['null', 'spreadsheet-damage', 'had no value'],
    ['None', 'spreadsheet-damage', 'had no value'],
    ['NaN', 'spreadsheet-damage', 'had no value'],
    ['N/A', 'spreadsheet-damage', 'had no value'],
    ['undefined', 'spreadsheet-damage', 'had no value'],
    ['-', 'spreadsheet-damage', 'had no value'],
    ['?', 'spreadsheet-damage', 'had no value'],
    ...[
      'nil',
      'k.A.',
      'tbd',
      'TBC',
      'unknown',
      '(blank)',
      '(leer)',
      'XXX',
      '...',
      '_',
      '00000',
    ].map((text) => [text, 'spreadsheet-damage', 'had no value']),
    ['A\u200bB', 'hidden-character', 'U+200B'],
    ['A\u00adB', 'hidden-character', 'U+00AD'],
    ['\u202eAB', 'hidden-character', 'U+202E'],
    ['A\ufffdB', 'replacement-character', 'original text'],
    ['Gro\u0308ße', 'not-normalized', 'NFC'],
  ])('%s', async (written = '', code = '', hint = '') => {
    for (const row of [`1,${written},1`, `${written},A,1`]) {
      const { orders } = await readText(table(row));
      expect(orders).toMatchObject([{ valid: false, problems: [{ line: 2, code }] }]);
      expect(await messagesOf(table(row))).toEqual([expect.stringContaining(hint)]);
    }
  });

  test.each(['NULL', '-', '?'])(
    '%s as a number puts the orders around it in doubt',
    async (nothing) => {
      const { orders } = await readText(
        table('1,A,1', `${nothing},B,2`, '2,C,3', `${nothing},D,4`, '3,E,5'),
      );
      expect(orders.map(({ valid }) => valid)).not.toContain(true);
    },
  );

  test.each(['12E5', '1-2', '10.10', '4711.5', '#12', 'A.0', '+49123', 'Größe', '=A1', '0012'])(
    'but not %s',
    async (written) => {
      expect(inShort((await readText(table(`1,${written},1`))).orders)).toEqual([
        order('1', item(written)),
      ]);
    },
  );
});

describe('a number or an article that can be read otherwise', () => {
  const odd = 'A–1';
  const object = { purchaseOrderNumber: '1', items: [item(odd)] };
  const xml = `<a><b purchaseOrderNumber="1" articleCode="${odd}" quantity="1"/></a>`;

  test.each([
    ['a table', table(`1,${odd},1`), '2 articleCode two-readings'],
    ['JSON', JSON.stringify([object]), '1 articleCode two-readings'],
    [
      'lines',
      `${JSON.stringify({ purchaseOrderNumber: '1', ...item(odd) })}\n`,
      '1 articleCode two-readings',
    ],
    ['XML', xml, '1 articleCode two-readings'],
  ])('is held in %s with both readings, unless the mapping allows it', async (_, text, problem) => {
    expect(inShort((await readText(text)).orders)).toEqual([{ 1: [problem] }]);
    expect((await messagesOf(text))[0]).toMatch(
      /^"A–1" can be the text as it is, or "A-1", because it contains U\+2013/,
    );
    const allowed = await readText(text, mappingOf({ otherReadings: 'allow' }));
    expect(inShort(allowed.orders)).toEqual([order('1', item(odd))]);
  });

  test('shows characters that cannot be seen', async () => {
    expect((await messagesOf(table('1,A\u00a01,1')))[0]).toContain(
      '"A\\u00a01" can be the text as it is, or "A 1"',
    );
    expect((await messagesOf(table('1,A,1\u200b2')))[0]).toContain(
      '"1\\u200b2" is not a plain number; it may mean 12',
    );
  });
});

test.each(['1 000', '1\u00a0000', '1\u202f000', '1\u2009000', "1'000", '1’000'])(
  '%j is a thousand',
  async (quantity) => {
    expect(inShort((await readText(table(`1,A,${quantity}`))).orders)).toEqual([
      order('1', item('A', 1000)),
    ]);
  },
);

test.each(['1\u3000000', '1_000', '1´000', '1٬000'])('%j is held', async (quantity) => {
  expect(inShort((await readText(table(`1,A,${quantity}`))).orders)).toEqual([
    { 1: ['2 quantity not-a-number'] },
  ]);
});

describe('rows that all end with a delimiter', () => {
  const lines = (...rows: string[]) => `${rows.join('\n')}\n`;

  test.each([
    ['one', lines(HEADER, '1,A,1,', '2,B,2,')],
    ['three', lines(HEADER, '1,A,1,,,', '2,B,2,,,')],
    ['one, also without a last line end', lines(HEADER, '1,A,1,', '2,B,2,').trimEnd()],
    ['one, with the header again', lines(HEADER, '1,A,1,', HEADER, '2,B,2,')],
    ['one, and a text that may be empty', lines(`${HEADER},text`, '1,A,1,,', '2,B,2,x,')],
    ['one, with semicolons', lines(`${HEADER},text`, '1,A,1,5,', '2,B,2,7,').replaceAll(',', ';')],
  ])('are read: %s', async (_, text) => {
    expect(inShort((await readText(text)).orders)).toEqual([
      order('1', item('A')),
      order('2', item('B', 2)),
    ]);
  });

  test('are held where the delimiter can be a decimal comma, or part of an article', async () => {
    const decimals = lines(`${HEADER},text`, '1,A,1,5,', '2,B,2,0,');
    const articles = lines('purchaseOrderNumber,quantity,articleCode,text', '1,5,A,B,', '2,5,C,D,');
    for (const text of [decimals, articles])
      expect((await readText(text)).orders.map(({ valid }) => valid)).toEqual([false, false]);
  });

  test('are held where only some do', async () => {
    const { orders } = await readText(lines(HEADER, '1,A,1,', '2,B,2', '3,C,3'));
    expect(orders.map(({ number, valid }) => [number, valid])).toEqual([
      ['1', false],
      ['2', false],
      ['3', true],
    ]);
  });
});

describe('a row in which an empty cell may have been deleted', () => {
  const of = (header: string, ...rows: string[]) => [header, ...rows, ''].join('\n');
  const sentOf = async (text: string) =>
    (await readText(text)).orders.flatMap((one) => (one.valid ? one.number : []));

  test.each([
    [
      'description',
      'purchaseOrderNumber,articleCode,description,quantity,price',
      ['A-1,Bolt,5,10', 'A-2,20,30,', 'A-3,,7,8'],
    ],
    [
      'pos',
      'purchaseOrderNumber,pos,articleCode,quantity,price',
      ['10,A-1,5,10', 'A-2,20,30,', '10,A-3,7,8'],
    ],
    [
      'supplier',
      'supplier,purchaseOrderNumber,articleCode,quantity,price',
      ['5,PCE', '6,PCE', '7,PCE'],
    ],
  ])('before its quantity is held with both readings: %s', async (name, header, rows) => {
    const lines =
      name === 'supplier'
        ? ['ACME,1,100,5,20', '2,200,30,9,', 'ACME,3,300,7,20']
        : rows.map((row, i) => `${i + 1},${row}`);
    const { orders } = await readText(of(header, ...lines));
    const held = orders.filter(({ valid }) => !valid);
    expect(orders.map(({ valid }) => valid)).toEqual([true, false, true]);
    expect(held).toMatchObject([{ place: { line: 3 }, problems: [{ code: 'two-readings' }] }]);
    expect(JSON.stringify(held)).toContain(`an empty cell is missing in column \\"${name}\\"`);
  });

  test.each([['zwölf'], ['1 dozen'], ['twelve']])(
    'is not one where only its quantity is %j: no cell has to be inserted',
    async (words) => {
      const header = 'purchaseOrderNumber,articleCode,quantity,remark';
      const { orders } = await readText(
        of(header, '1,A,5,urgent', `2,B,${words},`, '3,C,7,twice a week', '4,D,9,1 box'),
      );
      expect(
        orders.flatMap((one) =>
          one.valid ? [] : one.problems.map(({ line, code }) => [line, code]),
        ),
      ).toEqual([[3, 'not-a-number']]);
      const moved = await messagesOf(
        of(header, '1,A,5,urgent', '2,8,urgent,', '3,C,7,soon', '4,D,9,soon'),
      );
      expect(moved.join()).toContain('an empty cell is missing in column "articleCode"');
    },
  );

  test('names the fields of both readings', async () => {
    const text = of(
      'purchaseOrderNumber,articleCode,description,quantity,price',
      '1,A,Bolt,5,10',
      '2,B,20,30,',
      '3,C,Nut,7,12',
    );
    const [message = ''] = await messagesOf(text);
    expect(message).toContain('(purchaseOrderNumber "2", articleCode "B", quantity "30")');
    expect(message).toContain('(purchaseOrderNumber "2", articleCode "B", quantity "20")');
    expect(
      (await readText(text, mappingOf({ otherReadings: 'allow' }))).orders.map(
        ({ valid }) => valid,
      ),
    ).toEqual([true, true, true]);
  });

  test.each([
    ['the last value is missing', ['1,A,Bolt,5,10', '2,B,Nut,20,', '3,C,Screw,7,12']],
    ['the description is missing as well', ['1,A,Bolt,5,10', '2,B,,20,', '3,C,Screw,7,12']],
    ['no row has the last value', ['1,A,Bolt,5,', '2,B,20,30,', '3,C,Screw,7,']],
    [
      'a description is a number and the price is there',
      ['1,A,Bolt,5,10', '2,B,20,30,4', '3,C,Screw,7,12'],
    ],
    [
      'articles are numbers or texts',
      ['1,A,Bolt,5,10', '2,77,Nut,30,', '3,88,Screw,7,12', '4,D,Nut,7,12'],
    ],
  ])('is not one where %s', async (_, rows) => {
    const numbers = rows.map((row) => row.slice(0, 1));
    expect(
      await sentOf(of('purchaseOrderNumber,articleCode,description,quantity,price', ...rows)),
    ).toEqual(numbers);
  });

  test('is one of many: each is held', async () => {
    const rows = Array.from({ length: 40 }, (_, i) =>
      i % 15 === 3 ? `${i + 100},A-${i},${i + 1},30,` : `${i + 100},A-${i},Bolt,5,10`,
    );
    const { orders } = await readText(
      of('purchaseOrderNumber,articleCode,description,quantity,price', ...rows),
    );
    expect(orders.flatMap(({ number, valid }) => (valid ? [] : number))).toEqual([
      '103',
      '118',
      '133',
    ]);
  });
});

test.each([
  ['20261122', 'a date'],
  ['22112026', 'a date'],
  ['4006381333931', 'GTIN'],
  ['614141000036', 'GTIN'],
])('a quantity of %s can be %s: it is held, also in JSON', async (quantity, what) => {
  for (const text of [
    table(`1,A,${quantity}`),
    JSON.stringify([order('1', { articleCode: 'A', quantity })]),
  ]) {
    const { orders } = await readText(text);
    expect(orders).toMatchObject([{ valid: false, problems: [{ code: 'ambiguous-number' }] }]);
    expect(JSON.stringify(orders)).toContain(what);
    expect((await readText(text, mappingOf({ otherReadings: 'allow' }))).orders[0]?.valid).toBe(
      true,
    );
  }
});

test.each(['20261322', '20000000', '4006381333932', '12345678'])(
  'a quantity of %s is a number',
  async (quantity) => {
    expect((await readText(table(`1,A,${quantity}`))).orders[0]?.valid).toBe(true);
  },
);

describe('a row that may correct an earlier one of its order', () => {
  const of = (header: string, ...rows: string[]) => readText([header, ...rows, ''].join('\n'));

  test.each([
    [
      'has its position',
      'purchaseOrderNumber,pos,articleCode,quantity',
      ['1,10,A,5', '1,20,B,7', '1,10,A,6'],
    ],
    [
      'has another revision',
      'purchaseOrderNumber,articleCode,quantity,revision',
      ['1,A,5,1', '1,A,7,2'],
    ],
    ['is below another header', HEADER, ['1,A,5', HEADER, '1,A,7']],
    ['is below another order', HEADER, ['1,A,5', '2,A,5', '1,A,7']],
  ])('is held with it if it %s', async (_, header, rows) => {
    const { orders } = await of(header, ...rows);
    const held = orders.find(({ number }) => number === '1');
    expect(held).toMatchObject({ valid: false, problems: [{ code: 'repeated-row' }] });
    expect(JSON.stringify(held)).toContain('in every value but the quantity');
  });

  test.each([
    ['is next to it', HEADER, ['1,A,5', '1,A,3']],
    ['differs in another value', `${HEADER},date`, ['1,A,5,1 May', '2,A,5,1 May', '1,A,7,1 June']],
    [
      'has another position',
      'purchaseOrderNumber,pos,articleCode,quantity',
      ['1,10,A,5', '1,20,A,7'],
    ],
  ])('is another item if it %s', async (_, header, rows) => {
    expect((await of(header, ...rows)).orders.map(({ valid }) => valid)).not.toContain(false);
  });
});

describe('the heading of rows that repeat its number with fillDown', () => {
  const filled = (...rows: string[]) => readText(table(...rows), mappingOf({ fillDown: true }));

  test('is no item', async () => {
    const { orders } = await filled(
      '7,,',
      ',A,5',
      ',B,6',
      ',Summe,11',
      '8,,',
      ',C,7',
      ',Summe,7',
      'Total,,18',
    );
    expect(inShort(orders)).toEqual([
      order('7', item('A', 5), item('B', 6)),
      order('8', item('C', 7)),
    ]);
  });

  test.each([
    ['nothing is below it', ['7,,', '8,A,1']],
    ['the row below it has the number itself', ['7,,', '7,A,1']],
    ['it has a quantity', ['7,,11', ',A,5', ',B,6']],
    ['its number is a name', ['Supplier Bolt Ltd,,', ',A,1']],
    ['it is not at the top', ['7,A,1', '7,,', ',B,1']],
  ])('is held where %s', async (_, rows) => {
    expect((await filled(...rows)).orders[0]?.valid).toBe(false);
  });

  test('may be above a carried sum, which is no item', async () => {
    for (const label of ['Carried forward', 'Übertrag', 'Sum of order']) {
      const { orders } = await filled('7,A,5', `,${label},5`, '8,B,6');
      expect(inShort(orders)).toEqual([order('7', item('A', 5)), order('8', item('B', 6))]);
      expect((await filled('7,A,5', `,${label},9`)).orders[0]?.valid).toBe(false);
    }
  });
});

describe('numbers of one file', () => {
  test.each([
    ['in case', 'Po-1', 'PO-1'],
    ['in a blank', 'PO 1', 'PO1'],
    ['in leading zeros', '0045', '45'],
    ['in letters that look the same', 'РО-1', 'PO-1'],
    ['in a letter that looks like a digit', 'PO-1O1', 'PO-101'],
    ['in the letter that looks like one', 'PO-l1', 'PO-11'],
    ['in their separators', 'PO-1', 'PO1'],
    ['in one separator', '4711/1', '4711-1'],
    ['in a mark behind', 'PO-1*', 'PO-1'],
    ['in brackets', '(4711)', '4711'],
    ['in a word before', 'Nr. 4711', '4711'],
    ['in a word behind', 'PO-1', 'PO-1 (Kopie)'],
    ['in a revision', '4711', '4711 Rev. 2'],
  ])('that differ only %s are held, with both', async (_, first, second) => {
    const text = table(`${first},A,1`, '7,X,1', `${second},B,2`);
    const { orders } = await readText(text);
    expect(inShort(orders)).toEqual([
      { [first]: ['2 row-in-doubt'] },
      order('7', item('X')),
      { [second]: ['4 row-in-doubt'] },
    ]);
    expect((await messagesOf(text))[0]).toContain(
      `line 4 has the order number "${second}", which differs from "${first}"`,
    );
    const allowed = await readText(text, mappingOf({ otherReadings: 'allow' }));
    expect(allowed.orders.map(({ valid }) => valid)).toEqual([true, true, true]);
    const flat = JSON.stringify(
      [first, second].map((number) => ({ purchaseOrderNumber: number, ...item('A') })),
    );
    expect((await readText(flat)).orders.map(({ valid }) => valid)).toEqual([false, false]);
  });

  test.each([
    ['1-11', '11-1'],
    ['A-1-1', 'A-11'],
    ['PO-1', 'PO-1-1'],
    ['PO-1', 'PO-1 (2)'],
    ['OL-1', '01-1'],
  ])('that differ otherwise are sent: %s, %s', async (first, second) => {
    const { orders } = await readText(table(`${first},A,1`, `${second},B,2`));
    expect(orders.map(({ valid }) => valid)).toEqual([true, true]);
  });

  test.each(['""""', 'dito', '〃', '^'])(
    'that repeat the one above hold that order: %s',
    async (mark) => {
      const { orders } = await readText(table('1,A,1', `${mark},B,2`, `${mark},C,2`, '2,C,3'));
      expect(orders.map(({ valid }) => valid)).toEqual([false, false, true]);
      expect((await messagesOf(table('1,A,1', `${mark},B,2`)))[0]).toContain(
        'line 3 repeats the order number above it',
      );
    },
  );

  test('that only number the columns are held', async () => {
    const { orders } = await readText(table('1,2,3', 'PO-1,A,1', '1,2,4'));
    expect(inShort(orders)).toEqual([
      order('PO-1', item('A')),
      { 1: ['2 purchaseOrderNumber two-readings', '4 repeated-row'] },
    ]);
    expect((await messagesOf(table('1,2,3', '4,A,1')))[0]).toContain(
      'this row (1 2 3) can be an order, or only numbers the columns',
    );
  });

  test('that only number the columns are held in a table with more columns, also without other rows', async () => {
    const text = `${HEADER},text\n1,2,3,4\n`;
    expect(inShort((await readText(text)).orders)).toEqual([
      { 1: ['2 purchaseOrderNumber two-readings'] },
    ]);
    for (const settings of [{ otherReadings: 'allow' as const }, { skipRows: ['^1 2 3 4$'] }]) {
      const { orders } = await readText(text, mappingOf(settings));
      expect(orders.every(({ valid }) => valid)).toBe(true);
    }
  });

  test.each([
    ['it is the only row', table('1,2,3')],
    ['the others look the same', table('1,2,3', '2,2,8', '40,711,1')],
  ])('that could number three columns are sent with a warning where %s', async (_, text) => {
    const { orders, inspection } = await readText(text);
    expect(orders.every(({ valid }) => valid)).toBe(true);
    expect(inspection.warnings).toEqual([
      'Line 2 is read as an order. If it only numbers the columns, ask your operator. For your operator: name it in skipRows.',
    ]);
  });

  test('that number no columns are sent: objects have names', async () => {
    const objects = JSON.stringify([
      { purchaseOrderNumber: '1', articleCode: '2', quantity: 3 },
      { purchaseOrderNumber: 'PO-1', articleCode: 'A', quantity: 1 },
    ]);
    expect(inShort((await readText(objects)).orders)).toEqual([
      order('1', item('2', 3)),
      order('PO-1', item('A')),
    ]);
  });

  test('that may number the columns are sent when a person confirms them in the fix file', async () => {
    await using round = await openFixRound(
      table('1,2,3', 'PO-1,A,1'),
      {},
      (number) => number === 'PO-1',
    );
    const { text } = round.written();
    expect((await round.drops(text)).sent).toEqual([{ 1: ['2 purchaseOrderNumber two-readings'] }]);
    const confirmed = text.replace(/[^,\r\n]*(?=\r?\n$)/, CONFIRMED);
    expect((await round.drops(confirmed)).sent).toEqual([order('1', item('2', 3))]);
  });

  test.each(['END', 'EOF', 'TRL', 'Trailer', 'Records:', 'Number of records'])(
    'are not the label of a last row: %s',
    async (label) => {
      const { orders } = await readText(table('1,A,1', '2,B,2', `${label},2,3`));
      expect(orders.map(({ valid }) => valid)).toEqual([true, true, false]);
    },
  );

  test.each(['#2', '//2', '--2'])(
    'are held if they seem to be commented out: %s',
    async (number) => {
      const { orders } = await readText(table('1,A,1', `${number},B,2`, '3,C,3'));
      expect(inShort(orders)).toEqual([
        order('1', item('A')),
        { [number]: ['3 row-in-doubt'] },
        order('3', item('C', 3)),
      ]);
    },
  );

  test('are held with their order if one of its rows seems to be commented out', async () => {
    for (const text of [table('1,A,1', '#1,B,2', '2,C,1'), table('# 1,B,2', '2,C,1', '1,A,1')]) {
      const { orders } = await readText(text);
      expect(orders.filter(({ valid }) => valid).map(({ number }) => number)).toEqual(['2']);
    }
  });

  test('may all begin with a number sign', async () => {
    const { orders } = await readText(table('#1001,A,1', '#1002,B,2'));
    expect(inShort(orders)).toEqual([order('#1001', item('A')), order('#1002', item('B', 2))]);
  });
});

describe('a second table below an empty line', () => {
  test('is refused, with the line of its header', async () => {
    await expect(
      readText(table('1,A,1', '', 'article,name,stock', 'A,Foo,5')),
    ).rejects.toMatchObject({
      code: 'unreadable-header',
      facts: { line: 4 },
      message: expect.stringContaining('"article", "name", "stock"'),
    });
  });

  test('is refused below a title, too', async () => {
    const text = table('1,A,1', '', 'Items', 'articleCode,name,stock', 'A,Foo,5');
    await expect(readText(text)).rejects.toMatchObject({
      code: 'unreadable-header',
      facts: { line: 5 },
    });
  });

  test('is held if it is only text', async () => {
    const { orders } = await readText(table('1,A,1', '', 'Checked,by,Smith', 'Approved,by,Jones'));
    expect(orders.map(({ valid }) => valid)).toEqual([true, false, false]);
  });
});

test('the mark that DOS programs write at the end of a text is no row', async () => {
  const { orders } = await readText(`${table('1,A,1', '2,B,2')}\u001a`);
  expect(inShort(orders)).toEqual([order('1', item('A')), order('2', item('B', 2))]);
});

test.each([
  'A1, A2',
  '4711,4712',
  '4711;4712;4713',
  'A-1|A-2',
  'PO-100 / PO-101',
  'PO-1234 und PO-1235',
  '2x A1',
  'A1 (or A2)',
  'A1 bzw. A2',
  'A1 / neu: A2',
  '47111-47115',
  '4711 bis 4715',
  'A1 - urgent!',
  'A1 (bitte bestätigen)',
  'A1?',
  'siehe Mail',
  'nach Absprache',
  'e.g. 4500001',
  'Beispiel',
  '<number>',
  '[Order No.]',
  '<<PO>>',
  '~~A1~~',
  '{""code"":""A1""}',
  '=VLOOKUP(A2;Items!A:B;2)',
  '-4711',
  'A-1 and so…',
  'A-1...',
  '<b>A-1</b>',
  'A-1<br>A-2',
  'A%2D1',
  '..PART-1',
  'storniert',
  'A1 (deleted)',
])('an article or a number that may be several, or none, is held: %s', async (text) => {
  const cell = `"${text}"`;
  const { orders } = await readText(table(`${cell},A,1`, `PO-7,${cell},1`));
  expect(inShort(orders)).toEqual([
    { [text.replaceAll('""', '"')]: ['2 purchaseOrderNumber two-readings'] },
    { 'PO-7': ['3 articleCode two-readings'] },
  ]);
});

test.each([
  'M8x20, A2',
  '10;20',
  '12,34',
  'M8 / M10',
  '3x4 Kabel',
  'Stornokabel',
  'Schraube, M8',
  'A/B',
  'A+B',
  '2026-2031',
  '2026/2050',
  '2026/0001',
  '4711-4900',
  '10-12-14',
  'Bolt (M8 x 20)',
  'Cable 3 m or longer',
  'Testkabel',
  'TEST-1',
  '[A1]',
  'Sample set 3',
])('a name with separators is an article: %s', async (text) => {
  expect(inShort((await readText(table(`1,"${text}",1`))).orders)).toEqual([
    order('1', item(text)),
  ]);
});

test.each([
  ['Status', 'Cancelled'],
  ['Status', 'storniert'],
  ['Cancelled at', '2026-11-21 10:00'],
  ['LOEKZ', 'X'],
  ['isDeleted', 'TRUE'],
  ['Status', 'on hold'],
  ['payment status', 'refunded'],
  ['Status', 'Entwurf'],
  ['action', 'D'],
  ['type', 'Return'],
  ['Belegart', 'Retoure'],
  ['Transaction Type', 'Credit note'],
  ['documentType', 'CREDIT_NOTE'],
  ['documentType', 'PRO_FORMA'],
  ['Remarks', 'CANCELLED - do not order'],
  ['Bemerkung', 'ersetzt durch A-9'],
  ['note', 'please cancel'],
  ['note', 'Please do not send this'],
  ['Hinweis', 'nicht liefern!'],
  ['approved', 'FALSE'],
  ['Freigegeben', 'nein'],
  ['order?', 'no'],
  ['draft', 'true'],
  ['already ordered', 'x'],
  ['cancelled quantity', '2'],
  ['Stornierte Menge', '1'],
  ['open quantity', '0'],
  ['sign', '-'],
  ['optional', 'yes'],
  ['include', 'no'],
  ['superseded by', 'PO-9'],
  ['event type', 'OrderCancelled'],
  ['event', 'order.deleted'],
])('a row whose column %s says %s is held', async (column, value) => {
  const text = `${HEADER},${column}\n1,A,1,\n2,B,2,${value}\n`;
  const { orders } = await readText(text);
  expect(inShort(orders)).toEqual([order('1', item('A')), { 2: [`3 ${column} called-off`] }]);
  const allowed = await readText(text, mappingOf({ otherReadings: 'allow' }));
  expect(allowed.orders.map(({ valid }) => valid)).toEqual([true, true]);
});

test.each([
  ['Status', '0'],
  ['Status', 'partly shipped'],
  ['LOEKZ', 'no'],
  ['type', 'order'],
  ['price type', 'offer'],
  ['payment type', 'credit'],
  ['Remarks', 'the sample was cancelled'],
  ['Remarks', 'Please do not stack'],
  ['Remarks', 'do not deliver before 1 December'],
  ['Bemerkung', 'Bitte nicht knicken'],
  ['Hinweis', 'Storno möglich bis Montag'],
  ['approved', 'yes'],
  ['active', ''],
  ['draft', 'no'],
  ['unit', 'PCE'],
  ['unit', 'C62'],
  ['Einheit', '1 ST'],
  ['new quantity', '2'],
  ['new quantity', '2.0'],
  ['delivered quantity', '1'],
  ['items', '3'],
  ['cancelled quantity', '0'],
  ['open quantity', '2'],
  ['sign', '+'],
  ['event type', 'OrderCreated'],
  ['replacement article', 'B'],
  ['new item', 'yes'],
  ['factor', '1'],
])('a row whose column %s says %s is sent', async (column, value) => {
  const { orders } = await readText(`${HEADER},${column}\n2,B,2,${value}\n`);
  expect(inShort(orders)).toEqual([order('2', item('B', 2))]);
});

test.each([
  ['unit', 'DZ'],
  ['UoM', 'gross'],
  ['Mengeneinheit', '100 ST'],
  ['unit of measure', 'pack of 6'],
  ['new quantity', '7'],
  ['Korrigierte Menge', '0'],
  ['factor', '12'],
  ['Ersatzartikel', 'B-9'],
  ['new PO number', '3'],
])('a row whose column %s says %s may mean another value', async (column, value) => {
  const { orders } = await readText(`${HEADER},${column}\n1,A,1,\n2,B,2,${value}\n`);
  expect(inShort(orders)).toEqual([order('1', item('A')), { 2: [`3 ${column} other-value`] }]);
});

test('a list of items in a cell is held', async () => {
  const cell = '"[{""articleCode"":""B"",""quantity"":3}]"';
  expect(inShort((await readText(`${HEADER},items\n1,A,1,${cell}\n`)).orders)).toEqual([
    { 1: ['2 items nested'] },
  ]);
});
