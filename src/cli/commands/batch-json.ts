import { join } from 'node:path';
import type { Batch } from '../../ledger/batches.ts';
import { standingOf } from '../../operate/list-batches.ts';
import { iso } from '../terminal/print-json.ts';

/** A batch in the documents of `--json`, in the words of `report.json`. */
export function batchJson(batch: Batch, reports: string) {
  const { batch: name, source, name: file, startedAt, lastAt, proof, total, counts, open, held, cancelled } = batch;
  return {
    batch: name,
    source,
    file,
    state: standingOf(batch),
    startedAt: iso(startedAt),
    lastAt: iso(lastAt),
    sha256: proof?.sha256,
    bytes: proof?.bytes,
    format: proof?.shape.format,
    counts: { records: proof?.records ?? 0, orders: total ?? null, ...counts },
    open,
    held: held && { reason: held.reason, since: iso(held.since) },
    cancelled,
    warnings: proof?.warnings ?? [],
    report: join(reports, name),
  };
}
