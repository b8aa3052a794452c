import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readSheet, writeSheet } from '../support/fix-workbook.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity\n';
const SOURCES = `- { name: orders, type: inbox, path: inbox, stable: 100ms, poll: 200ms }
  - { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }`;

it('with its own Redis alive, po-sync continues without data and reports, and files that are dropped again bring their dead letters back', async () => {
  await using place = await openWorkplace({ source: SOURCES });
  const { json } = place;
  /** Runs a daemon until something is so; returns its log. */
  const runUntil = async (what: string, isSo: () => Promise<boolean> | boolean) => {
    const daemon = place.start(['start']);
    await until(what, isSo);
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    return daemon.out();
  };
  const once = () => place.run(['start', '--once']);
  const writeExport = (rows: string) => writeFile(path.join(place.folder, 'erp.csv'), HEAD + rows);
  const first = `${HEAD}GOOD-1,A,1\nBAD-1,A,none\n`;
  await place.drop('first.csv', first);
  await writeExport('ERP-1,A,1\nERP-2,A,none\n');
  await once();
  await place.run(['pause', '--reason', 'the disk fails']);
  await place.drop('second.csv', `${HEAD}GOOD-2,A,1\n`);
  await writeExport('ERP-1,A,1\nERP-2,A,none\nERP-3,A,1\n');
  await runUntil('both files', async () => (await json('status')).queue.unsettledOrders === 2);
  await rm(place.reports, { recursive: true });
  await rm(path.join(place.folder, 'data'), { recursive: true });

  await place.run(['resume']);
  const log = await runUntil(
    'the orders that waited, and the export without its copy',
    async () => {
      const [{ unsettled } = { unsettled: undefined }, ...others] = (await json('status')).batches;
      return place.stored().size === 4 && unsettled !== undefined && others.length === 0;
    },
  );
  expect(log).not.toContain('ledger-rolled-back');
  expect(Object.fromEntries(place.stored())).toEqual({
    'ERP-1': 1,
    'ERP-3': 1,
    'GOOD-1': 1,
    'GOOD-2': 1,
  });
  const { batches } = await json('batches', 'list', '--open');
  expect(new Set(batches.map(({ file }: { file: string }) => file))).toEqual(
    new Set(['first.csv', 'erp.csv']),
  );
  const [lost] = (await json('status')).batches;
  expect(lost.unsettled.reason).toContain('put it back there, or cancel the batch');
  await json('batches', 'cancel', lost.batch, '--yes');

  await place.drop('first.csv', first);
  await once();
  const [again] = (await place.reportsNow()).filter(({ file }) => file === 'first.csv');
  const book = path.join(place.reports, again?.batch ?? '', 'fix.xlsx');
  const { header, rows } = await readSheet(book);
  const fixed = rows.map((row) => ({ ...row, quantity: '1' }));
  await place.drop('first.csv.fix.xlsx', await writeSheet({ header, rows: fixed }));
  await writeExport('ERP-1,A,1\nERP-2,A,2\nERP-3,A,1\n');
  await once();
  expect((await json('status')).deadLetters).toBe(0);
  expect((await json('batches', 'list', '--open')).batches).toEqual([]);
  expect([...place.stored().values()]).toEqual([1, 1, 1, 1, 1, 1]);
}, 120_000);
