import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { PoSyncError } from '../core/errors.ts';
import { isGone, readJsonIfExists } from '../core/regular-file.ts';
import { type Batch, isFinished } from '../ledger/batches/batches.ts';
import { OUTCOMES } from '../order/outcome.ts';
import { writeFileWhole } from '../report/draft.ts';
import { type Report, readReport } from '../report/report.ts';
import { isUndecided } from './changed-file.ts';
import type { SettlementContext } from './put-batch-away.ts';

// Redis may come back from before a file was put away or cancelled. The disk knows more: the report, and who cancelled it.

/**
 * Builds the step that stops batches in progress of which nothing is to be sent: those that a person cancelled, and those
 * that ended. Before delivery begins. Fails while the folder of reports cannot be read: nobody knows then what is not to be sent.
 */
export function createStopOfEnded({ config, side: { batches } }: SettlementContext) {
  return async (): Promise<void> => {
    await readdir(config.reports.path);
    for (const batch of await batches.underWay()) {
      const folder = join(config.reports.path, batch.batch);
      const by = batch.cancelled ? undefined : await cancellationIn(folder);
      const ended =
        batch.cancelled || by || isFinished(batch) ? undefined : await finishedReport(folder);
      const isOver = ended !== undefined && (await isGone(batch.path));
      if (by) await batches.cancel(batch.batch, by);
      else if (isOver) await batches.sendNoMore(batch.batch, Date.parse(ended.startedAt));
      // A hold would wait for a person, who decided already.
      if (batch.cancelled || by || isOver) await batches.release(batch.batch);
    }
  };
}

/** Beside the report, because Redis may lose it, and the report is written from what Redis knows. */
const CANCELLATION = '.cancelled.json';

/**
 * Notes who cancelled a batch, where its report has a folder already. A cancellation does not fail for it: `keepCancelled` tries
 * again. Returns whether it is noted.
 */
export async function keepCancellation(
  folder: string,
  by: { at: number; who: string },
): Promise<boolean> {
  const note = join(folder, CANCELLATION);
  try {
    const { uid, gid } = await lstat(folder);
    await writeFileWhole(note, [JSON.stringify(by)]);
    // Of the daemon's user, who reads it.
    await lchown(note, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** Who cancelled a batch, as noted. */
async function readCancellation(folder: string): Promise<{ at: number; who: string } | undefined> {
  try {
    const { at, who } = (await readJsonIfExists(join(folder, CANCELLATION))) as {
      at: unknown;
      who: unknown;
    };
    return typeof at === 'number' && typeof who === 'string' ? { at, who } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A batch that is read again, because Redis lost that it was cancelled, stays so. Before its report is written. Notes a
 * cancellation that could not be noted when a person made it, as on a full disk. False where it still could not.
 */
export async function keepCancelled(
  batch: string,
  folder: string,
  batches: SettlementContext['side']['batches'],
): Promise<boolean> {
  const isKnown = await batches.isCancelled(batch);
  const by = isKnown ? (await batches.find(batch))?.cancelledBy : await cancellationIn(folder);
  if (by && !isKnown) await batches.cancel(batch, by);
  else if (by && (await readCancellation(folder)) === undefined)
    return await keepCancellation(folder, by);
  return true;
}

/** Who cancelled a batch, as the folder of its report says. */
async function cancellationIn(folder: string): Promise<{ at: number; who: string } | undefined> {
  const noted = await readCancellation(folder);
  if (noted !== undefined) return noted;
  const by = (await readReport(folder).catch(() => undefined))?.cancelledBy;
  return by && { at: Date.parse(by.at), who: by.who };
}

/**
 * Ends a batch whose file is gone because it was put away, which Redis has forgotten, with the counts of its report. Returns
 * its SHA-256; undefined to come back after a rollback, while orders of it wait. PoSyncError `file-missing` where no report
 * says that it ended.
 */
export async function endAsReported(
  { batch }: Batch,
  gone: PoSyncError,
  { config, side, store, fence }: SettlementContext,
): Promise<string | undefined> {
  const report = await finishedReport(join(config.reports.path, batch));
  if (report === undefined) throw gone;
  if (await isUndecided(batch, { ...side, ...store })) return undefined;
  await fence?.();
  await side.batches.ended(batch, report.counts);
  return report.sha256;
}

/** Whether its report says that it ended; `otherwise`: only if its outcomes are not those that Redis counted. */
export async function hasEnded(
  { batch, counts }: Pick<Batch, 'batch' | 'counts'>,
  { reports }: Pick<Config, 'reports'>,
  { otherwise = false } = {},
): Promise<boolean> {
  const report = await finishedReport(join(reports.path, batch));
  return (
    report !== undefined &&
    !(otherwise && OUTCOMES.every((one) => report.counts[one] === counts[one]))
  );
}

/** The report of a batch that ended. */
export async function finishedReport(folder: string): Promise<Report | undefined> {
  const report = await readReport(folder).catch(() => undefined);
  return report?.finishedAt ? report : undefined;
}
