import { growingWait } from '../core/backoff/backoff.ts';
import { codeOf, type PoSyncError, toError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { type Batch, isFinished } from '../ledger/batches/batches.ts';
import { batchTrouble } from '../log/events/batch.ts';
import type { Fence } from '../redis/lease.ts';
import { createStopOfEnded } from './end-as-reported.ts';
import { createFileChecks } from './file-checks.ts';
import { createLaterAnswers } from './later-answers.ts';
import { createPresenceCheck } from './missing-file.ts';
import type { SettlementContext } from './put-batch-away.ts';
import { createReplay } from './replay-decisions.ts';
import { createReportAndPutAway } from './report-and-put-away.ts';

/**
 * Builds the step that enters what people decided and Redis lost; `isBack`: Redis is back.
 */
function createRecall(context: SettlementContext): (isBack?: boolean) => Promise<void> {
  const { store, side } = context;
  const replay = createReplay(context);
  const stopEnded = createStopOfEnded(context);
  let isReplayed = false;
  return async (isBack = false) => {
    const epoch = side.batches.epoch();
    // Redis may have lost that alone.
    const isRecalled = epoch === (await store.redis.hget(store.keys.identity, 'recalled'));
    if (isBack || !isReplayed || !isRecalled) await replay();
    isReplayed = true;
    if (isRecalled) return;
    await stopEnded();
    await store.redis.hset(store.keys.identity, 'recalled', epoch);
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
  const later = createLaterAnswers(context);
  const answering = createSettlingQueue(context, later.waiting, later.answer);
  const queue = createSettlingQueue(context, batches.finished, async (name) => {
    await batches.withLease(name, async (fence) => {
      const batch = await batches.find(name);
      // Redis may have forgotten since that it was finished.
      if (batch && isFinished(batch)) await settlement(fence).settleFinished(batch);
    });
  });
  const checkFiles = createFileChecks({ ...context, batches });
  const recall = createRecall(context);
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
    /** Looks after the batches in progress: whether their files are there. */
    async attend(): Promise<void> {
      for (const batch of await batches.underWay()) await checkPresence(batch);
    },
    /** Starts to answer for orders that were settled after the report of their file. */
    answerLater: answering.tick,
    /** Waits until the batches that are being settled are done. */
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([queue.drained(), answering.drained()]);
    },
  };
}

/** A few batches are settled at the same time, each once, and one that fails delays no other. While another daemon has one, the next tick tries again. */
function createSettlingQueue(
  { clock, log, store, side: { batches } }: SettlementContext,
  waiting: () => Promise<Iterable<string>>,
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
          const why = { code: codeOf(error) ?? 'internal', reason };
          await batches.notSettled(name, why, store.time.now()).catch(() => undefined);
        },
      )
      .finally(() => settling.delete(name));
    settling.set(name, settled);
  }

  return {
    async tick(): Promise<void> {
      for (const name of await waiting()) {
        const isWaiting = clock.monotonic() < (failed.get(name)?.until ?? 0);
        if (!settling.has(name) && !isWaiting) begin(name);
      }
    },
    async drained(): Promise<void> {
      await Promise.all(settling.values());
    },
  };
}
