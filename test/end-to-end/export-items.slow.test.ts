import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Report } from '../../src/report/report.ts';
import type { KeptOrder } from '../../src/report/results.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

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

/** The articles and quantities that a report keeps. */
async function itemsOf(place: Workplace, report: Report): Promise<string[]> {
  const kept = JSON.parse(await place.read(report, 'items.json')) as KeptOrder[];
  const all = kept.flatMap(({ purchaseOrderNumber: number, items }) =>
    items.map(({ articleCode, quantity }) => `${number} ${articleCode} ${quantity}`),
  );
  return all.sort();
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
