import { link, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { layBeside } from '../../src/report/beside.ts';
import { fixNameFor } from '../../src/report/fix-copies.ts';
import { besideName } from '../../src/report/place-file.ts';
import { writeReport } from '../../src/report/write-report.ts';
import { dead, done, inputOf, reportOf, rows } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let day: string;
let folder: string;
const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';

beforeEach(async () => {
  temp = await makeTempFolder();
  day = join(temp.path, 'done', '2026-11-21');
  folder = join(temp.path, 'reports', BATCH);
  await mkdir(day, { recursive: true });
});
afterEach(() => temp[Symbol.asyncDispose]());

const refused = [dead(rows(2, ['7', 'A', '1']), 'refused', '400', 'Parameters are invalid')];
const accepted = [done(rows(2, ['7', 'A', '1']))];

async function settle(name: string, orders = refused): Promise<void> {
  const { needsFix } = await writeReport(inputOf(folder, orders));
  await writeFile(join(day, name), 'the file as dropped');
  await layBeside(join(day, name), folder, { needsFix });
}

it('page and fix file are put next to the settled file', async () => {
  await settle('orders.csv');
  expect((await readdir(day)).sort()).toEqual([
    'orders.csv',
    'orders.csv.fix.xlsx',
    'orders.csv.result.html',
  ]);
  expect(await readFile(join(day, 'orders.csv.fix.xlsx'))).toEqual(
    await readFile(join(folder, 'fix.xlsx')),
  );
});

it('the fix file of a fix file that came back has the next number, not a longer name', async () => {
  await settle('orders.csv.fix.xlsx');
  await settle('other.csv.fix2.xlsx');
  await settle('prefix.csv');
  const names = (await readdir(day)).filter((name) => !name.endsWith('.html')).sort();
  expect(names).toEqual(
    [
      'orders.csv.fix.xlsx',
      'orders.csv.fix2.xlsx',
      'other.csv.fix2.xlsx',
      'other.csv.fix3.xlsx',
      'prefix.csv',
      'prefix.csv.fix.xlsx',
    ].sort(),
  );
  const files = ['orders.csv.fix.xlsx', 'other.csv.fix2.xlsx', 'prefix.csv'];
  expect(names).toEqual(expect.arrayContaining(files.map((file) => fixNameFor(join(day, file)))));
  const page = await readFile(join(day, 'other.csv.fix2.xlsx.result.html'), 'utf8');
  expect(page).toContain('href="other.csv.fix3.xlsx"');
});

it('without open dead letters only the page is put there', async () => {
  await settle('orders.csv', accepted);
  expect((await readdir(day)).sort()).toEqual(['orders.csv', 'orders.csv.result.html']);
});

it('the page links the files next to it and names the path of the others', async () => {
  await settle('Aufträge #1 & "neu".csv');
  const page = await readFile(join(day, 'Aufträge #1 & "neu".csv.result.html'), 'utf8');
  expect(page).toContain('href="Auftr%C3%A4ge%20%231%20%26%20%22neu%22.csv.fix.xlsx"');
  expect(page).toContain('>Aufträge #1 &amp; &quot;neu&quot;.csv.fix.xlsx</a>');
  expect(page).toContain(`<code>reports/${BATCH}/results.csv</code>`);
  expect(page).not.toContain('href="fix.xlsx"');
});

it('a second call changes nothing', async () => {
  await settle('orders.csv');
  const before = await readdir(day);
  await settle('orders.csv');
  expect(await readdir(day)).toEqual(before);
});

it('the page is replaced when the report changed', async () => {
  await settle('orders.csv');
  await settle('orders.csv', accepted);
  const page = await readFile(join(day, 'orders.csv.result.html'), 'utf8');
  expect(page).toContain('The order was accepted');
  expect(await readdir(day)).not.toContain('orders.csv.result-2.html');
});

it('a file of somebody else is never replaced', async () => {
  await writeFile(join(day, 'orders.csv.fix.xlsx'), 'corrected by hand');
  await writeFile(join(day, 'orders.csv.result.html'), 'of another batch');
  await mkdir(join(day, 'orders.csv.fix-2.xlsx'));
  await settle('orders.csv');
  expect(await readFile(join(day, 'orders.csv.fix.xlsx'), 'utf8')).toBe('corrected by hand');
  expect(await readFile(join(day, 'orders.csv.result.html'), 'utf8')).toBe('of another batch');
  expect(await readFile(join(day, 'orders.csv.result-2.html'), 'utf8')).toContain(
    'orders.csv.fix-3.xlsx',
  );
  expect(await readdir(day)).toContain('orders.csv.fix-3.xlsx');
});

it('a corrected fix file that settled under its own name stays', async () => {
  await settle('orders.csv');
  const fix = join(day, 'orders.csv.fix.xlsx');
  await rename(fix, join(temp.path, 'dropped'));
  await writeFile(join(temp.path, 'dropped'), 'fixed');
  await link(join(temp.path, 'dropped'), fix);
  await settle('orders.csv');
  expect(await readFile(fix, 'utf8')).toBe('fixed');
});

it('files with the longest possible names get unique names next to them', async () => {
  const long = `${'ä'.repeat(125)}1.csv`;
  const longer = `${'ä'.repeat(125)}2.csv`;
  expect(Buffer.byteLength(long)).toBe(255);
  await settle(long);
  folder = join(temp.path, 'reports', BATCH.replace('3f2a91c0', '00000000'));
  const report = reportOf(refused, { batch: BATCH.replace('3f2a91c0', '00000000') });
  await writeReport(inputOf(folder, refused, { report }));
  await layBeside(join(day, longer), folder, { needsFix: true });
  const laid = (await readdir(day)).filter((name) => name !== long);
  expect(laid).toHaveLength(4);
  expect(
    laid.filter((name) => /~[0-9a-f]{8}\.(?:fix\.xlsx|result\.html)$/.test(name)),
  ).toHaveLength(4);
});

it('names are cut between characters', () => {
  const name = besideName('𝒳'.repeat(63), '.result.html', 12);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name.isWellFormed()).toBe(true);
  expect(name).toMatch(/𝒳~[0-9a-f]{8}\.result-12\.html$/u);
});

it('a folder that is gone is reported, and no draft stays', async () => {
  const { needsFix } = await writeReport(inputOf(folder, refused));
  const settled = join(temp.path, 'gone', 'orders.csv');
  await expect(layBeside(settled, folder, { needsFix })).rejects.toMatchObject({
    code: 'report-not-written',
    facts: { path: settled, reason: 'ENOENT' },
  });
});

it('nothing is put next to a settled file whose folder was replaced by a link', async () => {
  const { needsFix } = await writeReport(inputOf(folder, refused));
  const elsewhere = join(temp.path, 'elsewhere');
  await mkdir(join(elsewhere, '2026-11-21'), { recursive: true });
  await rename(join(temp.path, 'done'), join(temp.path, 'moved'));
  await symlink(elsewhere, join(temp.path, 'done'));
  await expect(layBeside(join(day, 'orders.csv'), folder, { needsFix })).rejects.toMatchObject({
    code: 'folder-is-link',
  });
  expect(await readdir(join(elsewhere, '2026-11-21'))).toEqual([]);
});
