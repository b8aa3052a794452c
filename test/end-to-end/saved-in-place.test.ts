import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const FILE = 'purchaseOrderNumber,articleCode,quantity\nA-1,BOLT,many\nA-2,NUT,few\n';

it('a fix file that was saved in done and dropped without an order is replaced by the open rows, and removed at the end', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  await place.drop('week.csv', FILE);
  const openOf = (open: number) =>
    until(`${open} open orders`, async () => {
      const [first] = await place.reportsNow();
      return first?.state === 'finished' && first.open === open ? first : undefined;
    });
  await openOf(2);
  const day = await until('a settled file', async () => {
    const [found] = await readdir(path.join(place.inbox, 'done')).catch((): string[] => []);
    return found && path.join(place.inbox, 'done', found);
  });
  const copy = path.join(day, 'week.csv.fix.csv');
  const fix = await until('the fix file', () => readFile(copy, 'utf8').catch(() => undefined));

  const saved = fix.replace(/^A-2.*\n/m, '').replace('many', '7');
  await writeFile(copy, saved);
  await place.drop('week.csv.fix.csv', saved);
  const left = await openOf(1);
  const rows = await place.read(left, 'dead-letters.csv');
  expect(rows).toMatch(/^A-2,NUT,few,/m);
  await until('the open rows in the copy', async () => (await readFile(copy, 'utf8')) === rows);
  await until('one copy', async () => !(await readdir(day)).includes('week.csv.fix-2.csv'));
  const settled = (await readdir(day)).find((name) => /^week\.csv-\w+\.fix\.csv$/.test(name)) ?? '';
  expect(await readFile(path.join(day, settled), 'utf8')).toBe(saved);

  const last = rows.replace('few', '3');
  await writeFile(copy, last);
  await place.drop('last.csv', last);
  await openOf(0);
  await until(
    'no copies of the fix file',
    async () => !(await readdir(day)).some((name) => name.startsWith('week.csv.fix')),
  );
  expect(place.stored()).toEqual(
    new Map([
      ['A-1', 1],
      ['A-2', 1],
    ]),
  );
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}, 60_000);

it('a fix file that was corrected in its report and moved from there without a column sends no held order', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  await place.drop(
    'week.csv',
    'purchaseOrderNumber,articleCode,Status,quantity\nA-1,BOLT,open,many\nA-2,NUT,canceled,2\n',
  );
  const reported = (file: string, open: number) =>
    until(`${open} open orders of ${file}`, async () =>
      (await place.reportsNow()).find(
        (one) => one.file === file && one.state === 'finished' && one.open === open,
      ),
    );
  const { batch } = await reported('week.csv', 2);
  const fix = path.join(place.reports, batch, 'dead-letters.csv');
  const rows = (await readFile(fix, 'utf8')).replace('many', '7');
  await writeFile(fix, rows.replace(/^([^,]*,[^,]*),[^,]*/gm, '$1'));
  await rename(fix, path.join(place.inbox, 'back.csv'));
  const back = await reported('back.csv', 1);
  expect(back.warnings).toEqual([
    expect.stringContaining('"Status". Their values count as unchanged'),
  ]);
  expect(await place.read(back, 'dead-letters.json')).toContain('"code":"called-off"');
  expect(place.stored()).toEqual(new Map([['A-1', 1]]));
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}, 60_000);
