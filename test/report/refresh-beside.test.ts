import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closingsOf } from '../../src/order/dead-letter.ts';
import { layBeside, refreshBeside } from '../../src/report/beside.ts';
import { refreshReport } from '../../src/report/refresh-report.ts';
import { writeReport } from '../../src/report/write-report.ts';
import { AT, dead, done, inputOf, reportOf, rows } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let day: string;
let folder: string;
let settled: string;
let readSince: string;

const orders = [
  dead(rows(2, ['7', 'A', '1']), 'refused', '400', 'No'),
  dead(rows(3, ['8', 'A', '1']), 'refused', '400', 'No'),
  done(rows(4, ['9', 'A', '1'])),
];

beforeEach(async () => {
  temp = await makeTempFolder();
  readSince = '';
  day = join(temp.path, 'done', '2026-11-21');
  folder = join(temp.path, 'reports', '20261121T071500Z-inbox-orders-3f2a91c0');
  settled = join(day, 'orders.csv');
  await mkdir(day, { recursive: true });
  await writeFile(settled, 'the file as dropped');
  await writeReport(inputOf(folder, orders));
  await layBeside(settled, folder, { needsFix: true });
});
afterEach(() => temp[Symbol.asyncDispose]());

function close(open: number, ...numbers: string[]): Promise<void> {
  const how = {
    at: '2026-11-22T08:00:00.000Z',
    by: 'accepted',
    batch: '20261122T080000Z-inbox-orders-00000000',
  };
  const closings = closingsOf(numbers.map((number) => ({ number, ...how })));
  const isRead = async (_: string, sha256: string) => sha256 === sha256Of(readSince);
  return refreshBeside(settled, folder, () => refreshReport(folder, { open }, closings), {
    isRead,
  });
}

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

const beside = (name: string) => readFile(join(day, name), 'utf8');

it('copies lose settled orders, and the fix files are removed with the last one', async () => {
  await close(1, '7');
  expect(await beside('orders.csv.result.html')).toContain('<h1>1 of 3 orders needs you</h1>');
  expect(await beside('orders.csv.result.html')).toContain('href="orders.csv.fix.xlsx"');
  expect(await beside('orders.csv.fix.xlsx')).toBe(
    await readFile(join(folder, 'fix.xlsx'), 'utf8'),
  );
  await close(0, '7', '8');
  expect((await readdir(day)).sort()).toEqual(['orders.csv', 'orders.csv.result.html']);
  expect(await beside('orders.csv.result.html')).toContain('<h1>Nothing here needs you</h1>');
});

it('a newer report in the same inbox is linked from the page, and works from there', async () => {
  const newer = {
    folder: join(temp.path, 'reports', '20261122T080000Z-inbox-orders-00000000'),
    day: '2026-11-22',
  };
  const file = join(temp.path, 'done', newer.day, 'orders #1.fix.xlsx');
  await mkdir(dirname(file));
  await writeFile(file, 'the rows that came back');
  const report = { ...reportOf(orders), batch: basename(newer.folder) };
  await writeReport(inputOf(newer.folder, orders, { report }));
  await layBeside(file, newer.folder, { needsFix: true });
  const closings = closingsOf([
    {
      number: '7',
      at: AT,
      by: 'fixed',
      batch: report.batch,
      waitsIn: report.batch,
      file: basename(file),
    },
  ]);
  const refresh = () => refreshReport(folder, { open: 1 }, closings);
  await refreshBeside(settled, folder, refresh, { others: new Map([[report.batch, file]]) });
  const [, link = ''] =
    /Continue with the newer report.*?<a href="([^"]*)">/s.exec(
      await beside('orders.csv.result.html'),
    ) ?? [];
  expect(link).toBe('../2026-11-22/orders%20%231.fix.xlsx.result.html');
  expect(await readFile(join(day, decodeURIComponent(link)), 'utf8')).toContain(report.batch);
  const elsewhere = join(temp.path, 'other', 'done', newer.day, 'orders.csv');
  await refreshBeside(settled, folder, refresh, { others: new Map([[report.batch, elsewhere]]) });
  expect(await beside('orders.csv.result.html')).toContain(`<code>${report.batch}</code>`);
});

