import { describe, expect, test } from 'vitest';
import { skipRowsFor } from '../../../src/parse/csv/total-rows.ts';
import { fixMapping } from '../../../src/parse/read-fix-file.ts';
import { inShort, mappingOf, readText, whyUnreadable } from '../../support/read-text.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';
const order = (purchaseOrderNumber: string, articleCode = 'A') => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: [{ articleCode, quantity: 1 }],
});

test('names of columns may be wrapped, or contain characters that nobody sees', async () => {
  const text =
    '"purchase\nOrder\r\nNumber","Unit\nprice",\ufeffarticleCode,quan\u200btity\n1,2,A,1\n';
  expect(inShort((await readText(text)).orders)).toEqual([order('1')]);
  const nul = `${HEADER},a\u0000b\n`;
  await expect(readText(nul)).rejects.toMatchObject({ remedy: 'Enter the name again without it.' });
});

test('a column that is missing is reported in the line that has the others', async () => {
  const text = 'Orders of week 48\n\npurchaseOrderNumber,articleCode,Amount\n1,A,1\n';
  await expect(readText(text)).rejects.toMatchObject({
    message: expect.stringMatching(
      /^Missing columns in line 3: quantity.* It has "purchaseOrderNumber", "articleCode", "Amount"\.$/,
    ),
  });
});

