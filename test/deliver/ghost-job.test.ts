import { expect, it } from 'vitest';
import { openDeliveryRig } from '../support/delivery-rig.ts';
import { entryOf, orderOf } from '../support/entry.ts';
import { until } from '../support/until.ts';

it('an older job of the same order sends nothing', async () => {
  await using rig = await openDeliveryRig();
  const { ledger, queue, batches, store } = rig;
  const file = {
    batch: 'b1',
    source: 'inbox',
    kind: 'inbox',
    name: 'orders.csv',
    path: '/none',
  } as const;
  const { no } = await batches.begin(file, store.time.now());
  const [older, newer] = [queue.nameJob(), queue.nameJob()];
  const entry = entryOf({ order: orderOf('PO-1'), batch: 'b1', batchNo: no, job: newer });
  expect(await ledger.enter(entry, undefined, store.time.now() + 60_000)).toBe(true);
  await queue.add([{ id: older, name: 'older', batch: 'b1', numbers: ['PO-1'] }]);
  await until('the end of the older job', async () => !(await queue.has([older]))[0]);
  expect(rig.events.filter(({ type }) => type === 'received')).toEqual([]);
  await queue.add([{ id: newer, name: 'newer', batch: 'b1', numbers: ['PO-1'] }]);
  await rig.settled();
  expect([...rig.stored()]).toEqual([['PO-1', 1]]);
});
