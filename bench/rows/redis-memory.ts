import { setTimeout as delay } from 'node:timers/promises';
import { encodeCompact } from '../../src/ledger/entry.ts';
import { digestOf } from '../../src/order/digest.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { makePlace, type Place, runPoSync, startDaemon } from '../contenders/daemon.ts';
import { openRedis } from '../contenders/open-redis.ts';
import { dropInto } from '../contenders/po-sync.ts';
import { redisFigures } from '../redis-figures.ts';
import type { Row } from './row.ts';

/** What an order takes in Redis: while it waits, and for as long as it is remembered. */
export const redisMemory: Row = {
  name: 'redis-memory',
  title: 'Redis memory of an order',
  measure: async (stage) => {
    const settled = stage.quick ? 200_000 : 1_000_000;
    const place = await makePlace(await stage.makeFolder(), stage.api.origin, '100ms');
    await using store = await openRedis(place.data);
    await using _ = await startDaemon(place);
    const file = await stage.writeFile(20_000);
    const waiting = await waitingBytes(place, store.redis, () => dropInto(place, file));
    const bytes = await settledBytes(store.redis, settled);
    return [
      { what: 'waiting, queue job included', unit: 'B', samples: { 'po-sync': [waiting] } },
      { what: `settled, of ${settled.toLocaleString('en')}`, unit: 'B', samples: { 'po-sync': [bytes] } },
    ];
  },
};

/** Fills the queue of a paused environment as far as admission lets it. */
async function waitingBytes(place: Place, redis: Redis, drop: () => Promise<unknown>): Promise<number> {
  await runPoSync(place, ['pause']);
  const before = (await redisFigures(redis)).memory;
  await drop();
  let admitted = 0;
  for (let last = -1; admitted === 0 || admitted !== last; ) {
    await delay(1_000);
    last = admitted;
    const status = JSON.parse(await runPoSync(place, ['status', '--json']));
    admitted = Number(status.queue.unsettledOrders);
  }
  return ((await redisFigures(redis)).memory - before) / admitted;
}

/** The ledger's compact form, written as the commit script writes it. */
async function settledBytes(redis: Redis, orders: number): Promise<number> {
  const keys = keysOf('bench', 'http://127.0.0.1:1/api/v1');
  const before = (await redisFigures(redis)).memory;
  for (let first = 0; first < orders; first += 10_000) {
    const pipeline = redis.pipeline();
    for (let i = first; i < first + 10_000; i += 1) {
      const number = `PO-2026-${String(i).padStart(8, '0')}`;
      const digest = digestOf({ orderState: 'NEW', items: [{ articleCode: 'ART-1', quantity: (i % 97) + 1 }] });
      const compact = encodeCompact({ digest, attempts: 1, at: Date.now(), batchNo: (i % 5000) + 1 });
      pipeline.hset(keys.settled(number), number, compact);
    }
    await pipeline.exec();
  }
  return ((await redisFigures(redis)).memory - before) / orders;
}