describe('rows of a list that are not data', () => {
  test('are titles, separator lines, repeated headers and blank rows: they are skipped and counted', async () => {
    const rows = [
      'Purchase orders',
      'of 21 November',
      '',
      '-----',
      HEADER,
      '=====,===,===',
      '1,A,1',
      HEADER,
      '2,A,1',
      ',,',
      '',
    ];
    const { orders, inspection } = await readText(rows.join('\n'));
    expect(inShort(orders)).toEqual([order('1'), order('2')]);
    expect(orders.map(({ place }) => place.line)).toEqual([7, 9]);
    expect(inspection.warnings).toEqual([
      '3 rows above the header were skipped.',
      'One row without any value was skipped.',
      'One repeated header was skipped.',
      'One separator line was skipped.',
    ]);
  });

  test('include those that the mapping names', async () => {
    const text = `x\n${HEADER}\nEnd,B,2\n${HEADER}\n1,A,1\nTotal,,1\n`;
    const mapping = mappingOf({ headerRow: 4, skipRows: ['^Total'] });
    const { orders, inspection } = await readText(text, mapping);
    expect(inShort(orders)).toEqual([order('1')]);
    expect(inspection.warnings).toEqual([
      '3 rows above the header were skipped.',
      'One row that matches skipRows was skipped.',
    ]);
  });

  test('include those with a value of skipWhere, and the rest of their order is sent', async () => {
    const text = `${HEADER},Status\n1,A,1,RELEASED\n2,A,1, DRAFT \n3,A,1,released\n3,B,1,DRAFT\n4,A,1,Draft\n5,A,1\n6,A,1,DRAFT,""\n`;
    const mapping = mappingOf({ skipWhere: { status: ['DRAFT', 'on hold'], stage: 'X' } });
    const { orders, inspection } = await readText(text, mapping);
    // The comparison is exact, and a row with too few or too many cells is never skipped.
    expect(inShort(orders)).toEqual([
      order('1'),
      order('3'),
      { 4: ['6 Status called-off', expect.stringContaining('row-in-doubt')] },
      { 5: ['7 too-few-fields', '7 row-in-doubt'] },
      { 6: ['8 too-many-fields'] },
    ]);
    expect(inspection.warnings).toEqual([
      '2 rows that match skipWhere were skipped.',
      'skipWhere names "stage", which this file does not have, or has more than once.',
      'Only some rows of these orders were skipped, and the others count as the complete order: "3".',
    ]);
  });

  test('get a pattern only where it begins with the label, never with the number of an order', () => {
    const labels = ['Summe 750 Positionen', '** Total: 7', 'PO-1 Ergebnis', 'Total'];
    expect(labels.map(skipRowsFor)).toEqual([
      'skipRows: ["^Summe"]',
      'skipRows: ["^[* ]+Total"]',
      'skipRows',
      'skipRows: ["^Total"]',
    ]);
  });

  test('include those without a value of onlyWhere; an empty cell repeats that of its order', async () => {
    const text = `${HEADER},Status\n1,A,1,90\n1,B,1,\n2,A,1, OFFEN \n2,B,1,\n,C,1,\n3,A,1,\n4,A,1,offen\n5,A,1,OFFEN\n5,B,1,90\n6,A,1\n7,A,1,NEU\n`;
    const mapping = mappingOf({
      onlyWhere: { status: ['OFFEN', 'NEU'] },
      skipWhere: { STATUS: 'NEU' },
      fillDown: true,
    });
    const { orders, inspection } = await readText(text, mapping);
    expect(inShort(orders)).toEqual([
      {
        ...order('2'),
        items: ['A', 'B', 'C'].map((articleCode) => ({ articleCode, quantity: 1 })),
      },
      { 5: ['9 row-in-doubt'] },
      { 6: ['11 too-few-fields'] },
    ]);
    expect(inspection.warnings).toEqual([
      'One row that matches skipWhere was skipped.',
      '5 rows without a value of onlyWhere were skipped: "90" 2, (empty) 2, "offen" 1.',
      'Only some rows of these orders were skipped, and the others count as the complete order: "5".',
    ]);
  });

  test('are all of a table whose columns lack the one of onlyWhere, or have it twice', async () => {
    const mapping = mappingOf({ onlyWhere: { Status: 'OFFEN' } });
    for (const names of ['State', 'Status,status'])
      await expect(
        readText(`${HEADER},${names}\n1,A,1,OFFEN,OFFEN\n1,A,1,OFFEN\n`, mapping),
      ).rejects.toMatchObject({
        code: 'unreadable-column-missing',
        message: expect.stringMatching(
          /^onlyWhere in the mapping names "Status", .* Line 1 has "purchaseOrderNumber", /,
        ),
        remedy: expect.stringContaining('Correct the name in the file'),
      });
  });

  test('are read where a fix file has them: a person decided about them', () => {
    const mapping = mappingOf({
      skipRows: ['^Total'],
      skipWhere: { status: 'DRAFT' },
      onlyWhere: { status: 'OPEN' },
    });
    expect(fixMapping(mapping)).toMatchObject({ skipRows: [], skipWhere: {}, onlyWhere: {} });
  });

  test('a separator line, a page title and a header on each page of a list do not become rows', async () => {
    const page = (...rows: string[]) => [HEADER, '-----,-----,-----', ...rows, '-----,-----,-----'];
    const text = [...page('1,A,1', '2,B,1'), ...page('2,C,1', '3,D,1'), ''].join('\n');
    const { orders } = await readText(text);
    expect(orders.map(({ number, valid, records }) => [number, valid, records.length])).toEqual([
      ['1', true, 1],
      ['2', true, 2],
      ['3', true, 1],
    ]);
  });

  test.each([
    ['articleCode,purchaseOrderNumber,quantity', ''],
    ['articleCode,purchaseOrderNumber,quantity', '\n'],
    ['quantity,articleCode,purchaseOrderNumber', ''],
    ['Purchase Order Number,quantity,Article Code', ''],
  ])(
    'a second header with other columns, %s, is refused with both headers',
    async (second, gap) => {
      const text = `${HEADER}\n1,7,2\n${gap}${second}\n7,2,3\n`;
      const line = gap === '' ? 3 : 4;
      expect(await whyUnreadable(text)).toMatchObject({ code: 'unreadable-header', line });
      const shown = second.split(',').map((name) => JSON.stringify(name));
      const message = `Line ${line} is a second header, with the columns ${shown.join(', ')}; the header on line 1 has`;
      await expect(readText(text)).rejects.toThrow(message);
    },
  );

  test('a second header is found without a column for the quantity too', async () => {
    const text = 'purchaseOrderNumber,articleCode\n1,7\narticleCode,purchaseOrderNumber\n7,2\n';
    const mapping = mappingOf({ defaults: { quantity: '1' } });
    await expect(readText(text, mapping)).rejects.toThrow('Line 3 is a second header');
  });

  test('a table without a header is refused with its first line', async () => {
    expect(await whyUnreadable('\n1,A,1\n2,B,1\n')).toEqual({
      code: 'unreadable-column-missing',
      line: 2,
    });
    expect(await whyUnreadable('x\n'.repeat(200))).toEqual({
      code: 'unreadable-column-missing',
      line: 1,
    });
  });
});

