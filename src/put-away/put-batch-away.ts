import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf } from '../core/errors.ts';
import type { Inspection } from '../correct/inspection.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { dropCopy, settleFile } from '../intake/put-away.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { batchFinished } from '../log/events/batch.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Fence } from '../redis/lease.ts';
import type { Store } from '../redis/store.ts';
import { type Report, readReport } from '../report/report.ts';

/** Builds the last step of a batch: its file moves to `done/` or `failed/`, and the batch is done. */
export function createPutAway({
  config,
  store,
  side,
  clock,
  log,
  inspections,
  announce,
  onSettled,
  fence,
}: SettlementContext) {
  const { batches } = side;
  const reports = config.reports.path;

  /** Returns where the settled file is; undefined for an export, and when somebody removed it. */
  async function moveFile(batch: Batch, where: 'done' | 'failed'): Promise<string | undefined> {
    const source = config.sources.find(({ name }) => name === batch.source);
    if (source?.type !== 'inbox') return dropCopy(claimOf(batch)).then(() => undefined);
    const settled = await settleFile(claimOf(batch), source, where, new Date(clock.now())).catch(
      unlessMissing,
    );
    if (settled === undefined) return undefined;
    await batches.putAway(batch.batch, settled);
    return settled;
  }

  /** Ends unreadable files of the same source and name: this one replaced them. */
  async function closeReplaced({ batch, source, name, startedAt }: Batch): Promise<void> {
    const { redis, keys } = store;
    const waiting = Object.entries(await redis.hgetall(keys.unreadable));
    const alike = waiting.flatMap(([one, file]) =>
      file === fileOf({ source, name }) ? [one] : [],
    );
    for (const one of alike) {
      // The name of a batch has its time in seconds only.
      if (((await batches.find(one))?.startedAt ?? 0) >= startedAt) continue;
      await batches.replaced(one, batch);
    }
  }

  /** `needPerson` counts the orders that needed a person; an unreadable file counts as one. */
  return async (batch: Batch, where: 'done' | 'failed', needPerson: number): Promise<void> => {
    await fence?.();
    const settledPath = await moveFile(batch, where);
    await fence?.();
    if (where === 'failed')
      await store.redis.hset(store.keys.unreadable, batch.batch, fileOf(batch));
    else await closeReplaced(batch);
    const isChecked = settledPath !== undefined && where === 'done';
    const files = where === 'failed' ? 1 : 0;
    const open = await stillOpen(batch.batch, needPerson - files, batches);
    await announce(batch, open + files);
    await batches.done(batch.batch, isChecked ? store.time.now() : undefined);
    inspections.delete(batch.batch);
    const folder = join(reports, batch.batch);
    const report = await readReport(folder).catch(() => undefined);
    batchFinished(log, { ...finishedFacts(batch, open, report), report: folder });
    onSettled(batch, open + files, report?.nameless ?? 0);
  };
}

function finishedFacts(batch: Batch, needPerson: number, report: Report | undefined) {
  const { batch: name, source, name: file, total: orders = 0, counts, startedAt, lastAt } = batch;
  const leftOut = report?.leftOut && { leftOut: report.leftOut.orders };
  const reason = report?.error && { reason: report.error.message };
  const facts = { batch: name, source, file, orders, ...counts, needPerson };
  return { ...facts, durationMs: lastAt - startedAt, ...leftOut, ...reason };
}

/** Of those that needed a person: orders of a held batch may have been sent again and accepted, or discarded. */
async function stillOpen(
  batch: string,
  needed: number,
  { find }: Pick<Batches, 'find'>,
): Promise<number> {
  return Math.min(needed, (await find(batch))?.open ?? needed);
}

/** The source and name of a file, as `keys.unreadable` keeps them. */
export function fileOf({ source, name }: Pick<Batch, 'source' | 'name'>): string {
  return JSON.stringify([source, name]);
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'file-missing') throw error;
}

function claimOf({ batch, source, kind, name, path }: Batch): ClaimedFile {
  return { batch, source, kind, name, path };
}

/** What settlement is built from. `fence`: of the leases with which a batch is settled. */
export type SettlementContext = {
  fence?: Fence;
  config: Config;
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  side: { batches: Batches; ledger: Ledger; breaker: CircuitBreaker };
  clock: Clock;
  log: Log;
  /** Aborts when the daemon stops. */
  stopping?: AbortSignal;
  /** Inspections of files that this daemon read, by batch. Files of another daemon are inspected again. */
  inspections: Map<string, Inspection>;
  /** Before a batch ends, and before its settled file is known as changed: people get a notice at least once. */
  announce(batch: Batch, needPerson: number): Promise<void>;
  /** For each batch settled here, and again when its settled file was changed. `nameless`: rows without a number. */
  onSettled(batch: Batch, needPerson: number, nameless?: number): void;
};
