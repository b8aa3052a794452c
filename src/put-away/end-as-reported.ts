import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { PoSyncError } from '../core/errors.ts';
import { isGone } from '../core/regular-file.ts';
import { type Batch, isFinished } from '../ledger/batches/batches.ts';
import { OUTCOMES } from '../order/outcome.ts';
import { type Report, readReport } from '../report/report.ts';
import { isUndecided } from './changed-file.ts';
import type { SettlementContext } from './put-batch-away.ts';

// Redis may come back from before a file was put away. The disk knows more: the report.

/** Builds the step that stops batches in progress that ended already: nothing of them is sent. Before delivery begins. */
export function createStopOfEnded({ config, side: { batches } }: SettlementContext) {
  return async (): Promise<void> => {
    for (const batch of await batches.underWay()) {
      const folder = join(config.reports.path, batch.batch);
      if (batch.cancelled || isFinished(batch) || !(await isGone(batch.path))) continue;
      const ended = await finishedReport(folder);
      if (ended === undefined) continue;
      await batches.sendNoMore(batch.batch, Date.parse(ended.startedAt));
      // A hold would wait for a person.
      await batches.release(batch.batch);
    }
  };
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
