import { PoSyncError } from '../../core/errors.ts';
import { orders, stamp } from '../../core/format.ts';
import { decided } from '../../journal/decided.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import { occurrencesOf } from '../../ledger/entry.ts';
import { policyOf } from '../../ledger/environment-ledger.ts';
import { ordersUnderWay, withdraw } from '../../ledger/job.ts';
import { isSendable } from '../../ledger/state-machine/step.ts';
import { fileTitle } from '../../order/named-batch.ts';
import { countSettled, isTooLate } from '../../order/outcome.ts';
import { createRebuildRequest } from '../../reconcile/rebuild-request.ts';
import type { OperatorContext } from '../operator-context.ts';
import type { BatchView } from './list-batches.ts';

/**
 * `cancelled`: orders that were never sent. `accepted`: orders that the API had accepted by then. `underWay`: orders that were or may have been sent and have no outcome yet;
 * they continue. `reading`: the rest of the file is canceled as it is read. `unread`: how many orders that is, or how many were
 * not read because the file is gone; absent where there are none, or their number is not known.
 */
type Cancelled = {
  cancelled: number;
  accepted: number;
  underWay: number;
  reading: boolean;
  unread?: number;
};

/** A page that was being admitted when the batch was canceled is complete after this many milliseconds. */
const LOOK_AGAIN = 300;
const LOOKS = 20;
/** An order with an intent that is not used is given back within this many milliseconds (`deliver/places.ts`). */
const GIVEN_BACK = 1_200;

/**
 * Cancels every order of a batch that the API does not have, and the part of its file that is not admitted yet. Orders that may
 * have been sent get their outcome first: the daemon withdraws those that the API's list does not show. A held batch is released.
 */
export async function cancelBatch(
  { batch: name, counts }: Batch,
  context: OperatorContext,
): Promise<Cancelled> {
  const { batches, clock, store, operator } = context;
  const before = await batches.find(name);
  const by = { at: store.time.now(), who: operator.who };
  await decidedToCancel(name, by, context);
  let cancelled = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    const found = await cancelUnsent(name, by, context);
    cancelled += found;
    // The daemon does not continue reading the file of a held batch.
    await batches.release(name);
    const isAdmitting =
      (await batches.find(name))?.state === 'reading' && (await batches.isHeld(name));
    if (found === 0 && !isAdmitting) break;
    if (isAdmitting) await clock.sleep(LOOK_AGAIN);
  }
  if ((await countUnderWay(name, context)) > 0) {
    await clock.sleep(GIVEN_BACK);
    cancelled += await cancelUnsent(name, by, context);
  }
  const underWay = await countUnderWay(name, context);
  // The daemon cancels the rest of the file. An order that was sent before is not counted again at its batch.
  const after = await batches.find(name);
  const atBatch = (after?.counts.cancelled ?? 0) - (before?.counts.cancelled ?? 0);
  const { accepted } = (after ?? before)?.counts ?? counts;
  const reading = after?.state === 'reading' && after.unsettled === undefined;
  const unread = before?.state === 'reading' && after ? unreadIn(after, underWay) : 0;
  return {
    cancelled: Math.max(cancelled, atBatch),
    accepted,
    underWay,
    reading,
    ...(unread > 0 && { unread }),
  };
}

function decidedToCancel(
  batch: string,
  by: { at: number; who: string },
  context: OperatorContext,
): Promise<void> {
  const decision = { decision: 'cancel', batch } as const;
  return decided(by.who, [decision], context, () => context.batches.cancel(batch, by));
}

/** How many orders of a file, as far as it was counted, are not read yet. */
export async function countUnread(batch: Batch, context: OperatorContext): Promise<number> {
  return batch.state === 'reading' ? unreadIn(batch, await countUnderWay(batch.batch, context)) : 0;
}

function unreadIn({ inspection, counts }: Batch, underWay: number): number {
  return Math.max((inspection?.orders ?? 0) - countSettled(counts) - underWay, 0);
}

/** Whether a cancellation stopped no order, and can stop none any more. */
export function isInVain({
  cancelled,
  accepted,
  underWay,
  reading,
  unread = 0,
}: Cancelled): boolean {
  return cancelled === 0 && !reading && unread === 0 && underWay === 0 && accepted > 0;
}

/** What a cancellation did, in words. */
export function cancelledText(
  { batch, name }: Pick<Batch, 'batch' | 'name'>,
  { cancelled, accepted, underWay, reading, unread = 0 }: Cancelled,
): string {
  const figures: [number, string][] = [
    [accepted, 'had been accepted before'],
    [underWay, "may have been sent: cancelled unless the API's list shows them"],
    [reading ? 0 : unread, 'were not read and will not be sent'],
  ];
  const more = figures.flatMap(([number, what]) =>
    number > 0 ? `; ${orders(number)} ${what}` : [],
  );
  const rest = reading ? '; the rest of the file is cancelled as it is read' : '';
  return `${orders(cancelled)} of ${fileTitle({ batch, file: name })} cancelled${more.join('')}${rest}.`;
}

