import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';
import { until } from '../support/until.ts';
import type { Workplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,orderState,articleCode,quantity';
const table = (...rows: string[]) => [HEAD, ...rows, ''].join('\n');

/** The same API at another address. */
async function move(place: Workplace): Promise<void> {
  const config = await readFile(place.config, 'utf8');
  const [from, to] = config.includes('127.0.0.1:')
    ? ['127.0.0.1:', 'localhost:']
    : ['localhost:', '127.0.0.1:'];
  await writeFile(place.config, config.replaceAll(from, to));
}

async function json(place: Workplace, ...args: string[]) {
  return JSON.parse((await place.run(['--json', ...args])).out);
}

it('back at the former address, reconcile --repair keeps what was sent at the other one from being sent again', async () => {
  await using place = await openWorkplace();
  const once = async (name: string, text: string) => {
    await place.drop(name, text);
    return (await place.run(['start', '--once'])).code;
  };
  expect(await once('first.csv', table('PO-1,NEW,A,1'))).toBe(0);
  await move(place);
  expect(await once('second.csv', table('PO-2,NEW,A,1'))).toBe(0);
  await move(place);
  await place.run(['pause', '--reason', 'address']);
  expect((await place.run(['reconcile', '--repair', '--yes'])).code).toBe(0);
  await place.run(['resume']);
  expect(await once('again.csv', table('PO-1,NEW,A,1', 'PO-2,NEW,A,1'))).toBe(0);
  expect([...place.stored()].sort(([a], [b]) => a.localeCompare(b))).toEqual([
    ['PO-1', 1],
    ['PO-2', 1],
  ]);
});

it('a pause of a person lasts at a new address of the API, also without the ledger of the former one', async () => {
  await using place = await openWorkplace();
  const runUntilItWaits = async () => {
    const daemon = place.start(['start']);
    await until('the file waits', async () => {
      const { queue, batches } = await json(place, 'status');
      return queue.unsettledOrders === 1 || batches[0]?.waits?.code === 'ledger';
    });
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  };
  await place.run(['pause', '--reason', 'do not send']);
  await place.drop('waits.csv', table('PO-1,NEW,A,1'));
  await runUntilItWaits();
  await move(place);
  const { code, err } = await place.run(['start', '--once']);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('to the address that baseUrl had before'),
  ]);
  await rm(/remove (\S+\.json):/.exec(err.replace(/\s+/g, ' '))?.[1] ?? '');
  await runUntilItWaits();
  expect((await json(place, 'status')).pauses).toMatchObject([
    { reason: expect.stringContaining('do not send') },
  ]);
  expect(place.stored().size).toBe(0);
  // The new ledger knows nothing of the file.
  await place.run(['resume']);
  expect((await place.run(['batches', 'release', 'waits.csv', '--yes'])).code).toBe(0);
  expect((await place.run(['start', '--once'])).code).toBe(0);
  expect([...place.stored()]).toEqual([['PO-1', 1]]);
});

it('a pause of a person lasts where somebody sets the former address of the API again, and ends there with it', async () => {
  await using place = await openWorkplace();
  const once = () => place.run(['start', '--once', '--max-wait', '20s']);
  await place.drop('first.csv', table('PO-1,NEW,A,1'));
  await once();
  await move(place);
  await place.drop('second.csv', table('PO-2,NEW,A,1'));
  await once();
  await place.run(['pause', '--reason', 'do not send']);
  await move(place);
  await place.drop('third.csv', table('PO-3,NEW,A,1'));
  expect(await once()).toMatchObject({ code: 2, err: expect.stringContaining('do not send') });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2']);
  await place.run(['resume']);
  expect((await once()).code).toBe(0);
  await move(place);
  expect(await json(place, 'status')).toMatchObject({ pauses: [] });
  expect([...place.stored().keys()]).toEqual(['PO-1', 'PO-2', 'PO-3']);
});
