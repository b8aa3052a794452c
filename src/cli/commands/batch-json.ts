import { join } from 'node:path';
import { iso } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches.ts';
import { standingOf } from '../../operate/list-batches.ts';

/** A batch in the documents of `--json`, in the words of `report.json`. */
export function batchJson(batch: Batch, reports: string) {
  const {
    batch: name,
    source,
    name: file,
    startedAt,
    lastAt,
    inspection,
    total,
    counts,
    open,
    held,
    cancelled,
  } = batch;
  return {
    batch: name,
    source,
    file,
    state: standingOf(batch),
    startedAt: iso(startedAt),
    lastAt: iso(lastAt),
    sha256: inspection?.sha256,
    bytes: inspection?.bytes,
    format: inspection?.shape.format,
    counts: { records: inspection?.records ?? 0, orders: total ?? null, ...counts },
    open,
    held: held && { reason: held.reason, since: iso(held.since) },
    cancelled,
    warnings: inspection?.warnings ?? [],
    report: join(reports, name),
  };
}
