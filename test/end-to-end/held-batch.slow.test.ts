import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createBatches } from '../../src/ledger/batches/batches.ts';
import { createCheckpointFile, createIdentity } from '../../src/ledger/identity.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { createRedisTime } from '../../src/redis/time.ts';
import { numbersOf } from '../support/delivery-rig.ts';
import { entryOf, orderOf } from '../support/entry.ts';
import { refusals } from '../support/refusals.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

const BATCH = '20261121T071500Z-inbox-held-3f2a91c0';
/** Milliseconds. */
const MEASURED = 3_000;

it('thousands of orders of a held batch cost Redis nothing while they wait, and keep no other file waiting', async () => {
  await using server = await startTestRedis();
  await using place = await openWorkplace({ redis: server.url });
  const daemon = place.start(['start']);
  await until('ready', () => daemon.out().includes('po-sync is ready'));
  await using stack = new AsyncDisposableStack();
  const redis = await connectRedis(server.adminUrl);
  stack.defer(() => redis.disconnect());
  const keys = keysOf('staging');
  const time = await createRedisTime(redis, keys, systemClock);
  const checkpoint = createCheckpointFile(path.join(place.folder, 'own.json'));
  const identity = createIdentity({ redis, keys, time, wait: 0, checkpoint });
  await identity.establish();
  const batches = createBatches({ redis, keys, owner: 'test' });
  const ledger = createLedger({ redis, keys, identity });

  const file = path.join(place.folder, 'held.csv');
  await writeFile(file, 'held');
  const named = { batch: BATCH, source: 'inbox', kind: 'inbox', name: 'held.csv' } as const;
  const { no } = await batches.begin({ ...named, path: file }, time.now());
  await batches.hold(BATCH, { wait: refusals(), alike: '400' }, time.now());
  // The daemon knows of the hold before it looks at the orders.
  const due = time.now() + 2_000;
  const numbers = numbersOf(3_000);
  const entries = numbers.map((number, ordinal) =>
    entryOf({ order: orderOf(number), batch: BATCH, batchNo: no, ordinal }),
  );
  await Promise.all(entries.map((entry) => ledger.enter(entry, undefined, due)));
  await batches.admitted(BATCH, numbers.length, '');
  await until('all to be looked at', async () => (await redis.zcount(keys.due, 0, due)) === 0);

  const figure = async (section: string, name: string) =>
    Number(new RegExp(`${name}[:=](\\d+)`).exec(await redis.info(section))?.[1] ?? 0);
  const served = () => figure('stats', 'total_net_output_bytes');
  const scans = () => figure('commandstats', 'cmdstat_zscan:calls');
  const before = [await served(), await scans()] as const;
  await place.drop('other.csv', 'purchaseOrderNumber,articleCode,quantity\nOTHER-1,A,1\n');
  await until('the other file', () => place.stored().has('OTHER-1'));
  await delay(MEASURED);
  expect((await scans()) - before[1]).toBe(0);
  expect((await served()) - before[0]).toBeLessThan(1_000_000);

  const { out } = await place.run(['explain', 'PO-0001', '--json']);
  expect(JSON.parse(out)).toMatchObject({ open: { waitsFor: { for: 'release' } } });
  expect(Date.parse(JSON.parse(out).open.nextAt)).toBeLessThan(time.now() + 60_000);
  expect((await place.run(['batches', 'release', BATCH, '--yes'])).code).toBe(0);
  await until('the first to be sent', () => place.stored().has('PO-0001'));
});