/** By whom and when a batch was cancelled; undefined if it was not. */
export function cancelledBy({
  state,
  counts,
  cancelled,
  cancelledBy: by,
}: Batch): string | undefined {
  if (!cancelled) return undefined;
  if (state === 'done' && isTooLate(counts))
    return `too late: no order was left to withdraw${by ? ` when ${by.who} cancelled at ${stamp(by.at)}` : ''}`;
  return `orders that were not sent are cancelled${by ? `, by ${by.who} at ${stamp(by.at)}` : ''}`;
}

async function cancelUnsent(
  batch: string,
  by: { at: number; who: string },
  context: OperatorContext,
): Promise<number> {
  let cancelled = 0;
  // What waits may be at the API: the daemon withdraws it after the list was read.
  const mayBeThere = (await createRebuildRequest(context.store).pending()) !== undefined;
  for await (const entries of ordersUnderWay([batch], {
    ledger: context.ledger,
    redis: context.store.redis,
    keys: context.store.keys,
  })) {
    const isCounted = await context.batches.counted(batch);
    const uncounted = entries.filter((entry) => {
      if (mayBeThere && entry.batch === batch) return false;
      return occurrencesOf(entry).some((one) => one.batch === batch && !isCounted(one.ordinal));
    });
    const at = context.store.time.now();
    const parts = { ...context, policy: policyOf(context.config), at, batch };
    const done = await Promise.all(
      uncounted.map((entry) => withdraw(entry, { ...by, what: 'cancelled' }, parts)),
    );
    cancelled += done.filter(Boolean).length;
  }
  return cancelled;
}

async function countUnderWay(batch: string, { ledger, store }: OperatorContext): Promise<number> {
  const { redis, keys } = store;
  let count = 0;
  for await (const entries of ordersUnderWay([batch], { ledger, redis, keys }))
    count += entries.length;
  return count;
}

/** Milliseconds until every daemon has noticed that the batch is released. */
const NOTICED = 1_500;

/**
 * Releases a file that waits: its orders are due at once. False if it did not wait. `withoutRows`: rows that belong to no
 * order are left out.
 */
export async function releaseBatch(
  { batch }: Batch,
  context: OperatorContext,
  { withoutRows = false } = {},
): Promise<boolean> {
  const { batches, ledger, operator } = context;
  const { redis, keys, time } = context.store;
  const by = { at: time.now(), who: operator.who };
  const decision = { decision: 'release', batch, withoutRows } as const;
  const release = () => batches.release(batch, by, { withoutRows });
  if (!(await decided(by.who, [decision], context, release))) return false;
  for await (const entries of ordersUnderWay([batch], { ledger, redis, keys })) {
    const waiting = entries.filter((one) => one.batch === batch && isSendable(one));
    const due = time.now() + NOTICED;
    await Promise.all(waiting.map(({ order }) => ledger.postpone(order.purchaseOrderNumber, due)));
  }
  return true;
}

/** A batch that is not held cannot be released. */
export function notHeld({ batch }: Batch): PoSyncError {
  return new PoSyncError('batch-not-held', `Batch ${batch} is not held.`, {
    remedy: 'Run po-sync status to see what orders wait for.',
    facts: { batch },
  });
}

/** A batch that is finished cannot be canceled. */
export function isFinished({ batch: { batch, open } }: BatchView): PoSyncError {
  return new PoSyncError(
    'batch-finished',
    `Batch ${batch} is finished: each of its orders has an outcome.`,
    {
      remedy:
        open > 0
          ? `To close its dead letters, run po-sync dead-letters discard --batch ${batch}.`
          : 'No action needed: none of its orders waits.',
      facts: { batch },
    },
  );
}

/** How a person closes an unreadable file. */
export const CLOSE_UNREADABLE =
  'A readable file of the same name closes an unreadable one, and so does: po-sync batches cancel ';

/** A person says that nobody needs an unreadable file. Throws the error of `isFinished` for any other. */
export async function closeUnreadable(view: BatchView, context: OperatorContext) {
  const { store, operator } = context;
  if (view.standing !== 'unreadable' || view.over !== undefined) throw isFinished(view);
  const { batch, name } = view.batch;
  await decidedToCancel(batch, { at: store.time.now(), who: operator.who }, context);
  await store.redis.hdel(store.keys.unreadable, batch);
  const end = { cancelled: 0, accepted: 0, underWay: 0, reading: false, dismissed: true };
  return { end, text: `The unreadable file ${name} is closed.` };
}
