import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import type { InboxSource } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { createSemaphore, createTurns } from '../core/semaphore.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { ROLLED_BACK } from '../ledger/identity.ts';
import { batchTakenUp, batchTrouble } from '../log/events/batch.ts';
import { fileClaimed, fileTaken } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import { type ClaimedFile, claimTimeOf } from '../order/batch.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/time.ts';
import { claimFile } from './claim.ts';
import type { ExportVersions } from './export-versions.ts';
import { createRetryGaps, type RetryGaps } from './offers.ts';

/** Files read at the same time; a further file is claimed only when one is done, so that other daemons get a share. */
export const FILES = 16;
/** How long the next version of an export waits for the one before, which a pause may keep. Milliseconds. */
const TURN = 60_000;

export type ReadingDeps = {
  batches: Batches;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  time: Pick<RedisTime, 'now'>;
  log: Log;
  stopping: AbortSignal;
  /** Reads a claimed file up to its last admitted order. `isNew`: this process has just claimed or copied it. */
  ingest(file: ClaimedFile, claimedAt: number, isNew: boolean): Promise<{ sha256?: string }>;
};

type ReaderDeps = ReadingDeps & { versions: Pick<ExportVersions, 'wasRead'> };

export type ClaimedFileReader = ReturnType<typeof createClaimedFileReader>;

/** Creates the reader of claimed files: claims, reads, and resumes what a daemon left unread. */
export function createClaimedFileReader(deps: ReaderDeps) {
  const { batches, clock, log, stopping } = deps;
  const slots = createSlots(clock);
  const inProgress = new Map<string, Promise<void>>();
  const gaps = createRetryGaps(clock);
  const read = readingOf(deps, gaps);

  function track(name: string, reading: Promise<void>): void {
    const done = reading.finally(() => inProgress.delete(name));
    inProgress.set(name, done);
  }

  function readInSlot(file: ClaimedFile, claimedAt: number, isNew = () => false): void {
    const reading = slots.holdFor(file, () => read(file, claimedAt, isNew()));
    track(file.batch, reading);
  }

  return {
    /** Reads the copy of an export, or a file that was submitted. */
    async readCopy(copy: ClaimedFile): Promise<void> {
      const madeIn = batches.epoch();
      // While it waits for its turn, another daemon may read it, and Redis may forget that.
      readInSlot(copy, clock.now(), () => batches.epoch() === madeIn);
    },
    /** Resolves when the file is claimed by any daemon; reading continues in the background. */
    claimAndRead(path: string, source: InboxSource): Promise<void> {
      return new Promise((claimed, failed) => {
        const reading = slots.hold(async () => {
          if (stopping.aborted) return claimed();
          const at = clock.now();
          const file = await claimFile(path, source, new Date(at)).catch(failed);
          claimed();
          if (file === 'taken') return fileTaken(log, { source: source.name, file: basename(path) });
          if (file === undefined) return;
          fileClaimed(log, { batch: file.batch, source: file.source, file: file.name });
          await read(file, at, true);
        });
        track(path, reading);
      });
    },
    /** Resumes a claimed file that no daemon is reading, after a growing gap if reading has failed here before. */
    async resume(file: ClaimedFile): Promise<void> {
      if (stopping.aborted || inProgress.has(file.batch) || !gaps.isDue(file.batch)) return;
      const [batch, isThere] = [await batches.find(file.batch), await exists(file.path)];
      if ((batch ? batch.state !== 'reading' : !isThere) || (await batches.isHeld(file.batch))) return;
      const claimedAt = batch?.startedAt ?? claimTimeOf(file.batch) ?? clock.now();
      // Needs no slot: that its file is missing is found at once.
      if (!isThere) return track(file.batch, read(file, claimedAt, false));
      batchTakenUp(log, { batch: file.batch, source: file.source, file: file.name });
      readInSlot(file, claimedAt);
    },
    /** Forgets the failures of all other batches. */
    keepOnly: gaps.keepOnly,
    /** Number of files being read now. */
    count: (): number => inProgress.size,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(inProgress.values());
    },
  };
}

function createSlots(clock: Clock) {
  const { hold } = createSemaphore(FILES);
  const inTurn = createTurns(clock, TURN);
  const holdFor = ({ kind, source }: ClaimedFile, task: () => Promise<void>) =>
    kind === 'export' ? inTurn(source, () => hold(task)) : hold(task);
  return { hold, holdFor };
}

function readingOf({ ingest, batches, versions, time, log }: ReaderDeps, gaps: RetryGaps) {
  return async (file: ClaimedFile, claimedAt: number, isNew: boolean): Promise<void> => {
    try {
      const { sha256 } = await ingest(file, claimedAt, isNew);
      gaps.forget(file.batch);
      if (file.kind === 'export' && sha256) await versions.wasRead(file, sha256);
    } catch (error) {
      gaps.failed(file.batch);
      const { message: reason } = toError(error);
      batchTrouble(log, { batch: file.batch, reason });
      // Only for people: where Redis is the trouble, or lost part of the ledger, they see that anyway.
      if (codeOf(error) === ROLLED_BACK) return;
      await batches.notSettled(file.batch, reason, time.now()).catch(() => undefined);
    }
  };
}

async function exists(path: string): Promise<boolean> {
  return (await access(path).catch(() => 'missing')) === undefined;
}
