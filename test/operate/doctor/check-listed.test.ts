import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { connectRedis } from '../../../src/redis/connect.ts';
import { keysOf } from '../../../src/redis/keys.ts';
import { orderOf } from '../../support/entry.ts';
import { openDatabase } from '../../support/shared-redis.ts';
import { until } from '../../support/until.ts';
import { sheet } from '../../support/week.ts';
import { openWorkplace } from '../../support/workplace.ts';

it('doctor warns of orders at the API that a restored ledger lacks or would send, until they are reconciled', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis });
  const found = async (...args: string[]) => {
    const { findings } = (await place.json('doctor', ...args)) as {
      findings: { check: string; state: string; message: string; remedy?: string }[];
    };
    return findings.filter(({ check }) => ['ledger', 'API list'].includes(check));
  };
  const complete = { check: 'API list', state: 'ok', message: 'is complete, as far as known' };
  const token = await place.api.token();
  await place.api.create(orderOf('PO-0'), token);
  // A new ledger reads the list before its first order.
  expect(await found()).toEqual([complete]);
  const daemon = place.start(['start']);
  await place.drop('sent.csv', sheet('PO-1,NEW,A,1'));
  await until('the order', () => place.stored().has('PO-1'));
  await place.run(['pause']);
  await place.drop('waits.csv', sheet('PO-2,NEW,A,1', 'PO-3,NEW,A,1'));
  await until('the orders that wait', async () => {
    return (await place.json('status')).queue.unsettledOrders === 2;
  });
  expect(await found()).toEqual([complete]);
  daemon.child.kill('SIGTERM');
  await daemon.ended;

  // As if the ledger were of before the backup.
  await using connection = Object.assign(await connectRedis(redis), {
    [Symbol.asyncDispose]: async () => connection.disconnect(),
  });
  const keys = keysOf('staging');
  await connection.hdel(keys.settled('PO-1'), 'PO-1');
  await place.api.create({ ...orderOf('PO-2'), items: [{ articleCode: 'A', quantity: 1 }] }, token);
  const waits = "the API's list has 1 order that waits to be sent";
  const warning = (message: string) => ({
    check: 'ledger',
    state: 'warn',
    message,
    remedy: expect.stringContaining('po-sync pause, po-sync reconcile --repair and po-sync resume'),
  });
  expect(await found()).toEqual([
    complete,
    warning(
      "the API's list has 1 order that the ledger does not have and 1 order that waits to be sent",
    ),
  ]);
  const text = await readFile(place.config, 'utf8');
  // A ledger that forgets old orders does not have them.
  await writeFile(`${place.folder}/keep.yaml`, `${text}\nledger: { keep: 730d }\n`);
  expect(await found('--config', `${place.folder}/keep.yaml`)).toEqual([complete, warning(waits)]);
  await connection.hset(keys.rebuild, { why: 'rolled-back', epoch: 'x' });
  expect(await found()).toEqual([complete]);
  await connection.del(keys.rebuild);

  await place.run(['reconcile', '--repair', '--yes']);
  expect(await found()).toEqual([complete]);
});
