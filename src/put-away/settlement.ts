import { join } from 'node:path';
import { growingWait } from '../core/backoff/backoff.ts';
import { type PoSyncError, toError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { type Batch, isFinished } from '../ledger/batches/batches.ts';
import { batchTrouble } from '../log/events/batch.ts';
import type { Fence } from '../redis/lease.ts';
import { makeFolder } from '../report/disk.ts';
import { createStopOfEnded, keepCancelled } from './end-as-reported.ts';
import { createFileChecks } from './file-checks.ts';
import { createPresenceCheck } from './missing-file.ts';
import { createDiscardNotes, createDiscardRecall } from './note-discards.ts';
import type { SettlementContext } from './put-batch-away.ts';
import { createExportRecall } from './recall-exports.ts';
import { createReportAndPutAway } from './report-and-put-away.ts';

/** Builds the step that enters what people decided and Redis may have lost, once for each epoch of the ledger. */
function createRecall(context: SettlementContext): () => Promise<void> {
  const { store, side } = context;
  const steps = [createStopOfEnded, createDiscardRecall, createExportRecall].map((create) =>
    create(context),
  );
  let recalledIn: string | undefined;
  return async () => {
    const epoch = side.batches.epoch();
    // Redis may have lost that alone.
    if (epoch === recalledIn && epoch === (await store.redis.get(store.keys.recalled))) return;
    for (const step of steps) await step();
    await store.redis.set(store.keys.recalled, epoch);
    recalledIn = epoch;
  };
}

/** Batches settled at the same time. */
const AT_ONCE = 4;
/** Waits until a batch that could not be settled is tried again, in milliseconds. */
const RETRY = { initial: 250, max: 10_000 };
/** Settles batches: writes their reports and puts their files away. */
export function openSettlement(context: SettlementContext) {
  const { batches } = context.side;
  const settlement = (fence: Fence) => createReportAndPutAway({ ...context, fence });
  const queue = createSettlingQueue(context, async (name) => {
    await batches.withLease(name, async (fence) => {
      const batch = await batches.find(name);
      // Redis may have forgotten since that it was finished.
      if (batch && isFinished(batch)) await settlement(fence).settleFinished(batch);
    });
  });
  const checkFiles = createFileChecks({ ...context, batches });
  const recall = createRecall(context);
  const keepNotes = createNoteKeeper(context);
  const checkPresence = createPresenceCheck(context);

  return {
    /** Starts to settle every finished batch; a large one does not delay the others. */
    tick: queue.tick,
    /** Checks settled files for changes. First, and before files are taken, the ledger has the batches of all reports. */
    async checkFiles(): Promise<void> {
      await recall();
      await checkFiles();
    },
    /** Settles an unreadable file, with the lease of its batch. */
    settleUnreadable: (batch: Batch, error: PoSyncError, since: string, fence: Fence) =>
      settlement(fence).settleUnreadable(batch, error, since),
    recall,
    /** Looks after the batches in progress: whether their files are there, and whether what people decided is noted. */
    async attend(): Promise<void> {
      for (const batch of await batches.underWay()) {
        await checkPresence(batch);
        await keepNotes(batch.batch);
      }
    },
    /** Waits until the batches that are being settled are done. */
    [Symbol.asyncDispose]: () => queue.drained(),
  };
}

/** A few batches are settled at the same time, each once. While another daemon has one, the next tick tries again. */
function createSettlingQueue(
  { clock, log, store, side: { batches } }: SettlementContext,
  settle: (name: string) => Promise<void>,
) {
  const slots = createSemaphore(AT_ONCE);
  const settling = new Map<string, Promise<void>>();
  const failed = new Map<string, { times: number; until: number }>();

  function begin(name: string): void {
    const settled = slots
      .hold(() => settle(name))
      .then(
        () => void failed.delete(name),
        async (error: unknown) => {
          const reason = withoutStop(toError(error).message);
          const times = (failed.get(name)?.times ?? 0) + 1;
          failed.set(name, { times, until: clock.monotonic() + growingWait(times, RETRY) });
          batchTrouble(log, { batch: name, reason });
          // Only for people: where Redis is the trouble, they see that anyway.
          await batches.notSettled(name, reason, store.time.now()).catch(() => undefined);
        },
      )
      .finally(() => settling.delete(name));
    settling.set(name, settled);
  }

  return {
    async tick(): Promise<void> {
      for (const name of await batches.finished()) {
        const isWaiting = clock.monotonic() < (failed.get(name)?.until ?? 0);
        if (!settling.has(name) && !isWaiting) begin(name);
      }
    },
    async drained(): Promise<void> {
      await Promise.all(settling.values());
    },
  };
}

/** Builds the step that notes beside the report of a batch in progress what people decided, where it is not noted yet. */
function createNoteKeeper(context: SettlementContext): (name: string) => Promise<void> {
  const { log, config, side } = context;
  const noteDiscards = createDiscardNotes(context);
  return async (name) => {
    try {
      const folder = join(config.reports.path, name);
      await makeFolder(folder);
      await keepCancelled(name, folder, side.batches);
      await noteDiscards(name, folder);
    } catch (error) {
      batchTrouble(log, { batch: name, reason: toError(error).message });
    }
  };
}
