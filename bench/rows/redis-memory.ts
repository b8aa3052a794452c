import { setTimeout as delay } from 'node:timers/promises';
import { encodeCompact } from '../../src/ledger/entry.ts';
import { digestOf } from '../../src/order/digest.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { runPoSync } from '../contenders/daemon.ts';
import { openRedis } from '../contenders/open-redis.ts';
import { redisFigures } from '../redis-figures.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';
import { runLap } from './run-lap.ts';

/** The Redis memory of an order: while it waits, and as long as the ledger keeps it. */
export const redisMemory: Row = {
  name: 'redis-memory',
  title: 'Redis memory of an order',
  measure: async (stage) => {
    const settled = stage.quick ? 100_000 : 1_000_000;
    const waiting = await waitingBytes(stage);
    await using store = await openRedis(await stage.makeFolder());
    const bytes = await settledBytes(store.redis, settled);
    return [
      { what: 'waiting, queue job included', unit: 'B', samples: { 'po-sync': [waiting] } },
      {
        what: `settled, of ${settled.toLocaleString('en')}`,
        unit: 'B',
        samples: { 'po-sync': [bytes] },
      },
    ];
  },
};

/** Drops a file while the API is slow, after a fast one: admission queues some seconds of work at the earlier rate. */
async function waitingBytes(stage: Stage): Promise<number> {
  const poSync = await stage.poSync();
  await runLap(stage, 'po-sync', await stage.writeFile(10_000), 0);
  const slow = await stage.writeFile(5_000);
  const { result } = await stage.api.judge(slow, 5_000, async () => {
    const before = (await redisFigures(poSync.redis)).memory;
    const delivered = poSync.deliver(slow);
    await delay(4_000);
    const { memory } = await redisFigures(poSync.redis);
    const { queue } = JSON.parse(await runPoSync(poSync.place, ['status', '--json']));
    stage.say(`  ${queue.unsettledOrders} orders wait`);
    await stage.api.slow(0);
    await delivered;
    return (memory - before) / queue.unsettledOrders;
  });
  return result;
}

/** The ledger's compact form, as the commit script writes it. */
async function settledBytes(redis: Redis, orders: number): Promise<number> {
  const keys = keysOf('bench');
  const before = (await redisFigures(redis)).memory;
  for (let first = 0; first < orders; first += 10_000) {
    const pipeline = redis.pipeline();
    for (let i = first; i < first + 10_000; i += 1) {
      const number = `PO-2026-${String(i).padStart(8, '0')}`;
      const digest = digestOf({ items: [{ articleCode: 'ART-1', quantity: (i % 97) + 1 }] });
      const key = keys.keyOf(number);
      const batchNo = (i % 5000) + 1;
      const compact = { number, digest, attempts: 1, at: Date.now(), batchNo };
      pipeline.hset(keys.settled(number), key, encodeCompact(compact, key));
    }
    await pipeline.exec();
  }
  return ((await redisFigures(redis)).memory - before) / orders;
}
