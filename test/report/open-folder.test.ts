import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { sentence } from '../../src/order/sentence.ts';
import { type OpenState, writeOpen } from '../../src/report/open-folder.ts';
import { readSheet } from '../support/fix-workbook.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const AT = Date.UTC(2026, 10, 21, 7, 15);
const ON = { at: AT, fence: async () => undefined };

const letter = (number: string, quantity: string): DeadLetter => ({
  id: '20261121T071500Z-inbox-orders-3f2a91c0-0',
  revision: 1,
  purchaseOrderNumber: number,
  kind: 'refused',
  code: '400',
  message: sentence('unknown <article>'),
  signature: 's',
  attempts: 1,
  firstAt: '2026-11-21T07:15:00.000Z',
  lastAt: '2026-11-21T07:15:00.000Z',
  location: { line: 2 },
  rows: [{ row: 1, line: 2, cells: { PO: number, Pieces: quantity } }],
});

const order = (number: string): OpenState['facts']['orders'][number] => ({
  number,
  kind: 'refused',
  message: sentence('unknown <article>'),
  batch: 'b',
  file: 'orders.csv',
  line: 2,
  at: '2026-11-21T07:15:00.000Z',
  again: false,
});

function stateOf(...numbers: string[]): OpenState {
  const letters = numbers.map((number) => letter(number, '1'));
  return {
    facts: {
      environment: 'staging',
      inbox: '/srv/inbox',
      total: numbers.length,
      orders: numbers.map(order),
      files: [],
      left: [],
    },
    sheets:
      letters.length > 0 ? [{ letters: () => letters, shape: { header: ['PO', 'Pieces'] } }] : [],
    booked: letters.length,
  };
}

it('shows the orders and has their rows in a workbook, until nothing is open', async () => {
  await using place = await makeTempFolder();
  const open = path.join(place.path, 'open');
  const page = () => readFile(path.join(open, 'open.html'), 'utf8');
  expect(await writeOpen(place.path, stateOf('PO-1', 'PO-2'), ON)).toBe(true);
  expect(await page()).toContain('2 orders need a person');
  expect(await page()).toContain('unknown &lt;article&gt;');
  const { rows } = await readSheet(path.join(open, 'fix.xlsx'));
  expect(rows.map((row) => row['PO'])).toEqual(['PO-1', 'PO-2']);
  await writeOpen(place.path, stateOf(), ON);
  expect(await page()).toContain('Nothing needs a person');
  expect(await readdir(open)).toEqual(['open.html']);
});

it.each(['~$fix.xlsx', '.~lock.fix.xlsx#'])(
  'a workbook that a spreadsheet has open (%s) keeps its state, which the page says',
  async (mark) => {
    await using place = await makeTempFolder();
    const open = path.join(place.path, 'open');
    await writeOpen(place.path, stateOf('PO-1'), ON);
    const before = await readFile(path.join(open, 'fix.xlsx'));
    await writeFile(path.join(open, mark), '');
    expect(await writeOpen(place.path, stateOf('PO-2', 'PO-3'), ON)).toBe(false);
    expect(await readFile(path.join(open, 'fix.xlsx'))).toEqual(before);
    expect(await readFile(path.join(open, 'open.html'), 'utf8')).toContain(
      'A spreadsheet has <code>fix.xlsx</code> open',
    );
    await rm(path.join(open, mark));
    expect(await writeOpen(place.path, stateOf('PO-2', 'PO-3'), ON)).toBe(true);
    expect(await readFile(path.join(open, 'fix.xlsx'))).not.toEqual(before);
  },
);

it('names what waits and what was not taken, and who must act', async () => {
  await using place = await makeTempFolder();
  const { facts, ...none } = stateOf();
  const since = '2026-11-21T07:15:00.000Z';
  const file = { batch: 'b', source: 'inbox', since };
  const files = [
    { ...file, file: 'new.csv', state: 'waiting: it lacks "MENGE"', who: 'person' as const },
    { ...file, file: 'good.csv', state: 'in progress', who: 'nobody' as const },
  ];
  const left = [{ source: 'inbox', file: 'list.pdf', reason: 'not taken: other name' }];
  await writeOpen(place.path, { ...none, facts: { ...facts, files, left } }, ON);
  const page = await readFile(path.join(place.path, 'open', 'open.html'), 'utf8');
  expect(page).toContain('2 files need a person');
  expect(page).toMatch(/new\.csv.*it lacks.*<b>a person<\/b>.*good\.csv.*continues automatically/s);
  expect(page).toContain('list.pdf');
});
