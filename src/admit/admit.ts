import type { Clock } from '../core/clock.ts';
import { createSemaphore } from '../core/semaphore.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { ordersUnderWay } from '../ledger/job.ts';
import type { CheckedOrder } from '../order/order.ts';
import { type AdmitPageDeps, createAdmitPage } from './admit-page.ts';
import type { FileFacts } from './plan.ts';
import type { Throughput } from './throughput.ts';

export type AdmissionDeps = AdmitPageDeps & {
  batches: Pick<Batches, 'held'>;
  clock: Clock;
  throughput: Pick<Throughput, 'fewSeconds'>;
};

/** Admits a page of a batch's orders, waiting for its turn. False: the signal aborted first. */
export type Admit = (
  batch: Batch,
  page: readonly CheckedOrder[],
  file: FileFacts,
  signal: AbortSignal,
) => Promise<boolean>;

/** Files whose portions are admitted at the same time. */
const TURNS = 4;
/** The share of the room in the queue that one file takes in one turn, and its bounds in orders. */
const SHARE = 0.25;
const LEAST = 10;
const MOST = 200;
/** Maximum number of orders without an outcome, for any reason. */
const MOST_UNSETTLED = 50_000;
const LOOK_AGAIN = 20;
const LOOK_AT_HELD = 200;
/** After this time every daemon has noticed that a batch was released. A daemon that has not noticed would hand the orders back. */
const NOTICED = 1_000;

/**
 * Admits orders file by file in turn, and only while the orders that wait take less than a few seconds to send: a small file
 * waits seconds behind a large one, also under a rate limit. Orders of held batches do not count, and their files wait.
 */
export function createAdmission(deps: AdmissionDeps) {
  const { ledger, batches, store, clock, throughput } = deps;
  const admitPage = createAdmitPage(deps);
  const turns = createSemaphore(TURNS);
  let heldOrders = 0;

  /** Counts the orders of held batches again. Call regularly. */
  async function tick(): Promise<void> {
    const held = await batches.held();
    let found = 0;
    if (held.length > 0) {
      for await (const entries of ordersUnderWay(held, { ...store, ledger })) found += entries.length;
    }
    heldOrders = found;
  }

  const admit: Admit = async (batch, page, file, signal) => {
    for (let i = 0; i < page.length; ) {
      if (!(await released(batch.batch, signal))) return false;
      const size = portion();
      const orders = page.slice(i, i + size);
      const done = await turns.hold(async () => {
        if (!(await room(signal))) return false;
        await admitPage(batch, orders, file);
        return true;
      });
      if (!done) return false;
      i += size;
    }
    return true;
  };

  function portion(): number {
    return Math.max(LEAST, Math.min(MOST, Math.floor(throughput.fewSeconds() * SHARE)));
  }

  async function room(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !(await hasRoom())) await clock.sleep(LOOK_AGAIN, signal);
    return !signal.aborted;
  }

  async function hasRoom(): Promise<boolean> {
    const [sendable, unsettled] = await Promise.all([ledger.sendable(store.time.now()), ledger.unsettled()]);
    return sendable < throughput.fewSeconds() + heldOrders && unsettled < MOST_UNSETTLED + heldOrders;
  }

  /** Waits while the batch is held; false when the signal aborted first. */
  async function released(batch: string, signal: AbortSignal): Promise<boolean> {
    let waited = false;
    while (!signal.aborted && (await batches.held()).includes(batch)) {
      waited = true;
      await clock.sleep(LOOK_AT_HELD, signal);
    }
    if (waited) await clock.sleep(NOTICED, signal);
    return !signal.aborted;
  }

  return { admit, tick };
}
