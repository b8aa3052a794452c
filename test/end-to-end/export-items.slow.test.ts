import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import type { KeptOrder } from '../../src/report/results.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity\n';
const EXPORT = '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }';

const writeExport = (place: Workplace, rows: string) =>
  writeFile(path.join(place.folder, 'erp.csv'), HEAD + rows);

/** The report of a version of an export that has so many orders, when it is finished. */
const versionOf = (place: Workplace, orders: number) =>
  until(`the version with ${orders} orders`, async () =>
    (await place.reportsNow()).find(({ file, finishedAt, counts }) => {
      return file === 'erp.csv' && finishedAt !== null && counts.orders === orders;
    }),
  );

/** The name of the only batch, which has no report yet. */
const batchOf = (place: Workplace) =>
  until('the batch', async () => {
    const { out } = await place.run(['batches', 'list', '--json']);
    return (JSON.parse(out) as { batches: { batch: string }[] }).batches[0]?.batch;
  });

/** The articles and quantities that a report keeps. */
async function itemsOf(place: Workplace, report: Report): Promise<string[]> {
  const kept = JSON.parse(await place.read(report, 'items.json')) as KeptOrder[];
  const all = kept.flatMap(({ purchaseOrderNumber: number, items }) =>
    items.map(({ articleCode, quantity }) => `${number} ${articleCode} ${quantity}`),
  );
  return all.sort();
}

async function stop(daemon: Running): Promise<void> {
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}

it('the report of an export keeps the items of its new orders, with which a later version is compared', async () => {
  await using place = await openWorkplace({ source: EXPORT });
  await writeExport(place, 'E-1,BOLT,5\nE-2,NUT,1\nE-1,B,2\n');
  await place.run(['start', '--once']);
  const first = await versionOf(place, 2);
  expect(await itemsOf(place, first)).toEqual(['E-1 B 2', 'E-1 BOLT 5', 'E-2 NUT 1']);
  await writeExport(place, 'E-1,BOLT,6\nE-2,NUT,1\nE-4,D,4\n');
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
  expect(await itemsOf(place, await versionOf(place, 3))).toEqual(['E-1 BOLT 6', 'E-4 D 4']);
  const { out } = await place.run(['dead-letters', 'list', '--json']);
  const known = { items: [{ articleCode: 'BOLT', quantity: 5 }, { articleCode: 'B' }] };
  const payload = { items: [{ articleCode: 'BOLT', quantity: 6 }] };
  expect(JSON.parse(out)).toMatchObject({ deadLetters: [{ kind: 'conflict', payload, known }] });
});

it('an export whose daemon is killed with kill -9 before its report keeps the items of its orders, each once', async () => {
  await using place = await openWorkplace({ source: EXPORT });
  await place.run(['pause', '--reason', 'test']);
  await writeExport(place, 'E-1,BOLT,5\nE-2,NUT,1\n');
  const first = place.spawn(['start']);
  // Only its own report is prevented: a version is not claimed where the journal of decisions cannot be written.
  const report = path.join(place.reports, await batchOf(place));
  await writeFile(report, 'in the way');
  expect(await place.run(['resume'])).toMatchObject({ code: 0 });
  await until(
    'the report that fails',
    () => place.stored().size === 2 && first.out().includes('"batch-trouble"'),
  );
  first.child.kill('SIGKILL');
  await first.ended;
  await rm(report);
  const second = place.spawn(['start']);
  expect(await itemsOf(place, await versionOf(place, 2))).toEqual(['E-1 BOLT 5', 'E-2 NUT 1']);
  expect(new Set(place.stored().values())).toEqual(new Set([1]));
  await until('the copy to be removed', async () => {
    return (await readdir(path.join(place.folder, 'data', 'spool', 'erp'))).length === 0;
  });
  await stop(second);
});