it('the page links its inbox, two folders above, and names another inbox by its path', async () => {
  for (const [inbox, shown] of [
    [temp.path, '<a href="../../">two folders above this page</a>'],
    ['/srv/other', '<code data-inbox>/srv/other</code>'],
  ] as const) {
    await writeReport(inputOf(folder, orders, { report: { ...reportOf(orders), inbox } }));
    await layBeside(settled, folder, { needsFix: true });
    expect(await beside('orders.csv.result.html')).toContain(
      `drop a copy into the inbox ${shown}.`,
    );
  }
});

it('a fix file that somebody changed there stays, and what is open is in another one, which the page links', async () => {
  await writeFile(join(day, 'orders.csv.fix.xlsx'), 'half corrected');
  await close(1, '7');
  expect(await beside('orders.csv.fix.xlsx')).toBe('half corrected');
  expect(await beside('orders.csv.fix-2.xlsx')).toBe(
    await readFile(join(folder, 'fix.xlsx'), 'utf8'),
  );
  expect(await beside('orders.csv.result.html')).toContain('href="orders.csv.fix-2.xlsx"');
  expect(await beside('orders.csv.result.html')).not.toContain('href="orders.csv.fix.xlsx"');
  await close(0, '7', '8');
  expect((await readdir(day)).filter((name) => name.includes('.fix'))).toEqual([
    'orders.csv.fix.xlsx',
  ]);
  expect(await beside('orders.csv.fix.xlsx')).toBe('half corrected');
  expect(await beside('orders.csv.result.html')).toContain('<h1>Nothing here needs you</h1>');
});

it('a changed fix file that a batch has read gets the open rows, and is removed with the last one', async () => {
  await writeFile(join(day, 'orders.csv.fix.xlsx'), 'half corrected');
  await close(1, '7');
  readSince = 'half corrected';
  await close(1, '7');
  expect(await beside('orders.csv.fix.xlsx')).toBe(
    await readFile(join(folder, 'fix.xlsx'), 'utf8'),
  );
  expect(await beside('orders.csv.result.html')).toContain('href="orders.csv.fix.xlsx"');
  await writeFile(join(day, 'orders.csv.fix.xlsx'), 'half corrected');
  await close(0, '7', '8');
  expect((await readdir(day)).sort()).toEqual(['orders.csv', 'orders.csv.result.html']);
});

it('a settled file with the name of a fix file is not taken for a copy', async () => {
  await writeFile(join(day, 'orders.csv.fix.xlsx'), 'half corrected');
  await writeFile(join(day, 'orders.csv.fix.xlsx.result.html'), '<html>its page</html>');
  readSince = 'half corrected';
  await close(1, '7');
  await close(0, '7', '8');
  expect((await readdir(day)).filter((name) => name.includes('.fix'))).toEqual([
    'orders.csv.fix.xlsx',
    'orders.csv.fix.xlsx.result.html',
  ]);
});

it('a fix file that was moved into the inbox is there again while its page says that orders are open', async () => {
  await rm(join(day, 'orders.csv.fix.xlsx'));
  await close(1, '7');
  expect(await beside('orders.csv.fix.xlsx')).toBe(
    await readFile(join(folder, 'fix.xlsx'), 'utf8'),
  );
});

it('the page of another batch is left alone, and the own page is found', async () => {
  await writeFile(join(day, 'orders.csv.result-2.html'), await beside('orders.csv.result.html'));
  await writeFile(join(day, 'orders.csv.result.html'), '<html>somebody else</html>');
  await close(1, '7');
  expect(await beside('orders.csv.result.html')).toBe('<html>somebody else</html>');
  expect(await beside('orders.csv.result-2.html')).toContain('1 of 3 orders needs you');
});

it('copies that somebody removed do not come back', async () => {
  for (const copy of ['fix.xlsx', 'result.html']) await rm(join(day, `orders.csv.${copy}`));
  await close(1, '7');
  expect(await readdir(day)).toEqual(['orders.csv']);
  await rm(day, { recursive: true });
  await close(0, '7', '8');
  expect(await readdir(join(temp.path, 'done'))).toEqual([]);
  expect(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'))).toMatchObject({
    open: 0,
  });
});
