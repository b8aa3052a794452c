import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import { readSheet, type Sheet, writeSheet } from '../support/fix-workbook.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';

// What people do with fix.xlsx, and what becomes of it.

const MAPPING = `mappings:
  erp:
    encoding: windows-1252
    columns:
      PO: { is: purchaseOrderNumber }
      Article: { is: articleCode }
      Pieces: { is: quantity }
      Note: ignore
      Größe: ignore
  objects:
    items: items
    columns:
      PO: { is: purchaseOrderNumber }
      buyer: ignore
      items.Article: { is: articleCode }
      items.Pieces: { is: quantity }
      items.note: ignore
`;
const SOURCE =
  '- { name: inbox, type: inbox, path: inbox, mapping: [erp, objects], stable: 100ms, poll: 200ms }';

/** One article is refused, whoever orders it. */
const FAULTS = { faults: [{ kind: 'answer', status: 400, articles: ['GONE'] }] };

/** A good order, one with two rows of which one is wrong, one that is refused, and a row with a wrong quantity. */
const FILE = `PO,Article,Pieces,Note
PO-1,BOLT,1,
PO-2,NUT,two,0012
PO-2,NUT-8,3,
PO-3,GONE,4,
PO-4,BOLT,many,
`;

const CORRECTED: Record<string, Record<string, string>> = {
  'PO-2 NUT': { Pieces: '2', Note: '12' },
  'PO-3 GONE': { Article: 'BOLT' },
  'PO-4 BOLT': { Pieces: '5' },
};

async function openCase(): Promise<{ place: Workplace; report: Report; sheet: Sheet }> {
  const place = await openWorkplace({
    more: MAPPING,
    source: SOURCE,
    faults: FAULTS,
    sandbox: { record: true },
  });
  await place.drop('orders.csv', FILE);
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  const [report] = await place.reportsNow();
  if (report === undefined) throw new Error('no report');
  const sheet = await readSheet(path.join(place.reports, report.batch, 'fix.xlsx'));
  return { place, report, sheet };
}

describe('fix.xlsx', () => {
  it('has the rows of what needs a person, with what is wrong and an id', async () => {
    const { place, report, sheet } = await openCase();
    await using _ = place;
    expect(sheet.header).toEqual(['PO', 'Article', 'Pieces', 'Note', '_problem', '_do', '_id']);
    expect(sheet.rows).toMatchObject([
      {
        PO: 'PO-2',
        Article: 'NUT',
        Pieces: 'two',
        Note: '0012',
        _do: '',
        _id: `${report.batch}-1.1@1`,
      },
      {
        PO: 'PO-2',
        Article: 'NUT-8',
        _problem: 'part of order PO-2',
        _id: `${report.batch}-1.2@1`,
      },
      { PO: 'PO-3', Article: 'GONE', _id: `${report.batch}-2.1@1` },
      { PO: 'PO-4', Article: 'BOLT', _id: `${report.batch}-3.1@1` },
    ]);
    expect(sheet.rows[0]?.['_problem']).toMatch(/^Pieces is not a number/);
  });

  it('comes back corrected: each order is sent once, and a cell that was not marked is restored', async () => {
    const { place, report, sheet } = await openCase();
    await using _ = place;
    const rows = sheet.rows.map((row) => ({
      ...row,
      ...CORRECTED[`${row['PO']} ${row['Article']}`],
    }));
    await place.drop('fixed.xlsx', await writeSheet({ ...sheet, rows }));
    await place.run(['start', '--once']);
    const [first, second] = await place.reportsNow();
    expect([...place.stored().keys()].sort()).toEqual(['PO-1', 'PO-2', 'PO-3', 'PO-4']);
    const corrections = { taken: 3, restored: 1, unchanged: 0, outdated: 0, discarded: 0 };
    expect(second).toMatchObject({ state: 'finished', isFixFile: true, corrections });
    expect(first).toMatchObject({ batch: report.batch, open: 0 });
    expect(second?.warnings.join('\n')).toMatch(/Note: "12" was "0012"/);
    expect([...place.stored().values()].every((times) => times === 1)).toBe(true);
  });
});

/** The place of a batch, its workbook, and what the API stored before. */
async function openWith(
  name: string,
  content: string | Buffer,
  faults: readonly object[] = [],
): Promise<Opened> {
  const place = await openWorkplace({
    more: MAPPING,
    source: SOURCE,
    faults: { faults },
    sandbox: { record: true },
  });
  await place.drop(name, content);
  await place.run(['start', '--once']);
  const [report] = await place.reportsNow();
  if (report === undefined) throw new Error('no report');
  const file = path.join(place.reports, report.batch, 'fix.xlsx');
  const now = async () =>
    (await place.reportsNow()).map(({ corrections, open }) => ({ corrections, open }));
  return { place, report, sheet: await readSheet(file), now };
}

type Opened = {
  place: Workplace;
  report: Report;
  sheet: Sheet;
  now(): Promise<unknown[]>;
};

const fixed = (sheet: Sheet, change: (row: Record<string, string>) => Record<string, string>) =>
  writeSheet({ ...sheet, rows: sheet.rows.map((row) => ({ ...row, ...change(row) })) });

