import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';
import { textRows, writeWorkbooks } from '../support/write-workbook.ts';

const HEADER = ['Order', 'State', 'Article', 'Pieces'];
const MORE = `mappings:
  sheet:
    sheet: Orders
    fields: { purchaseOrderNumber: Order, orderState: State, articleCode: Article, quantity: Pieces }
`;

describe('a workbook in an inbox', () => {
  it('becomes orders, a report, a fix file that can come back, and ends in done/', async () => {
    const number = (value: number, format?: string) => ({
      type: Number,
      value,
      ...(format !== undefined && { format }),
    });
    const text = (value: string) => ({ type: String, value });
    const book = await writeWorkbooks([
      { sheet: 'Notes', data: textRows([['not this one']]) },
      {
        sheet: 'Orders',
        data: [
          ...textRows([HEADER]),
          [text('00123'), text('NEW'), text('BOLT'), number(5)],
          [number(77, '00000'), text('NEW'), number(4711), number(2)],
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
    expect(Object.fromEntries(place.stored())).toEqual({ '00077': 1, '00123': 1 });
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
        ['3', '00077', 'accepted'],
        ['2', '00123', 'accepted'],
        ['6', '125', 'invalid'],
      ]),
    );
    const [day = ''] = await readdir(path.join(place.inbox, 'done'));
    const settled = await readdir(path.join(place.inbox, 'done', day));
    expect(settled).toEqual(
      expect.arrayContaining(['orders.xlsx', 'orders.xlsx.fix.csv', 'orders.xlsx.result.html']),
    );

    const fix = await place.read(report, 'dead-letters.csv');
    await place.drop('mended.csv', fix.replace('some', '3'));
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(place.stored().get('125')).toBe(1);
    expect(await place.reportsNow()).toMatchObject([{ open: 0 }, { counts: { accepted: 1 } }]);
  });

  it('whose mapping has the decimal comma gets a fix file that spreadsheets with that sign open in columns', async () => {
    await using place = await openWorkplace({
      more: MORE.replace('sheet: Orders', 'decimal: ","'),
      source:
        '- { name: inbox, type: inbox, path: inbox, mapping: sheet, stable: 100ms, poll: 200ms }',
    });
    const rows = [
      HEADER,
      ['123', 'NEW', 'BOLT', 'one'],
      ['123', 'NEW', 'NUT, M8', '2,0'],
      ['124', 'NEW', 'NUT', ''],
    ];
    await place.drop(
      'orders.xlsx',
      await writeWorkbooks([{ sheet: 'Orders', data: textRows(rows) }]),
    );
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    const [report] = await place.reportsNow();
    if (report === undefined) throw new Error('no report');
    expect(report).toMatchObject({ format: { type: 'xlsx', decimal: ',' }, open: 2 });
    const fix = await place.read(report, 'dead-letters.csv');
    expect(fix).toContain('Order;State;Article;Pieces;_error_line;');
    expect(fix).toContain('123;NEW;NUT, M8;2,0;');

    // The workbook is made of it, and the form of the dashboard reads it.
    const workbook = path.join(place.reports, report.batch, 'dead-letters.xlsx');
    const { files } = JSON.parse((await place.run(['check', workbook, '--json'])).out);
    expect(files).toMatchObject([
      { orders: 2, invalid: 2, format: { type: 'xlsx', decimal: ',' } },
    ]);
    const running = place.start(['start']);
    const person = await openOperator(place, running);
    await until('the form', async () => {
      return (await person.page(`/dead-letters/${report.batch}~line%202`)).text.includes(
        'value="NUT, M8"',
      );
    });
    await place.drop(
      'fixed.csv',
      fix.replace('BOLT;one', 'BOLT;3').replace('124;NEW;NUT;', '124;NEW;NUT;4'),
    );
    await until('the end', async () => {
      const [first, second] = await place.reportsNow();
      return first?.open === 0 && second?.counts.accepted === 2;
    });
    running.child.kill('SIGTERM');
    await running.ended;
    expect(Object.fromEntries(place.stored())).toEqual({ 123: 1, 124: 1 });
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
