// How much Redis memory a settled order costs: `node bench/ledger-memory.ts [orders]`, a million unless told otherwise.
import { encodeCompact } from '../src/ledger/entry.ts';
import { digestOf } from '../src/order/digest.ts';
import { openTestRedis } from '../test/support/open-redis.ts';

const orders = Number(process.argv[2] ?? 1_000_000);
await using store = await openTestRedis();
const { redis, keys } = store;

async function used(): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

const before = await used();
for (let first = 0; first < orders; first += 10_000) {
  const pipeline = redis.pipeline();
  for (let i = first; i < Math.min(first + 10_000, orders); i += 1) {
    const number = `PO-2026-${String(i).padStart(8, '0')}`;
    const digest = digestOf({ orderState: 'NEW', items: [{ articleCode: 'ART-1', quantity: (i % 97) + 1 }] });
    const compact = encodeCompact({ digest, attempts: 1, at: Date.now(), batchNo: (i % 5000) + 1 });
    pipeline.hset(keys.settled(number), number, compact);
  }
  await pipeline.exec();
}
const bytes = ((await used()) - before) / orders;
process.stdout.write(`${JSON.stringify({ orders, bytesPerSettledOrder: Number(bytes.toFixed(1)) })}\n`);