describe('open/', () => {
  it('has what several files left, and one copy of its workbook corrects all of it', async () => {
    const { place } = await openWith('a.csv', 'PO,Article,Pieces\nPO-1,BOLT,many\n');
    await using _ = place;
    const folder = path.join(place.inbox, 'open');
    const page = () => readFile(path.join(folder, 'open.html'), 'utf8');
    await place.drop('b.csv', 'PO,Article,Pieces\nPO-2,BOLT,some\nPO-3,BOLT,none\n');
    await place.run(['start', '--once']);
    expect(await page()).toContain('3 orders need a person');
    const before = await Promise.all(
      (await place.reportsNow()).map((one) => place.read(one, 'report.html')),
    );
    const sheet = await readSheet(path.join(folder, 'fix.xlsx'));
    const numbers = sheet.rows.map((row) => row['PO']);
    expect(numbers).toEqual(['PO-1', 'PO-2', 'PO-3']);
    expect(await readSheet(path.join(place.reports, 'open', 'fix.xlsx'))).toEqual(sheet);

    const book = await fixed(sheet, ({ PO }) =>
      PO === 'PO-3' ? { _do: 'discard' } : { Pieces: '5' },
    );
    await place.drop('fixed.xlsx', book);
    await place.run(['start', '--once']);
    expect(place.stored()).toEqual(
      new Map([
        ['PO-1', 1],
        ['PO-2', 1],
      ]),
    );
    const reports = await place.reportsNow();
    expect(reports.at(-1)).toMatchObject({
      counts: { orders: 2, accepted: 2 },
      corrections: { taken: 2, discarded: 1 },
    });
    expect(reports.map(({ open }) => open)).toEqual([0, 0, 0]);
    expect(await page()).toContain('Nothing needs a person');
    expect(
      await Promise.all(reports.slice(0, 2).map((one) => place.read(one, 'report.html'))),
    ).toEqual(before);
  });

  it('has a sheet for each form of file, and a copy corrects one of them at a time', async () => {
    const { place } = await openWith('a.csv', 'PO,Article,Pieces\nPO-1,BOLT,many\n');
    await using _ = place;
    await place.drop('b.csv', 'PO,Article,Pieces,Note\nPO-2,BOLT,some,x\n');
    await place.run(['start', '--once']);
    const all = path.join(place.inbox, 'open', 'fix.xlsx');
    await place.drop('same.xlsx', await readFile(all));
    await place.run(['start', '--once']);
    const { corrections } = (await place.reportsNow()).at(-1) ?? {};
    expect(corrections).toMatchObject({ taken: 0, unchanged: 2 });
  });
});

describe('several workbooks, or none', () => {
  it('a correction whose daemon was stopped continues where it was', async () => {
    const { place, sheet, now } = await openWith('orders.csv', FILE.replace('GONE', 'WASHER'));
    await using _ = place;
    await place.setFaults([{ kind: 'answer', status: 503 }]);
    const fix = await fixed(sheet, ({ Pieces = '' }) => (/\d/.test(Pieces) ? {} : { Pieces: '5' }));
    await place.drop('fixed.xlsx', fix);
    const first = place.start(['start']);
    await until('orders that wait', async () => {
      const { queue } = await place.json('status');
      return queue.unsettledOrders === 2;
    });
    first.child.kill('SIGTERM');
    await first.ended;
    await place.setFaults([]);
    await place.run(['start', '--once']);
    expect(place.stored()).toEqual(
      new Map(['PO-1', 'PO-2', 'PO-3', 'PO-4'].map((one) => [one, 1])),
    );
    expect(await now()).toMatchObject([{ open: 0 }, { open: 0, corrections: { taken: 2 } }]);
  });

  it('a row without a number joins the order that it is given, and its neighbor is sent', async () => {
    const rows = 'PO,Article,Pieces\nPO-1,BOLT,1\n,NUT,2\nPO-2,WASHER,3\n';
    const { place, sheet, now } = await openWith('orders.csv', rows);
    await using _ = place;
    expect(sheet.rows).toHaveLength(3);
    await place.drop(
      'fixed.xlsx',
      await fixed(sheet, (row) => (row['PO'] === '' ? { PO: 'PO-1' } : {})),
    );
    await place.run(['start', '--once']);
    expect(place.stored()).toEqual(new Map(['PO-1', 'PO-2'].map((one) => [one, 1])));
    expect(await now()).toMatchObject([{ open: 0 }, { corrections: { taken: 3 }, open: 0 }]);
    const stored = place.events.flatMap((one) => (one.type === 'stored' ? [one] : []));
    expect(stored).toHaveLength(2);
  });

  it('the own file, corrected, settles its orders without any workbook', async () => {
    const rows = 'PO,Article,Pieces\nPO-1,BOLT,many\nPO-2,NUT,2\n';
    const { place, now } = await openWith('orders.csv', rows);
    await using _ = place;
    await place.drop('orders.csv', rows.replace('many', '5'));
    await place.run(['start', '--once']);
    expect(place.stored()).toEqual(new Map(['PO-1', 'PO-2'].map((one) => [one, 1])));
    expect(await now()).toMatchObject([{ open: 0 }, { open: 0 }]);
    // As it was before it was corrected.
    await place.drop('orders.csv', rows);
    expect((await place.run(['start', '--once'])).code).toBe(0);
    const again = (await place.reportsNow()).at(-1);
    expect(again).toMatchObject({ open: 0, counts: { duplicate: 2 } });
  });

  it.each(['csv', 'without ids'])('a workbook is not read as orders: %s', async (how) => {
    const { place, sheet } = await openWith('orders.csv', 'PO,Article,Pieces\nPO-1,BOLT,many\n');
    await using _ = place;
    const rows = sheet.rows.map((row): Record<string, string> => ({ ...row, Pieces: '5' }));
    const header = how === 'csv' ? sheet.header : sheet.header.filter((name) => name !== '_id');
    const text = [header, ...rows.map((row) => header.map((name) => row[name] ?? ''))];
    const file =
      how === 'csv'
        ? text.map((cells) => `${cells.map((cell) => `"${cell}"`).join()}\n`).join('')
        : await writeSheet({ header, rows });
    await place.drop(how === 'csv' ? 'fix.csv' : 'fix.xlsx', file);
    await place.run(['start', '--once']);
    expect(place.stored().size).toBe(0);
    expect((await place.reportsNow())[1]).toMatchObject({
      state: 'unreadable',
      error: { code: 'unreadable-fix-columns' },
    });
  });
});

