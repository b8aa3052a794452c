import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { claimTimeOf } from '../../order/batch.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import { type Report, readReport } from '../../report/report.ts';
import type { OperatorContext } from '../operator-context.ts';
import { allNames, type BatchView } from './list-batches.ts';

/**
 * The batches whose dead letters wait for a person according to their reports, but that Redis has lost, the newest
 * first. Reads the reports of lost batches only.
 */
export async function forgottenBatches({
  batches,
  config,
}: Pick<OperatorContext, 'batches' | 'config'>): Promise<BatchView[]> {
  const reports = config.reports.path;
  const names: string[] = await readdir(reports).catch(() => []);
  const lost = new Set(names.filter((name) => claimTimeOf(name) !== undefined));
  if (lost.size === 0) return [];
  for await (const name of allNames(batches)) lost.delete(name);
  const found: BatchView[] = [];
  for (const name of [...lost].sort().toReversed()) {
    const report = await readReport(join(reports, name));
    // A batch that began meanwhile is in Redis now.
    const isOpen = report?.environment === config.environment && report.finishedAt !== null && report.open > 0;
    if (isOpen && (await batches.find(name)) === undefined) found.push(viewOfReport(report, join(reports, name)));
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
