import type { Entry } from '../../src/ledger/entry.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { next } from '../../src/ledger/state-machine/next.ts';
import type { Policy } from '../../src/ledger/state-machine/step.ts';
import { digestOf } from '../../src/order/digest.ts';
import type { Order } from '../../src/order/order.ts';

/** An order that any API takes. */
export function orderOf(number: string, quantity = 1): Order {
  return {
    purchaseOrderNumber: number,
    orderState: 'NEW',
    items: [{ articleCode: 'A-1', quantity }],
  };
}

/** A queued ledger entry; `changes` replace any of it. */
export function entryOf(changes: Partial<Entry> = {}): Entry {
  const order = changes.order ?? orderOf('4711');
  return {
    version: 1,
    state: 'queued',
    order,
    digest: digestOf(order),
    batch: '20261121T071500Z-inbox-orders-3f2a91c0',
    batchNo: 1,
    ordinal: 0,
    place: { line: 2 },
    job: 'c-1',
    attempt: 0,
    used: 0,
    absences: 0,
    ...changes,
  };
}

/** Of a cancellation of the batch of `entryOf`. */
export const OWN = { batch: entryOf().batch, job: 'c-2' };

/** Three attempts, a settle of a minute, no jitter. */
export const policy: Policy = {
  attempts: 3,
  settle: 60_000,
  onDoubt: 'verify',
  backoff: (used) => used * 1000,
};

/** A person says that the API has an order. */
export async function confirm(ledger: Ledger, number: string): Promise<void> {
  const [known] = await ledger.lookup([number]);
  if (known?.kind !== 'open') throw new Error('the order is not open');
  const at = known.entry.version;
  const step = next(known.entry, { kind: 'confirm', at }, policy);
  await ledger.take(known.entry, step, { at, who: 'a person', what: 'confirmed' });
}