describe('orders that are objects', () => {
  const orders = [
    {
      PO: 'PO-1',
      buyer: { name: 'Ann' },
      items: [
        { Article: 'BOLT', Pieces: 'two' },
        { Article: 'NUT', Pieces: 1.5 },
      ],
    },
    { PO: '', items: [{ Article: 'WASHER', Pieces: 3, note: '007' }] },
    { PO: 'PO-3', items: [{ Article: 'NUT' }] },
  ];

  it('have one row for each item, and come back as they were', async () => {
    const { place, sheet, now } = await openWith('orders.json', JSON.stringify(orders));
    await using _ = place;
    expect(sheet.rows).toMatchObject([
      { PO: '', 'items.Article': 'WASHER', 'items.note': '007' },
      { PO: 'PO-1', 'buyer.name': 'Ann', 'items.Article': 'BOLT', 'items.Pieces': 'two' },
      { PO: 'PO-1', 'items.Article': 'NUT', 'items.Pieces': '1.5' },
      { PO: 'PO-3', 'items.Article': 'NUT', 'items.Pieces': '' },
    ]);
    const fix = await fixed(sheet, (row) => {
      if (row['PO'] === '') return { PO: 'PO-2', 'items.note': '7' };
      if (row['items.Pieces'] === '1.5') return { 'items.Pieces': '2' };
      return { 'items.Pieces': '4' };
    });
    await place.drop('fixed.xlsx', fix);
    await place.run(['start', '--once']);
    expect(place.stored()).toEqual(new Map(['PO-1', 'PO-2', 'PO-3'].map((one) => [one, 1])));
    expect(await now()).toMatchObject([
      { open: 0 },
      { corrections: { taken: 3, restored: 1 }, open: 0 },
    ]);
  });
});

describe('the rows of every format come back in a workbook', () => {
  const header = ['PO', 'Article', 'Pieces', 'Größe'];
  const table = [
    header,
    ['PO-1', 'BOLT', 'two', 'XL'],
    ['PO-1', 'NUT-8', '3', 'ü'],
    ['PO-2', 'NUT', '1', ''],
  ];
  const csv = table.map((cells) => `${cells.join(';')}\r\n`).join('');
  const xml = `<orders>${table
    .slice(1)
    .map(
      ([po, article, pieces]) =>
        `<order><PO>${po}</PO><Article>${article}</Article><Pieces>${pieces}</Pieces></order>`,
    )
    .join('')}</orders>`;

  it.each<[string, () => Buffer | Promise<Buffer>]>([
    ['orders.csv.gz', () => gzipSync(Buffer.from(csv, 'latin1'))],
    ['orders.xlsx', () => writeWorkbook(textRows(table))],
    ['orders.xml', () => Buffer.from(xml)],
  ])('%s', async (name, content) => {
    const { place, sheet, now } = await openWith(name, await content());
    await using _ = place;
    expect(sheet.rows).toMatchObject([
      { PO: 'PO-1', Article: 'BOLT', Pieces: 'two' },
      { PO: 'PO-1', Article: 'NUT-8', Pieces: '3' },
    ]);
    const fix = await fixed(sheet, ({ Pieces, Article }) => ({
      Pieces: Pieces === 'two' ? '2' : (Pieces ?? ''),
      Article: Article ?? '',
    }));
    await place.drop('fixed.xlsx', fix);
    await place.run(['start', '--once']);
    expect(Object.fromEntries(place.stored())).toMatchObject({ 'PO-1': 1 });
    expect((await now())[0]).toMatchObject({ open: 0 });
  });
});