describe('a totals row', () => {
  /** What is sent, and the codes of the rest; the rows have an amount in the last column. */
  async function read(rows: readonly string[], settings: Parameters<typeof mappingOf>[0] = {}) {
    const text = [`${HEADER},amount`, ...rows, ''].join('\n');
    const { orders, inspection } = await readText(text, mappingOf(settings));
    const sent = orders.flatMap((one) =>
      one.valid
        ? [`${one.number} ${JSON.stringify(one.order.items.map((item) => item.articleCode))}`]
        : [],
    );
    const held = orders.flatMap((one) =>
      one.valid ? [] : one.problems.map(({ line, code }) => `${line} ${code}`),
    );
    return { sent, held, warnings: inspection.warnings };
  }

  test.each([
    ['a label for a number', ['1,A,1,5', '2,B,2,5', 'Total,,3,10']],
    [
      'a label with the number of its group',
      ['1,A,1,5', '1 Ergebnis,,1,5', '2,B,2,5', 'Gesamtergebnis,,3,10'],
    ],
    ['a label for an article', ['1,A,1,5', '2,B,2,5', ',Summe:,3,10']],
    ['no label', ['1,A,1,5', '2,B,2,5', ',,3,10']],
    [
      'the sum of the rows since the last one',
      ['1,A,1,5', 'Sous-total,,1,5', '2,B,2,5', 'Sous-total,,2,5'],
    ],
    ['an ambiguous sum', ['1,A,1,5', '2,B,999,5', 'Total,,"1,000",10']],
    ['stars', ['1,A,1,5', '*,A,7,5', '2,B,2,5', '**,,12,10']],
  ])('that has %s and the sum of the rows above it is skipped with a warning', async (_, rows) => {
    const { sent, held, warnings } = await read(rows);
    expect(held).toEqual([]);
    expect(sent).toEqual(['1 ["A"]', '2 ["B"]']);
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /totals rows? \(marked with stars, or the sum of the rows above, as far as it can be checked\) (?:was|were) skipped/,
      ),
    );
  });

  test.each([
    [
      ['1,A,1,5', '2,B,2,5', 'Total,,3,10'],
      /^One totals row \(.*\) was skipped: line 4 \("Total", "3", "10"\)\.$/,
    ],
    [
      ['1,A,1,5', '*,,1,5', '2,B,2,5', '*,,2,5', '**,,3,10', '***,,3,10'],
      /^4 totals rows \(.*\) were skipped: line 3 \("\*", "1", "5"\), line 5 \(.*\), line 6 \("\*\*", "3", "10"\) and 1 more\.$/,
    ],
  ])(
    'that is skipped is named with its line and what it contains, the first three of several',
    async (rows, warning) => {
      expect((await read(rows)).warnings).toEqual([expect.stringMatching(warning)]);
    },
  );

  test.each([
    ['a sum of other rows', ['1,A,1,5', 'Total,,9,10'], ['1 ["A"]'], ['3 total-row']],
    ['an article', ['1,A,1,5', 'Total,3 rows,1,5'], ['1 ["A"]'], ['3 total-row']],
    ['a text', ['1,A,1,5', ',,1,five'], [], ['2 row-in-doubt', '3 missing', '3 missing']],
    [
      'no label and the sum of one row',
      ['1,A,1,5', ',,1,5'],
      [],
      ['2 row-in-doubt', '3 missing', '3 missing'],
    ],
    ['the number of an order', ['1,A,1,5', '1,Total,1,5', '2,B,1,5'], ['2 ["B"]'], ['3 total-row']],
    [
      'the number of an order and no article',
      ['1,A,1,5', '1,B,1,5', '1,,2,5', '2,B,1,5'],
      ['2 ["B"]'],
      ['4 missing'],
    ],
    [
      'the number of its group as a label',
      ['1,A,1,5', '1,Summe 1,1,5', '2,B,1,5'],
      ['2 ["B"]'],
      ['3 total-row'],
    ],
  ])('that has %s is held with its line', async (_, rows, sent, held) => {
    expect(await read(rows)).toEqual({ sent, held, warnings: [] });
  });

  test.each([
    ['skipWhere', { skipWhere: { amount: '90' } }, 'Total,,6,'],
    [
      'skipWhere, for each group',
      { skipWhere: { amount: '90' } },
      'Total,,2,\n2,B,3,10\n2,C,1,90\nTotal,,4,',
    ],
    ['onlyWhere', { onlyWhere: { amount: ['10', '6'] } }, 'Total,,6,6'],
  ])('also counts the rows that the mapping leaves out by %s', async (_, settings, total) => {
    const rows = total.includes('\n')
      ? ['1,A,1,10', '1,B,1,90', total]
      : ['1,A,1,10', '2,B,3,10', '2,C,2,90', total];
    const { sent, held, warnings } = await read(rows, settings);
    expect({ sent, held }).toEqual({ sent: ['1 ["A"]', '2 ["B"]'], held: [] });
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /totals rows? \(marked with stars, or the sum of the rows above, as far as it can be checked\) (?:was|were) skipped/,
      ),
    );
  });

  describe('below a quantity that is not readable', () => {
    const below = (...rows: string[]) => read(['3,C,twelve,5', '1,A,1,5', '2,B,2,5', ...rows]);

    test.each([
      ['a label for a number and a larger sum', 'Summe,,15,15'],
      ['a label further right and a larger sum', ',,15,Total'],
      ['a label for an article and the sum of what is readable', ',Summe,3,15'],
      ['the sum of what is readable', 'Gesamt,,3,15'],
    ])('that has %s is skipped', async (_, row) => {
      const { sent, held, warnings } = await below(row);
      expect({ sent, held }).toEqual({ sent: ['1 ["A"]', '2 ["B"]'], held: ['2 not-a-number'] });
      expect(warnings).toContainEqual(expect.stringMatching(/totals row .*was skipped/));
    });

    test.each([
      ['no label', ',,15,15', ['4 row-in-doubt', '5 missing', '5 missing']],
      [
        'no label and the sum of what is readable',
        ',,3,15',
        ['4 row-in-doubt', '5 missing', '5 missing'],
      ],
      [
        'a larger sum and a label that can be an article',
        ',Total,15,15',
        ['4 row-in-doubt', '5 total-row'],
      ],
      ['the label of an end and a larger sum', ',,15,End', ['4 row-in-doubt', '5 total-row']],
      ['a smaller sum', ',,2,Total', ['4 row-in-doubt', '5 total-row']],
      ['an article and a label further right', ',X,15,Total', ['4 row-in-doubt', '5 missing']],
    ])('that has %s holds the order beside it', async (_, row, held) => {
      expect(await below(row)).toEqual({
        sent: ['1 ["A"]'],
        held: ['2 not-a-number', ...held],
        warnings: [],
      });
    });

    test('needs the exact sum of a group that is readable, and proves nothing for an article with one readable row, or with none', async () => {
      const group = ['Summe,,15,15', '4,D,4,5', '5,E,1,5', ',Summe,6,5'];
      expect((await below(...group)).held).toEqual([
        '2 not-a-number',
        '7 row-in-doubt',
        '8 total-row',
      ]);
      const ofOne = await read(['1,A,twelve,5', '2,B,2,5', ',Total,2,5']);
      expect(ofOne.held).toEqual(['2 not-a-number', '3 row-in-doubt', '4 total-row']);
      expect((await read(['1,A,twelve,5', ',,12,Total'])).held).toEqual([
        '2 not-a-number',
        '2 row-in-doubt',
        '3 total-row',
      ]);
    });
  });

  describe('below a quantity that can be read in two ways', () => {
    const below = (total: string, more = '1,C,1.000,5') =>
      read([more, '1,A,11,5', '2,B,22,5', `Total,,${total},10`]);

    test.each(['34', '1033', '33'])(
      'that is %s, the sum with one of the readings or without it, is skipped',
      async (total) => {
        const { held, warnings } = await below(total);
        expect(held).toEqual(['2 ambiguous-number']);
        expect(warnings).toContainEqual(expect.stringMatching(/totals row .*was skipped/));
      },
    );

    test('of which there are only such, that is the sum with one reading is skipped', async () => {
      const rows = (total: string) => read(['1,A,1.000,5', '2,B,2.000,5', `Total,,${total},10`]);
      expect((await rows('3.000')).held).toEqual(['2 ambiguous-number', '3 ambiguous-number']);
      expect((await rows('3')).held).toEqual(['2 ambiguous-number', '3 ambiguous-number']);
      expect((await rows('4')).held).toHaveLength(3);
    });

    test('that is the sum with none of the readings is held, unless another quantity is not readable', async () => {
      expect((await below('60')).held).toEqual(['2 ambiguous-number', '5 total-row']);
      expect((await below('60', '1,C,1.000,5\n3,D,twelve,5')).held).toEqual([
        '3 not-a-number',
        '2 ambiguous-number',
      ]);
    });
  });

  test('that sums only the rows that are kept is skipped, too', async () => {
    const { held } = await read(['1,A,1,10', '2,B,3,10', '2,C,2,90', 'Total,,4,'], {
      skipWhere: { amount: '90' },
    });
    expect(held).toEqual([]);
  });

  test('that a blank number repeats the one above for is not an item', async () => {
    expect(
      await read(['1,A,1,5', ',B,2,5', ',Total,4,5', '2,C,1,5'], { fillDown: true }),
    ).toMatchObject({
      sent: ['2 ["C"]'],
      held: ['4 total-row'],
    });
    expect(
      await read(['1,A,1,5', ',B,2,5', ',Total,3,5', '2,C,1,5'], { fillDown: true }),
    ).toMatchObject({
      sent: ['1 ["A","B"]', '2 ["C"]'],
    });
  });

  test('is an order or an item where the mapping says so', async () => {
    const { sent } = await read(['Total 7,A,1,5', '2,Total,1,5'], { totalRows: 'allow' });
    expect(sent).toEqual(['Total 7 ["A"]', '2 ["Total"]']);
  });
});

