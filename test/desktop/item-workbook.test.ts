import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openOperator } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { finishedReport, sheet } from '../support/week.ts';
import { openWorkplace } from '../support/workplace.ts';
import { openSpreadsheet } from './spreadsheet.ts';

it('a spreadsheet opens the list of accepted items as it was sent, and adds its quantities up', async () => {
  await using place = await openWorkplace();
  const person = await openOperator(place, place.start(['start']));
  await place.drop('week.csv', sheet('PO-1,NEW,"0815",7', 'PO-1,NEW,1-2,12', '=1+1,NEW,12E5,3'));
  await finishedReport(place, 'week.csv');
  const workbook = await until('the download', async () => {
    const reply = await fetch(`http://127.0.0.1:${person.port}/items.xlsx`, {
      headers: { cookie: person.cookie, connection: 'close' },
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    return reply.headers.get('content-type')?.includes('spreadsheetml') && bytes;
  });
  const file = (name: string) => path.join(place.folder, name);
  await writeFile(file('items.xlsx'), workbook);
  await writeFile(file('items.csv'), '');
  await using office = await openSpreadsheet('en-US');
  await office.edit({
    open: file('items.xlsx'),
    as: { delimiter: ';', encoding: 'utf-8' },
    type: [],
    after: [{ do: 'type', column: 2, row: 4, text: '=SUM(C2:C4)' }],
    save: file('saved.csv'),
  });
  const rows = (await readFile(file('saved.csv'), 'utf8'))
    .split('\n')
    .map((line) => line.split(';').slice(0, 3));
  expect(
    rows
      .slice(1, 5)
      .map((cells) => cells.join(' '))
      .sort(),
  ).toEqual(['  22', '=1+1 12E5 3', 'PO-1 0815 7', 'PO-1 1-2 12']);
});
