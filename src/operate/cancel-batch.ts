import type { Batch } from '../ledger/batches.ts';
import type { Entry } from '../ledger/entry.ts';
import { policyOf } from '../ledger/environment-ledger.ts';
import { ordersUnderWay } from '../ledger/orders-under-way.ts';
import { next } from '../ledger/state.ts';
import type { OperatorContext } from './operator-context.ts';

/**
 * `cancelled`: orders that were never sent. `underWay`: orders that were or may have been sent and have no outcome yet;
 * they continue. `reading`: the rest of the file is canceled as it is read.
 */
export type Cancelled = { cancelled: number; underWay: number; reading: boolean };

/** A page that was being admitted when the batch was canceled is complete after this many milliseconds. */
const LOOK_AGAIN = 300;
const LOOKS = 20;

/**
 * Cancels every order of a batch that was certainly never sent, and the part of its file that is not admitted yet.
 * Orders that were or may have been sent continue. A held batch is released.
 */
export async function cancelBatch({ batch: name }: Batch, context: OperatorContext): Promise<Cancelled> {
  const { batches, clock, store } = context;
  await batches.cancel(name, store.time.now());
  let cancelled = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    const found = await cancelUnsent(name, context);
    cancelled += found;
    // The daemon does not continue reading the file of a held batch.
    await batches.release(name);
    const isAdmitting = (await batches.find(name))?.state === 'reading' && (await batches.isHeld(name));
    if (found === 0 && !isAdmitting) break;
    if (isAdmitting) await clock.sleep(LOOK_AGAIN);
  }
  const state = (await batches.find(name))?.state;
  return { cancelled, underWay: await countUnderWay(name, context), reading: state === 'reading' };
}

async function cancelUnsent(batch: string, context: OperatorContext): Promise<number> {
  let cancelled = 0;
  for await (const entries of ordersUnderWay([batch], {
    ledger: context.ledger,
    redis: context.store.redis,
    keys: context.store.keys,
  })) {
    const isCounted = await context.batches.counted(batch);
    const uncounted = entries.filter(({ ordinal }) => !isCounted(ordinal));
    const done = await Promise.all(uncounted.map((entry) => cancelOrder(entry, context)));
    cancelled += done.filter(Boolean).length;
  }
  return cancelled;
}

function cancelOrder(entry: Entry, { ledger, store, config, operator }: OperatorContext): Promise<boolean> {
  const step = next(entry, { kind: 'cancel', at: store.time.now() }, policyOf(config));
  return ledger.take(entry, step, operator.did('cancelled'));
}

async function countUnderWay(batch: string, { ledger, store }: OperatorContext): Promise<number> {
  const { redis, keys } = store;
  let count = 0;
  for await (const entries of ordersUnderWay([batch], { ledger, redis, keys })) count += entries.length;
  const verifying = await ledger.lookup(await redis.zrange(keys.doubt, 0, '-1'));
  return count + verifying.filter((one) => one.kind === 'open' && one.entry.batch === batch).length;
}
