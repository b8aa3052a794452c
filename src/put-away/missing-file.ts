import { join } from 'node:path';
import { counted } from '../core/format.ts';
import { fileGone } from '../intake/folders.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { writeAnswered } from '../report/answer.ts';
import { hasOrders, type Report } from '../report/report.ts';
import { writeProgress } from '../report/write-report.ts';
import { countAdmitted } from './changed-file.ts';
import { knownOrders, withoutOrders } from './known-content.ts';
import type { SettlementContext } from './put-batch-away.ts';

/**
 * Reports a batch whose claimed file is gone. It was put away after its complete report, whose progress may have been
 * written once more since. Otherwise the batch waits for its file, because results and fix file need it: PoSyncError
 * `file-missing`. A person can cancel it, and the report has what the ledger knows.
 */
export async function reportWithoutFile(batch: Batch, report: Report, context: SettlementContext): Promise<void> {
  const { config, side, store } = context;
  const folder = join(config.reports.path, batch.batch);
  if (await hasOrders(folder)) return writeProgress(folder, report);
  if (!batch.cancelled) throw fileGone(batch);
  const orders = knownOrders(batch, { ...side, store });
  await writeAnswered({ folder, report: withoutOrders(report), shape: undefined, orders }, config);
}

/** Ends a cancelled batch whose file is gone with the orders that were read. Undefined to read it after a rollback. */
export async function settleGone(
  { batch, name, inspection }: Batch,
  since: string,
  { side, store }: SettlementContext,
): Promise<string | undefined> {
  const total = await countAdmitted(batch, { ...side, ...store });
  if (inspection !== undefined) {
    const warnings = new Set([goneText(name, total, inspection.orders), ...inspection.warnings]);
    await side.batches.inspected(batch, { ...inspection, warnings: [...warnings] });
  }
  return (await side.batches.admitted(batch, total, since)) ? (inspection?.sha256 ?? '') : undefined;
}

/** The warning of a cancelled batch whose file is gone. */
function goneText(file: string, read: number, all: number | undefined): string {
  const unread = all === undefined ? 'its other orders' : counted(all - read, 'order');
  return `${file} was missing when its batch was cancelled: ${unread} of it were not read and not sent.`;
}
