import { hash } from 'node:crypto';
import { join } from 'node:path';
import { growingWait } from '../core/backoff/backoff.ts';
import { type PoSyncError, toError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import { isGone } from '../core/regular-file.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { type Batch, isFinished } from '../ledger/batches/batches.ts';
import { batchTrouble } from '../log/events/batch.ts';
import type { Fence } from '../redis/lease.ts';
import { layHeldPage, removeHeldPage } from '../report/beside.ts';
import { readReport } from '../report/report.ts';
import { addDeadLetter, newStory, type Story } from '../report/story.ts';
import { writeProgress } from '../report/write-report.ts';
import { deadLettersInProgress } from './dead-letters-in-progress.ts';
import { createStopOfEnded, keepCancelled } from './end-as-reported.ts';
import { createFileChecks, createRemovalCheck } from './file-checks.ts';
import { refreshReports } from './housekeeping.ts';
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

/** Pause before a lease is asked for again. Milliseconds. */
const RETRY_LEASE = 50;
/** Batches settled at the same time. */
const AT_ONCE = 4;
/** Waits until a batch that could not be settled is tried again, in milliseconds. */
const RETRY = { initial: 250, max: 10_000 };
/** Pause between refreshes, as a multiple of the last refresh's duration. */
const PAUSE_FACTOR = 5;
/** The longest pause between refreshes, in milliseconds. */
const LONGEST_PAUSE = 60_000;

/** Settles batches: writes their reports, puts their files away, and keeps reports current. */
export function openSettlement(context: SettlementContext) {
  const { batches } = context.side;
  const { withLease } = batches;
  const settlement = (fence: Fence) => createReportAndPutAway({ ...context, fence });
  const queue = createSettlingQueue(context, async (name) => {
    await withLease(name, 'lease', (ours) =>
      withLease(name, 'reportLease', async (ofReport) => {
        const batch = await batches.find(name);
        const fence = () => ours().then(ofReport);
        // Redis may have forgotten since that it was finished.
        if (batch && isFinished(batch)) await settlement(fence).settleFinished(batch);
      }),
    );
  });
  const checkFiles = createFileChecks({ ...context, batches });
  const recall = createRecall(context);
  const refresh = reportRefresher(context);
  const write = progressWriter(context);
  const progressTurn = createProgressTurn(context, write);
  const checkPresence = createPresenceCheck(context);

  /** Settles an unreadable file. Waits for the report's lease, so that the final report is written last. */
  async function settleUnreadable(
    batch: Batch,
    error: PoSyncError,
    since: string,
  ): Promise<string | undefined> {
    for (;;) {
      const settled = await withLease(batch.batch, 'reportLease', async (fence) => ({
        sha256: await settlement(fence).settleUnreadable(batch, error, since),
      }));
      if (settled !== undefined) return settled.sha256;
      await context.clock.sleep(RETRY_LEASE);
    }
  }

  return {
    /** Starts to settle every finished batch; a large one does not delay the others. */
    tick: queue.tick,
    /**
     * Checks settled files for changes, and rewrites reports whose dead letters were closed or whose file changed. First,
     * and before files are taken, the ledger has the batches of all reports.
     */
    async refresh(): Promise<void> {
      await recall();
      await checkFiles();
      await refresh();
    },
    settleUnreadable,
    recall,
    /** Writes the first report of a batch whose file is read here. */
    async progress(name: string): Promise<void> {
      context.onTaken?.(name);
      await write(name);
    },
    /** Keeps the report of every batch in progress current. */
    async progressAll(): Promise<void> {
      const found = await batches.underWay();
      for (const batch of found) await checkPresence(batch);
      await progressTurn(found);
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

/** Rewrites reports whose dead letters were closed or whose file was removed. Pauses in proportion to the work, for large reports. */
function reportRefresher(context: SettlementContext): () => Promise<void> {
  const { clock, config, side, store } = context;
  const findRemoved = createRemovalCheck(context);
  let pausedUntil = 0;
  return async () => {
    const began = clock.monotonic();
    if (began < pausedUntil) return;
    await findRemoved();
    await refreshReports({ ...side, store, config });
    const ended = clock.monotonic();
    pausedUntil = ended + Math.min((ended - began) * PAUSE_FACTOR, LONGEST_PAUSE);
  };
}

/**
 * Builds the turn that writes the reports of all batches in progress, except those that say already what is known now. One that
 * another daemon writes is left to it.
 */
function createProgressTurn(
  context: SettlementContext,
  write: (name: string) => Promise<boolean>,
): (found: readonly Batch[]) => Promise<void> {
  const factsOf = progressFacts(context);
  const reports = context.config.reports.path;
  /** The facts with which each report was written here. */
  let shown = new Map<string, string>();
  return async (found) => {
    const facts = await factsOf(found);
    const now = new Map<string, string>();
    for (const [i, { batch: name }] of found.entries()) {
      const isShown =
        shown.get(name) === facts[i] && !(await isGone(join(reports, name, 'report.json')));
      if (isShown || (await write(name))) now.set(name, facts[i] ?? '');
    }
    shown = now;
  };
}

/** What the report of each batch in progress depends on, as a digest: while it stays the same, so does the report. Reads no file. */
function progressFacts({ clock, side: { breaker }, store }: SettlementContext) {
  const { redis, keys } = store;
  return async (found: readonly Batch[]): Promise<string[]> => {
    const since = Math.min(...found.map(({ startedAt }) => startedAt));
    const pauses = found.length > 0 ? await breaker.during(since, clock.now()) : [];
    const ofBatch = async (batch: Batch) => {
      const discards = await redis.hlen(keys.discards(batch.batch));
      return hash('sha256', JSON.stringify([batch, discards, pauses]));
    };
    return Promise.all(found.map(ofBatch));
  };
}

/** Writes the report of a batch in progress. False where something could not be written, also while another daemon writes it. */
function progressWriter(context: SettlementContext): (name: string) => Promise<boolean> {
  const { log, config, side } = context;
  const { batches } = side;
  const { reportOf } = createReportAndPutAway(context);
  const storyOf = heldStories(context);
  const noteDiscards = createDiscardNotes(context);

  async function writeAlone(name: string, fence: Fence): Promise<boolean> {
    const folder = join(config.reports.path, name);
    const isKept = await keepCancelled(name, folder, batches);
    const batch = await batches.find(name);
    // The report of a file that is turned away is written already.
    if (batch === undefined || batch.state === 'done' || batch.turnedAway !== undefined)
      return true;
    const isNoted = await noteDiscards(name, folder);
    const report = await reportOf(batch, batch.held ? 'waiting' : 'running');
    const story = await storyOf(batch);
    // Redis lost how the batch ended.
    if ((await readReport(folder).catch(() => undefined))?.finishedAt) return isKept && isNoted;
    await writeProgress(folder, report, story, fence);
    await fence();
    if (batch.kind === 'inbox' && batch.held) await layHeldPage(batch.path, folder);
    else if (batch.kind === 'inbox') await removeHeldPage(batch.path, name);
    return isKept && isNoted;
  }

  return async (name) => {
    const work = batches.withLease(name, 'reportLease', (fence) => writeAlone(name, fence));
    return await work.then(
      (isComplete = false) => isComplete,
      (error: unknown) => {
        batchTrouble(log, { batch: name, reason: toError(error).message });
        return false;
      },
    );
  };
}

/** Dead letters of a held batch that its page counts; each costs a few calls of Redis. */
const MOST_HELD = 2_000;

/** What is known of the dead letters of a batch while it is held, read again only when its counts have changed. */
function heldStories({ store, side }: SettlementContext): (batch: Batch) => Promise<Story> {
  const known = new Map<string, { of: string; story: Story }>();
  return async (batch) => {
    const of = JSON.stringify([batch.counts, batch.open]);
    const last = known.get(batch.batch);
    if (batch.held && last?.of === of) return last.story;
    const story = newStory(batch.batch);
    known.delete(batch.batch);
    if (!batch.held) return story;
    let read = 0;
    for await (const letter of deadLettersInProgress({ ...side, store }, [batch])) {
      addDeadLetter(story, letter);
      read += 1;
      if (read === MOST_HELD) break;
    }
    known.set(batch.batch, { of, story });
    return story;
  };
}
