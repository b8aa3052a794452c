import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { orderOf } from '../support/entry.ts';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import type { Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const delivery = ', readList: 10ms';
const table = (...rows: string[]) => [HEAD, ...rows, ''].join('\n');

/** Somebody creates an order at the API by hand. */
async function byHand({ api }: Workplace, number: string): Promise<void> {
  const { status } = await api.create(orderOf(number), await api.token());
  expect(status).toBe(201);
}

const once = async (place: Workplace, ...more: string[]) => place.run(['start', '--once', ...more]);
const outcomes = async (place: Workplace) => (await place.reportsNow()).at(-1)?.counts;
const row = (number: string): string => {
  const [item] = orderOf(number).items;
  return `${number},NEW,${item?.articleCode},${item?.quantity}`;
};

it.concurrent('a version of an export does not send what others created meanwhile', async () => {
  const source = '- { name: erp, type: export, path: erp.csv, stable: 100ms, poll: 200ms }';
  await using place = await openWorkplace({ delivery, source });
  const erp = path.join(place.folder, 'erp.csv');
  await writeFile(erp, table(row('PO-1')));
  expect((await once(place)).code).toBe(0);
  await byHand(place, 'PO-2');
  await writeFile(erp, table(row('PO-1'), row('PO-2'), row('PO-3')));
  expect((await once(place)).code).toBe(0);
  expect(await outcomes(place)).toMatchObject({ accepted: 1, duplicate: 2 });
  expect([...place.stored().values()]).toEqual([1, 1, 1]);
});

it.concurrent('the list for a file closes an order in doubt that it shows; otherwise no list is read for it', async () => {
  const faults = [{ kind: 'drop', when: 'after', orders: ['PO-1'], attempts: '1' }];
  const onDoubt = `${delivery}, onDoubt: hold`;
  await using place = await openWorkplace({
    faults: { faults },
    delivery: onDoubt,
    sandbox: { record: true },
  });
  await place.drop('first.csv', table(row('PO-1')));
  expect((await once(place)).code).toBe(2);
  expect(await outcomes(place)).toMatchObject({ inDoubt: 1 });
  await once(place);
  expect((await place.run(['explain', 'PO-1'])).out).toMatch(
    /^PO-1 {2}in doubt, waits for a person/,
  );
  await place.drop('second.csv', table(row('PO-2')));
  expect((await once(place)).code).toBe(0);
  expect((await place.run(['explain', 'PO-1'])).out).toMatch(/^PO-1 {2}accepted/);
  expect([...place.stored().values()]).toEqual([1, 1]);
});

it.concurrent('start --once ends after --max-wait while the list fails, says why, and status keeps it', async () => {
  await using place = await openWorkplace({ delivery, sandbox: { record: true } });
  await place.drop('first.csv', table(row('PO-1')));
  expect((await once(place)).code).toBe(0);
  await place.setFaults([{ kind: 'answer', on: 'list', status: 503 }]);
  await place.drop('second.csv', table(row('PO-2'), row('PO-3')));
  const { code, err } = await once(place, '--max-wait', '30s');
  expect(code).toBe(2);
  expect(err).toContain('The maximum wait is over. The rest is kept; run po-sync status.');
  const status = await place.json('status');
  expect(status).toMatchObject({
    queue: { unreadOrders: 2 },
    waits: [{ code: 'daemon', unread: 2 }],
  });
  await place.setFaults([]);
  expect((await once(place)).code).toBe(0);
  expect([...place.stored().values()]).toEqual([1, 1, 1]);
});
