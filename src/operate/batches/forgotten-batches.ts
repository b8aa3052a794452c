import { OUTCOMES } from '../../order/outcome.ts';
import { lostReports } from '../../put-away/recall-batches.ts';
import type { Report } from '../../report/report.ts';
import type { OperatorContext } from '../operator-context.ts';
import type { BatchView } from './list-batches.ts';

/**
 * The batches whose dead letters wait for a person according to their reports, but that Redis does not have, the newest
 * first. A daemon that settles files enters them when it starts.
 */
export async function forgottenBatches(context: Pick<OperatorContext, 'batches' | 'config'>): Promise<BatchView[]> {
  const found: BatchView[] = [];
  for await (const { report, folder } of lostReports(context)) {
    if (report.open > 0) found.unshift(viewOfReport(report, folder));
  }
  return found;
}

function viewOfReport({ counts, ...report }: Report, folder: string): BatchView {
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counts[outcome]])) as typeof counts;
  const batch = {
    batch: report.batch,
    no: 0,
    source: report.source,
    kind: 'inbox',
    name: report.file,
    path: '',
    state: 'done',
    startedAt: Date.parse(report.startedAt),
    lastAt: Date.parse(report.finishedAt ?? report.startedAt),
    total: counts.orders,
    cancelled: false,
    counts: outcomes,
    open: report.open,
    ...(report.by === undefined ? {} : { by: report.by }),
  } as const;
  const standing = report.state === 'unreadable' ? 'unreadable' : 'finished';
  return { batch, standing, report: folder, ...(report.error ? { error: report.error } : {}) };
}
