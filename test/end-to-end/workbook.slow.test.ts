import { describe, expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';

import { textRows, writeWorkbooks } from '../support/write-workbook.ts';

const HEADER = ['Order', 'State', 'Article', 'Pieces'];
const MORE = `mappings:
  sheet:
    sheet: Orders
    columns:
      Order: { is: purchaseOrderNumber }
      State: { is: orderState }
      Article: { is: articleCode }
      Pieces: { is: quantity }
`;

describe('a workbook in an inbox', () => {
  it('becomes orders, a report, a fix file that can come back, and ends in done/', async () => {
    const number = (value: number) => ({ type: Number, value });
    const text = (value: string) => ({ type: String, value });
    const book = await writeWorkbooks([
      { sheet: 'Notes', data: textRows([['not this one']]) },
      {
        sheet: 'Orders',
        data: [
          ...textRows([HEADER]),
          [text('00123'), text('NEW'), text('BOLT'), number(5)],
          [number(77), text('NEW'), number(4711), number(2)],
          [text('00123'), text('NEW'), text('NUT'), text('7')],
          [],
          [text('125'), text('NEW'), text('NUT'), text('some')],
        ],
      },
    ]);
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: inbox, type: inbox, path: inbox, mapping: sheet, stable: 100ms, poll: 200ms }',
    });
    await place.drop('orders.xlsx', book);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect(Object.fromEntries(place.stored())).toEqual({ '00123': 1, '77': 1 });
    const [report] = await place.reportsNow();
    if (report === undefined) throw new Error('no report');
    expect(report).toMatchObject({
      state: 'finished',
      file: 'orders.xlsx',
      format: { type: 'xlsx' },
      counts: { records: 4, orders: 3, accepted: 2, invalid: 1 },
    });
    expect(
      (await place.read(report, 'results.csv'))
        .replaceAll('"', '')
        .split(/\r?\n/)
        .map((row) => row.split(',').slice(0, 3)),
    ).toEqual(
      expect.arrayContaining([
        ['3', '77', 'accepted'],
        ['2', '00123', 'accepted'],
        ['6', '125', 'invalid'],
      ]),
    );
    const fix = await place.read(report, 'fix.xlsx');
    await place.drop('mended.csv', fix.replace('some', '3'));
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(place.stored().get('125')).toBe(1);
    expect(await place.reportsNow()).toMatchObject([{ open: 0 }, { counts: { accepted: 1 } }]);
  });

  it('that is beyond the limit is put aside and reported, and the others continue', async () => {
    await using place = await openWorkplace();
    await place.drop(
      'large.xlsx',
      Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(33 * 1024 * 1024)]),
    );
    await place.drop('orders.csv', 'purchaseOrderNumber,articleCode,quantity\n1,A,1\n');
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect([...place.stored()]).toEqual([['1', 1]]);
    const unreadable = (await place.reportsNow()).find(({ state }) => state === 'unreadable');
    expect(unreadable).toMatchObject({
      file: 'large.xlsx',
      error: { code: 'unreadable-too-large' },
    });
  });
});
