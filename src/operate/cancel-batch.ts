import type { Clock } from '../core/clock.ts';
import type { Batch, Batches } from '../ledger/batches.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ordersUnderWay } from '../ledger/orders-under-way.ts';
import { next, type Policy } from '../ledger/state.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import type { Operator } from './operator.ts';

type Deps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  clock: Clock;
  policy: Policy;
  operator: Operator;
};

/** `underWay`: sent, or perhaps sent, and not settled yet; these go on. `reading`: the rest of the file is cancelled as it is read. */
export type Cancelled = { cancelled: number; underWay: number; reading: boolean };

/** A page that was being admitted when the word came is through after this. */
const LOOK_AGAIN = 300;
const LOOKS = 20;

/**
 * Takes back every order of a batch that was certainly never sent, and what of its file is not admitted yet.
 * What was sent, or may have been, goes its way; a hold of the batch ends.
 */
export async function cancelBatch(batch: Batch, deps: Deps): Promise<Cancelled> {
  const { batches, clock } = deps;
  await batches.cancel(batch.batch, deps.time.now());
  let cancelled = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    const took = await sweep(batch.batch, deps);
    cancelled += took;
    // A file that is held is not read on.
    await batches.release(batch.batch);
    const isAdmitting = (await batches.find(batch.batch))?.state === 'reading' && (await batches.isHeld(batch.batch));
    if (took === 0 && !isAdmitting) break;
    if (isAdmitting) await clock.sleep(LOOK_AGAIN);
  }
  const state = (await batches.find(batch.batch))?.state;
  return { cancelled, underWay: await countUnderWay(batch.batch, deps), reading: state === 'reading' };
}

async function sweep(batch: string, deps: Deps): Promise<number> {
  let cancelled = 0;
  for await (const entries of ordersUnderWay([batch], deps)) {
    const isCounted = await deps.batches.counted(batch);
    const fresh = entries.filter(({ ordinal }) => !isCounted(ordinal));
    const taken = await Promise.all(fresh.map((entry) => takeBack(entry, deps)));
    cancelled += taken.filter(Boolean).length;
  }
  return cancelled;
}

function takeBack(entry: Entry, { ledger, time, policy, operator }: Deps): Promise<boolean> {
  const step = next(entry, { kind: 'cancel', at: time.now() }, policy);
  return ledger.take(entry, step, operator.did('cancelled'));
}

async function countUnderWay(batch: string, { ledger, redis, keys, ...deps }: Deps): Promise<number> {
  let count = 0;
  for await (const entries of ordersUnderWay([batch], { ledger, redis, keys })) count += entries.length;
  return count + (await inDoubt(batch, { ledger, redis, keys, ...deps }));
}

/** Those that the list is asked about. */
async function inDoubt(batch: string, { ledger, redis, keys }: Deps): Promise<number> {
  const known = await ledger.lookup(await redis.zrange(keys.doubt, 0, '-1'));
  return known.filter((one) => one.kind === 'open' && one.entry.batch === batch).length;
}
