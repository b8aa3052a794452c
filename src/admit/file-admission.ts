import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { createRetention, type Retention } from '../ledger/retention.ts';
import type { ClaimedFile } from '../order/batch.ts';
import type { Inspection } from '../parse/inspection.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context } from '../redis/store.ts';
import { howToRead } from '../validate/how-to-read.ts';
import { createAdmission } from './admit.ts';
import { type IngestDeps, type Ingested, ingest } from './ingest.ts';
import type { Throughput } from './throughput.ts';

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

/** Builds the step from a claimed file to orders in the ledger and the queue. */
export function createFileAdmission({
  context,
  book,
  queue,
  throughput,
  inspections,
}: FileAdmissionDeps): FileAdmission {
  const { config, store, clock, log, stopping } = context;
  const { ledger, batches } = book;
  const retention = createRetention({ ...store, keep: config.ledger.keep });
  const { admit, tick } = createAdmission({ store, ledger, batches, queue, clock, throughput, retention });
  const how = (path: string, source: string) => howToRead(path, source, { config, batches });

  return {
    ingest: (file, claimedAt, on) =>
      ingest(file, claimedAt, { batches, admit, howToRead: how, log, inspections, stopping, ...on }),
    tick,
    retention,
  };
}