test('rows that are equal in every column are two items where the mapping says so', async () => {
  const { orders } = await readText(
    `${HEADER}\n1,A,1\n2,B,1\n1,A,1\n`,
    mappingOf({ repeatedRows: 'allow' }),
  );
  expect(orders.map(({ number, valid, records }) => [number, valid, records.length])).toEqual([
    ['2', true, 1],
    ['1', true, 2],
  ]);
});

test('a row that is equal to another one of its order in every column is held', async () => {
  const { orders } = await readText(`${HEADER}\n1,A,1\n2,B,1\n1,A,1\n3,C,1\n3,C,2\n`);
  expect(orders.map(({ number, valid }) => [number, valid])).toEqual([
    ['2', true],
    ['3', true],
    ['1', false],
  ]);
  expect(orders[2]).toMatchObject({
    problems: [{ line: 4, code: 'repeated-row', message: expect.stringContaining('line 2') }],
  });
});

describe('further orders or items beside those that are read', () => {
  const headerFault = { code: 'unreadable-header', line: 2 };

  test.each([
    ['without names', `${HEADER},,,,\n4500012345,A,1,,4500012346,B,2\n`],
    [
      'beyond a column without a name',
      `${HEADER},,PO,Article,Qty\n4500012345,A,1,,4500012346,B,2\n`,
    ],
    ['with numbered names', `${HEADER},articleCode2,quantity 2\n1,A,1,B,2\n`],
    ['with names that a program numbered', `${HEADER},articleCode.1,quantity.1\n1,A,1,B,2\n`],
  ])('make the file unreadable: %s', async (_, text) => {
    expect(await whyUnreadable(text)).toMatchObject(headerFault);
  });

  test.each([
    `${HEADER},,,\n4500012345,A,1,EA,20261121,\n`,
    `${HEADER},,,,\n4500012345,A,1,,4500012346,note,\n`,
    `${HEADER},articleCode2,quantity2\n4500012345,A,1,,\n`,
    `${HEADER},quantity2,price2\n4500012345,A,1,5,7\n`,
    `${HEADER},,Delivery,Plant,Place\n4500012345,A,1,EA,4500012346,B,2\n`,
  ])('are not in %j', async (text) => {
    expect(inShort((await readText(text)).orders)).toEqual([order('4500012345')]);
  });

  test('are none where the mapping allows other readings', async () => {
    const mapping = mappingOf({ otherReadings: 'allow' });
    for (const columns of [
      ',Delivery,Plant,Place\n4500012345,A,1,,4500012346,B,2',
      'articleCode2,quantity2\n4500012345,A,1,B,2',
    ]) {
      const { orders } = await readText(`${HEADER},${columns}\n`, mapping);
      expect(inShort(orders)).toEqual([order('4500012345')]);
    }
  });
});

