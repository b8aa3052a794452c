import { mappingFor } from '../config/config.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { createCorrectedExport } from '../ledger/corrected-export.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { createKnownInvalid } from '../ledger/known-invalid.ts';
import { createRetention, type Retention } from '../ledger/retention.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Inspection } from '../parse/inspection.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context } from '../redis/store.ts';
import { createAdmission } from './admit.ts';
import { createHeldBack } from './held-back.ts';
import { type IngestDeps, type Ingested, ingest } from './ingest.ts';
import type { Throughput } from './throughput.ts';
import { createZeroGuard } from './zero-guard.ts';

type FileAdmissionDeps = {
  context: Context;
  book: EnvironmentLedger;
  queue: OrderQueue;
  throughput: Throughput;
  /** What inspection found, kept for settlement. */
  inspections: Map<string, Inspection>;
};

export type FileAdmission = {
  /** Reads a claimed file and admits its orders. */
  ingest(file: ClaimedFile, claimedAt: number, on: Pick<IngestDeps, 'onProgress' | 'onUnreadable'>): Promise<Ingested>;
  /** Counts the orders of held batches again; call about once a second. */
  tick(): Promise<void>;
  retention: Retention;
};

/** Files that are admitted at the same time, page by page in turn. */
const FILES = 4;

/** Builds the way from a claimed file to orders in the ledger and the queue. */
export function createFileAdmission({
  context,
  book,
  queue,
  throughput,
  inspections,
}: FileAdmissionDeps): FileAdmission {
  const { config, store, clock, log, stopping } = context;
  const { ledger, batches } = book;
  const { redis, keys, time } = store;
  const heldBack = createHeldBack({ batches, ledger, redis, keys, clock });
  const retention = createRetention({ redis, keys, keep: config.ledger.keep });
  const guard = createZeroGuard({ ledger, redis, keys });
  const admit = createAdmission({
    ledger,
    queue,
    time,
    clock,
    throughput: { ...throughput, fewSeconds: () => throughput.fewSeconds() + heldBack.orders() },
    turns: createSemaphore(FILES),
    nameOf: batches.nameOf,
    shown: retention.shown,
    told: createKnownInvalid({ redis, keys }),
    corrected: createCorrectedExport({ redis, keys }),
    isCancelled: batches.isCancelled,
  });
  const mappingOf = (source: string) => mappingFor(config, source);
  const admitReleased: IngestDeps['admit'] = async (batch, page, file, signal) =>
    (await heldBack.released(batch.batch, signal)) && admit(batch, await guard(page, file), file, signal);

  return {
    ingest: (file, claimedAt, on) =>
      ingest(file, claimedAt, { batches, admit: admitReleased, mappingOf, log, inspections, stopping, ...on }),
    tick: heldBack.tick,
    retention,
  };
}
