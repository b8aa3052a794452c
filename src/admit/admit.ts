import type { Clock } from '../core/clock.ts';
import { createSemaphore } from '../core/semaphore.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { createListAge } from '../ledger/list-age.ts';
import type { CheckedOrder } from '../order/order.ts';
import { type AdmitPageDeps, createAdmitPage } from './admit-page.ts';
import type { FileFacts } from './plan.ts';
import { createLookAhead, type LookAheadDeps, type Throughput } from './throughput.ts';

export type AdmissionDeps = AdmitPageDeps & {
  batches: Pick<Batches, 'held'>;
  clock: Clock;
  throughput: Pick<Throughput, 'fewSeconds'>;
  /** How old the API's list in the ledger may be, in milliseconds. */
  readList: 'newLedger' | number;
};

/**
 * Admits a page of a batch's orders, waiting for its turn. `listed`: called where its orders need not wait for the API's list. False: the signal aborted first.
 */
export type Admit = (
  batch: Batch,
  page: readonly CheckedOrder[],
  file: FileFacts,
  signal: AbortSignal,
  on?: { listed(): Promise<void> },
) => Promise<boolean>;

export type Admission = ReturnType<typeof createAdmission>;

/** Files whose portions are admitted at the same time. */
const TURNS = 4;
/** The share of the room in the queue that one file takes in one turn, and its bounds in orders. */
const SHARE = 0.25;
const LEAST = 10;
const MOST = 200;
/** Maximum number of orders without an outcome, for any reason but that their batch is held. */
const MOST_UNSETTLED = 50_000;
const LOOK_AGAIN = 20;
const LOOK_AT_HELD = 200;

/**
 * Admits orders file by file in turn, and only while the orders that wait take less than a few seconds to send: a small file
 * waits seconds behind a large one, also under a rate limit. Orders of held batches are parked, and their files wait.
 */
export function createAdmission(deps: AdmissionDeps) {
  const { clock, throughput } = deps;
  const admitPage = createAdmitPage(deps);
  const turns = createSemaphore(TURNS);
  const { room, released, listed } = createGate(deps);

  /** Counts orders that failed a check without a turn, because none of them is sent. Repeatable. */
  async function countInvalid(
    batch: Batch,
    page: readonly CheckedOrder[],
    file: FileFacts,
  ): Promise<void> {
    const invalid = page.filter(({ valid }) => !valid);
    if (invalid.length > 0) await admitPage(batch, invalid, file);
  }

  const admit: Admit = async (batch, page, file, signal, on) => {
    await countInvalid(batch, page, file);
    const valid = page.filter((order) => order.valid);
    if (valid.length > 0 && !(await listed(batch.batch, signal))) return false;
    if (valid.length > 0) await on?.listed();
    for (let i = 0; i < valid.length; ) {
      if (!(await released(batch.batch, signal))) return false;
      const size = portion();
      const orders = valid.slice(i, i + size);
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

  /** Builds what looks at the rest of a file while a page of it waits. */
  const lookAhead = (batch: Batch, file: FileFacts, pages: LookAheadDeps['pages']) =>
    createLookAhead({ clock, pages, count: (orders) => countInvalid(batch, orders, file) });

  function portion(): number {
    return Math.max(LEAST, Math.min(MOST, Math.floor(throughput.fewSeconds() * SHARE)));
  }
  return { admit, lookAhead };
}

/** What a page waits for. */
function createGate({ ledger, batches, store, clock, throughput, readList }: AdmissionDeps) {
  const { taken, ask } = createListAge(store);

  async function room(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !(await hasRoom())) await clock.sleep(LOOK_AGAIN, signal);
    return !signal.aborted;
  }

  async function hasRoom(): Promise<boolean> {
    const [sendable, unsettled] = await Promise.all([
      ledger.sendable(store.time.now()),
      ledger.unparked(),
    ]);
    return sendable < throughput.fewSeconds() && unsettled < MOST_UNSETTLED;
  }

  /** Waits while the batch is held, or cancelled and the ledger incomplete; false: the signal aborted. */
  async function released(batch: string, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && (await batches.held()).includes(batch))
      await clock.sleep(LOOK_AT_HELD, signal);
    // The API may have orders of a cancelled batch: the list that an incomplete ledger waits for shows which.
    const isIncomplete = async () => (await store.redis.exists(store.keys.rebuild)) === 1;
    while (!signal.aborted && (await batches.isCancelled(batch)) && (await isIncomplete()))
      await clock.sleep(LOOK_AT_HELD, signal);
    return !signal.aborted;
  }

  /** Waits for a list that is new enough; none of the orders of a cancelled batch is sent. False: the signal aborted. */
  async function listed(batch: string, signal: AbortSignal): Promise<boolean> {
    if (readList === 'newLedger') return true;
    const since = store.time.now();
    while (!signal.aborted) {
      const { from, at } = await taken();
      if (from >= since || at >= store.time.now() - readList) return true;
      if (await batches.isCancelled(batch)) return true;
      await ask();
      await clock.sleep(LOOK_AT_HELD, signal);
    }
    return false;
  }

  return { room, released, listed };
}
