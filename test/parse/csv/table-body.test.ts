import { describe, expect, test } from 'vitest';
import { inShort, mappingOf, readText, whyUnreadable } from '../../support/read-text.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';
const order = (purchaseOrderNumber: string, articleCode = 'A') => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: [{ articleCode, quantity: 1 }],
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

  test('a totals row that the mapping does not name is reported', async () => {
    const { orders } = await readText(`${HEADER}\n1,A,1\n,Total,1\n`);
    expect(orders.map(({ valid }) => valid)).toEqual([false, false]);
  });

  test('a table without a header is refused with its first line', async () => {
    expect(await whyUnreadable('\n1,A,1\n2,B,1\n')).toEqual({ code: 'unreadable-column-missing', line: 2 });
    expect(await whyUnreadable('x\n'.repeat(200))).toEqual({ code: 'unreadable-column-missing', line: 1 });
  });
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
