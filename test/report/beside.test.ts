import { link, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FileShape } from '../../src/order/record.ts';
import { layBeside } from '../../src/report/beside.ts';
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

async function settle(name: string, orders = refused, shape?: FileShape): Promise<void> {
  const { needsFix } = await writeReport(inputOf(folder, orders, shape ? { shape } : {}));
  await writeFile(join(day, name), 'the file as dropped');
  await layBeside(join(day, name), folder, { needsFix });
}

it('lays page and fix file beside the settled file', async () => {
  await settle('orders.csv');
  expect((await readdir(day)).sort()).toEqual(['orders.csv', 'orders.csv.fix.csv', 'orders.csv.result.html']);
  expect(await readFile(join(day, 'orders.csv.fix.csv'))).toEqual(await readFile(join(folder, 'dead-letters.csv')));
});

it('lays the page alone when nothing needs a person', async () => {
  await settle('orders.csv', accepted);
  expect((await readdir(day)).sort()).toEqual(['orders.csv', 'orders.csv.result.html']);
});

it.each(['json', 'ndjson'] as const)('keeps the form of %s in the fix file’s name', async (type) => {
  const object = { kind: 'object' as const, place: { line: 1 }, value: { id: '7' } };
  await settle(`orders.${type}`, [dead([object], 'refused', '400', 'No')], { format: { type } });
  expect(await readdir(day)).toContain(`orders.${type}.fix.${type}`);
});

it('links what lies beside it and names the place of the rest', async () => {
  await settle('Aufträge #1 & "neu".csv');
  const page = await readFile(join(day, 'Aufträge #1 & "neu".csv.result.html'), 'utf8');
  expect(page).toContain('href="Auftr%C3%A4ge%20%231%20%26%20%22neu%22.csv.fix.csv"');
  expect(page).toContain('>Aufträge #1 &amp; &quot;neu&quot;.csv.fix.csv</a>');
  expect(page).toContain(`<code>reports/${BATCH}/results.csv</code>`);
  expect(page).not.toContain('href="dead-letters.csv"');
});

it('changes nothing when it is called once more', async () => {
  await settle('orders.csv');
  const before = await readdir(day);
  await settle('orders.csv');
  expect(await readdir(day)).toEqual(before);
});

it('replaces its own page when the report changed', async () => {
  await settle('orders.csv');
  await settle('orders.csv', accepted);
  const page = await readFile(join(day, 'orders.csv.result.html'), 'utf8');
  expect(page).toContain('The order was accepted');
  expect(await readdir(day)).not.toContain('orders.csv.result-2.html');
});

it('never takes over the file of anybody else', async () => {
  await writeFile(join(day, 'orders.csv.fix.csv'), 'mended by hand');
  await writeFile(join(day, 'orders.csv.result.html'), 'of another batch');
  await mkdir(join(day, 'orders.csv.fix-2.csv'));
  await settle('orders.csv');
  expect(await readFile(join(day, 'orders.csv.fix.csv'), 'utf8')).toBe('mended by hand');
  expect(await readFile(join(day, 'orders.csv.result.html'), 'utf8')).toBe('of another batch');
  expect(await readFile(join(day, 'orders.csv.result-2.html'), 'utf8')).toContain('orders.csv.fix-3.csv');
  expect(await readdir(day)).toContain('orders.csv.fix-3.csv');
});

it('keeps a fix file that was mended, dropped in and settled under its own name', async () => {
  await settle('orders.csv');
  const fix = join(day, 'orders.csv.fix.csv');
  await rename(fix, join(temp.path, 'dropped'));
  await writeFile(join(temp.path, 'dropped'), 'fixed');
  await link(join(temp.path, 'dropped'), fix);
  await settle('orders.csv');
  expect(await readFile(fix, 'utf8')).toBe('fixed');
});

it('finds a name for files whose own name is as long as names can be', async () => {
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
  expect(laid.filter((name) => /~[0-9a-f]{8}\.(?:fix\.csv|result\.html)$/.test(name))).toHaveLength(4);
});

it('cuts names between characters', () => {
  const name = besideName('𝒳'.repeat(63), '.result.html', 12);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name.isWellFormed()).toBe(true);
  expect(name).toMatch(/𝒳~[0-9a-f]{8}\.result-12\.html$/u);
});

it('tells where it could not write, and leaves no draft', async () => {
  const { needsFix } = await writeReport(inputOf(folder, refused));
  const settled = join(temp.path, 'gone', 'orders.csv');
  await expect(layBeside(settled, folder, { needsFix })).rejects.toMatchObject({
    code: 'report-not-written',
    facts: { path: settled, reason: 'ENOENT' },
  });
});
