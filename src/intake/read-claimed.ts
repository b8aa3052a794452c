import { access } from 'node:fs/promises';
import type { InboxSource } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { createSemaphore } from '../core/semaphore.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { ROLLED_BACK } from '../ledger/pause-cause.ts';
import { batchTakenUp, batchTrouble } from '../log/events/batch.ts';
import { fileClaimed } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import { type ClaimedFile, claimTimeOf } from '../order/batch.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';
import { claimFile } from './claim.ts';
import { createTurns } from './export.ts';
import type { ExportVersions } from './export-versions.ts';
import { createRetryGaps, type RetryGaps } from './offers.ts';

/** Files read at the same time; a further file is claimed only when one is done, so that other daemons get a share. */
export const FILES = 16;

export type ReadingDeps = {
  batches: Batches;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: Pick<RedisTime, 'now'>;
  log: Log;
  stopping: AbortSignal;
  /** Reads a claimed file up to its last admitted order. `isNew`: this process has just claimed or copied it. */
  ingest(
    file: ClaimedFile,
    claimedAt: number,
    isNew: boolean,
  ): Promise<{ end: string; sha256?: string }>;
};

type ReaderDeps = ReadingDeps & { versions: Pick<ExportVersions, 'wasRead'> };

export type ClaimedFileReader = ReturnType<typeof createClaimedFileReader>;

/** Creates the reader of claimed files: claims, reads, and resumes what a daemon left unread. */
export function createClaimedFileReader(deps: ReaderDeps) {
  const { batches, clock, log, stopping } = deps;
  const slots = createSemaphore(FILES);
  const inTurn = createTurns(deps, slots);
  const inProgress = new Map<string, Promise<void>>();
  const gaps = createRetryGaps(clock);
  // Files that this process found waiting for a person: a restart reads them again, with the mapping that it has then.
  const waiting = new Set<string>();
  const read = readingOf(deps, gaps, waiting);

  function track(name: string, reading: Promise<void>): void {
    const done = reading.finally(() => inProgress.delete(name));
    inProgress.set(name, done);
  }

  return {
    /** Reads the copy of an export, or a file that was submitted. */
    async readCopy(copy: ClaimedFile): Promise<void> {
      const [madeIn, at] = [batches.epoch(), clock.now()];
      // While it waits for its turn, another daemon may read it, and Redis may forget that.
      const reading = inTurn(copy, () => read(copy, at, batches.epoch() === madeIn));
      track(copy.batch, reading);
    },
    /** Resolves when the file is claimed by any daemon; reading continues in the background. */
    claimAndRead(path: string, source: InboxSource): Promise<void> {
      return new Promise((claimed, failed) => {
        const reading = slots.hold(async () => {
          if (stopping.aborted) return claimed();
          const at = clock.now();
          const file = await claimFile(path, source, new Date(at)).catch(failed);
          claimed();
          if (file === 'taken' || file === undefined) return;
          fileClaimed(log, { batch: file.batch, source: file.source, file: file.name });
          await read(file, at, true);
        });
        track(path, reading);
      });
    },
    /** Resumes a claimed file that no daemon is reading, after a growing gap if reading has failed here before. */
    async resume(file: ClaimedFile): Promise<void> {
      if (stopping.aborted || inProgress.has(file.batch) || !gaps.isDue(file.batch)) return;
      const left = await leftOf(file, batches, waiting);
      if (left === undefined) return;
      const claimedAt = left.startedAt ?? claimTimeOf(file.batch) ?? clock.now();
      // Needs no slot: that its file is missing is found at once.
      if (!left.isThere) return track(file.batch, read(file, claimedAt, false));
      const reading = inTurn(file, async () => {
        // While it waited for its turn, another daemon may have read it.
        if ((await leftOf(file, batches, waiting).catch(() => left)) === undefined) return;
        batchTakenUp(log, { batch: file.batch, source: file.source, file: file.name });
        await read(file, claimedAt, false);
      });
      track(file.batch, reading);
    },
    /** Forgets the failures of all other batches. */
    keepOnly: gaps.keepOnly,
    /** Number of files being read now. */
    count: (): number => inProgress.size,
    [Symbol.asyncDispose]: async (): Promise<void> => void (await Promise.all(inProgress.values())),
  };
}

function readingOf(
  { ingest, batches, versions, time, log }: ReaderDeps,
  gaps: RetryGaps,
  waiting: Set<string>,
) {
  return async (file: ClaimedFile, claimedAt: number, isNew: boolean): Promise<void> => {
    try {
      const { end, sha256 } = await ingest(file, claimedAt, isNew);
      gaps.forget(file.batch);
      if (end === 'waits') waiting.add(file.batch);
      else waiting.delete(file.batch);
      if (file.kind === 'export' && sha256)
        await versions.wasRead(file, sha256, end === 'admitted');
    } catch (error) {
      gaps.failed(file.batch);
      const { message: reason } = toError(error);
      batchTrouble(log, { batch: file.batch, reason });
      // Only for people: where Redis is the trouble, or lost part of the ledger, they see that anyway.
      if (codeOf(error) === ROLLED_BACK) return;
      const why = { code: codeOf(error) ?? 'internal', reason };
      await batches.notSettled(file.batch, why, time.now()).catch(() => undefined);
    }
  };
}

/** What is left to read of a file that no daemon reads; undefined if nothing is. */
async function leftOf(
  { batch, path }: ClaimedFile,
  { find, isHeld }: Batches,
  waiting: ReadonlySet<string>,
) {
  const [begun, isThere] = [await find(batch), await exists(path)];
  const isDone = begun ? begun.state !== 'reading' : !isThere;
  const waits = begun?.held !== undefined && waiting.has(batch);
  return isDone || waits || (await isHeld(batch))
    ? undefined
    : { startedAt: begun?.startedAt, isThere };
}

async function exists(path: string): Promise<boolean> {
  return (await access(path).catch(() => 'missing')) === undefined;
}