test('a further header with other names makes the file unreadable, also without a gap above it', async () => {
  const text = `${HEADER}\n1,A,1\nBestellnummer,Menge,Artikel\n2,6,7000\n`;
  expect(await whyUnreadable(text)).toMatchObject({ code: 'unreadable-header', line: 3 });
  const { orders } = await readText(`${HEADER}\n1,A,1\nPO-X7,B,many\n2,A,1\n`);
  expect(inShort(orders)).toEqual([
    order('1'),
    { 'PO-X7': ['3 quantity not-a-number'] },
    order('2'),
  ]);
});

describe('files that were joined', () => {
  const other = HEADER.replaceAll(',', ';');

  test.each([
    ['a header with another delimiter above', `${other}\n1;A;1\n${HEADER}\n1,B,1\n2,A,1\n`, 1],
    ['a header with another delimiter below', `${HEADER}\n1,A,1\n2,A,1\n${other}\n1;B;1\n`, 4],
    ['rows without a header above', `1,A,1\n${HEADER}\n1,B,1\n`, 1],
    ['rows with a header of other names above', `Order,Item,Qty\n1,A,1\n${HEADER}\n1,B,1\n`, 2],
  ])('are refused for %s', async (_, text, line) => {
    expect(await whyUnreadable(text)).toEqual({ code: 'unreadable-header', line });
  });

  test('are read from the header that the mapping names', async () => {
    const { orders } = await readText(`1,A,1\n${HEADER}\n2,A,1\n`, mappingOf({ headerRow: 2 }));
    expect(inShort(orders)).toEqual([order('2')]);
  });

  test('hold the orders that have rows with another delimiter', async () => {
    const { orders } = await readText(`${HEADER}\n1,A,1\n2,A,1\n3,A,1\n4;A;1\n1;B;1\n`);
    expect(inShort(orders).slice(0, 3)).toEqual([
      { 1: ['2 row-in-doubt'] },
      order('2'),
      { 3: ['4 row-in-doubt'] },
    ]);
  });

  test('are not seen in titles with numbers', async () => {
    const { orders } = await readText(
      `Orders of,21.11.2026,\nPage 1;of 7;\n,Plant,1000\n${HEADER}\n1,A,1\n`,
    );
    expect(inShort(orders)).toEqual([order('1')]);
  });
});
