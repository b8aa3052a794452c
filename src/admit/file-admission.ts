import { randomUUID } from 'node:crypto';
import { codeOf, PoSyncError } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import { fileMissing, isGone } from '../core/regular-file.ts';
import type { Inspection } from '../correct/inspection.ts';
import { type Correction, type FileOf, inspectAs, type ReadAs } from '../correct/read-as.ts';
import { readOrderPages } from '../correct/read-orders.ts';
import { mappingDigest, shownSince } from '../intake/export-versions.ts';
import { fileGone, openClaim } from '../intake/folders.ts';
import type { SourcesDeps } from '../intake/sources.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { begunAt, changesByOthers } from '../ledger/identity.ts';
import { ROLLED_BACK } from '../ledger/pause-cause.ts';
import { createRetention, type Retention } from '../ledger/retention.ts';
import { batchAdmitted, batchHeld, batchUnreadable, fileInspected } from '../log/events/batch.ts';
import { type ClaimedFile, claimTimeOf } from '../order/batch.ts';
import type { FileWait } from '../order/file-wait.ts';
import { type CheckedOrder, createPager } from '../order/order.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Context } from '../redis/store.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { type Admission, createAdmission } from './admit.ts';
import type { AdmitPageDeps } from './admit-page.ts';
import { createFirstPasses } from './first-passes.ts';
import { measureThroughput } from './throughput.ts';

type FileAdmissionDeps = {
  context: Context;
  book: EnvironmentLedger;
  queue: OrderQueue;
  /** What inspection found, kept for settlement. */
  inspections: Map<string, Inspection>;
  discard: Reading['discard'];
} & Pick<AdmitPageDeps, 'hasReport'>;

type FileAdmission = {
  /** Reads a claimed file and admits its orders. */
  ingest(
    file: ClaimedFile,
    claim: Claim,
    on: Pick<IngestDeps, 'onProgress' | 'onUnreadable'>,
  ): Promise<Ingested>;
  /** Of files that are not claimed. */
  look: SourcesDeps['look'];
  retention: Retention;
  /** An order got its outcome here. */
  delivered(): void;
  /** Follows how fast orders are delivered, also by other daemons. Call several times a second. */
  measure(): Promise<void>;
};

import type { Fence } from '../redis/lease.ts';

/** When a file was claimed, and whether this process has just done so: then nobody sent an order of it. */
type Claim = { at: number; isNew: boolean };

/** Builds the step from a claimed file to orders in the ledger and the queue. */
export function createFileAdmission({
  context,
  book,
  queue,
  inspections,
  discard,
  hasReport,
}: FileAdmissionDeps): FileAdmission {
  const { config, store, clock, log, stopping } = context;
  const { ledger, batches, identity } = book;
  const throughput = measureThroughput(clock, () => changesByOthers(store, identity));
  const retention = createRetention({
    ...store,
    keep: config.ledger.keep,
    shownSince: () => shownSince(config, store),
  });
  const admission = createAdmission({
    store,
    readList: config.delivery.readList,
    ledger,
    batches,
    queue,
    clock,
    throughput,
    retention,
    log,
    hasReport,
  });
  const { inspect: inspectOnce, lacks } = createFirstPasses(config, stopping);
  const read: Reading['read'] = (file, signal) =>
    inspectAs(file, { config, batches, inspect: inspectOnce }, signal);

  return {
    ingest: (file, claim, on) =>
      ingest(file, claim, {
        context,
        batches,
        admission,
        reading: { read, discard },
        inspections,
        ...on,
      }),
    look: {
      async faultOf(path, source) {
        const found = await inspect({ path, source }, {}, read, stopping);
        return found instanceof PoSyncError ? found : undefined;
      },
      lacks,
    },
    retention,
    delivered: throughput.count,
    measure: throughput.tick,
  };
}

/** Maximum number of inspections kept until their files are settled. */
const PROOFS = 200;

/** Orders per page; files take turns page by page. */
const PAGE = 200;

type Reading = {
  /** The first pass over a file. */
  read(file: FileOf, signal: AbortSignal): Promise<ReadAs>;
  /** Discards what a person discarded in a correction, by `by`. Can be repeated. */
  discard(correction: Correction, by: string): Promise<void>;
};

type IngestDeps = {
  context: Context;
  batches: Batches;
  /** Admits one page of a batch's orders; waits for its turn and while the queue is full. */
  admission: Admission;
  reading: Reading;
  /** Inspections are kept for settlement. */
  inspections: Map<string, Inspection>;
  /** Called for a batch whose file is read here. */
  onProgress(batch: string): Promise<void>;
  /**
   * Called for a file that cannot be read as orders, with the epoch in which its reader began. Returns its SHA-256;
   * undefined when Redis forgot something since then.
   */
  onUnreadable(
    batch: Batch,
    error: PoSyncError,
    since: string,
    fence: Fence,
  ): Promise<string | undefined>;
};

/**
 * `waits`: a person must release it before its first order is admitted. `theirs`: another daemon processes the file. `left`: the daemon stops, the file stays claimed.
 * `sha256` is present for a file that was processed to its end.
 */
type Ingested = { end: 'admitted' | 'unreadable' | 'theirs' | 'left' | 'waits'; sha256?: string };

/**
 * Processes a claimed file until its orders are in the ledger and the queue. Repeated after a crash, it recognizes its
 * own orders and counts none twice.
 */
async function ingest(
  file: ClaimedFile,
  { at, isNew }: Claim,
  deps: IngestDeps,
): Promise<Ingested> {
  const { batches, context } = deps;
  const { stopping } = context;
  const lease = await batches.lease(file.batch);
  if (lease === undefined) return { end: 'theirs' };
  try {
    const since = batches.epoch();
    if (!isNew) await batches.recallCancellation(file.batch);
    const batch = await batches.begin(file, at, isNew ? since : '');
    if (batch.state !== 'reading') return { end: 'admitted' };
    const signal = AbortSignal.any([stopping, lease.signal]);
    const held = { since, signal, fence: lease.fence };
    return await readClaimed(file, batch, held, deps).catch(
      async (error: unknown): Promise<Ingested> => {
        if (codeOf(error) !== 'file-missing') throw error;
        // Where po-sync moved it, it is not missing.
        const sha256 = await deps.onUnreadable(batch, fileGone(file), since, lease.fence);
        if (sha256 === undefined) throw forgotten(file);
        return batch.turnedAway === undefined ? { end: 'admitted' } : { end: 'unreadable', sha256 };
      },
    );
  } catch (error) {
    if (stopping.aborted || lease.signal.aborted) return { end: 'left' };
    throw error;
  } finally {
    await lease.release();
  }
}

/** Inspects a file and admits its orders, while nobody else does. `since`: the epoch in which this began. */
async function readClaimed(
  file: ClaimedFile,
  batch: Batch,
  { since, signal, fence }: { since: string; signal: AbortSignal; fence: Fence },
  deps: IngestDeps,
): Promise<Ingested> {
  const { batches, context } = deps;
  const { log } = context;
  await using claim = await openClaim(file);
  const opened = { ...file, path: claim.path };
  const { withoutRows = false } = batch;
  const found = await inspect({ ...opened, withoutRows }, batch, deps.reading.read, signal);
  if (found instanceof PoSyncError) {
    const facts = { ...named(file), code: found.code, reason: found.message };
    batchUnreadable(log, facts);
    const sha256 = await deps.onUnreadable(batch, found, since, fence);
    if (sha256 === undefined) throw forgotten(file);
    return { end: 'unreadable', sha256 };
  }
  const { inspection, correction, readAs } = found;
  const { sha256, bytes, records, orders, shape, isFixFile, skipped, warnings } = inspection;
  keepInspection(deps.inspections, file.batch, inspection);
  await batches.inspected(file.batch, {
    sha256,
    bytes,
    records,
    ...(orders !== undefined && { orders }),
    shape,
    warnings,
    skipped,
    ...mappingOf(inspection),
    ...(readAs && { readAs }),
    ...(isFixFile && { isFixFile }),
    ...(correction && { corrections: correction.counts }),
  });
  fileInspected(log, { ...named(file), records, bytes });
  if (correction) await deps.reading.discard(correction, batch.by ?? file.name);
  await deps.onProgress(file.batch);
  if (await mustWait(file, batch, inspection, deps)) {
    // Its page says now why it waits.
    await deps.onProgress(file.batch);
    return { end: 'waits' };
  }
  const total = await admitAll(opened, batch, found, signal, deps);
  if (total === undefined) return { end: 'left' };
  if (!(await batches.admitted(file.batch, total, since))) throw forgotten(file);
  batchAdmitted(log, { ...named(file), orders: total });
  return { end: 'admitted', sha256 };
}

/** Whether a file waits for a person before its first order is admitted; one that was released does not. */
async function mustWait(
  file: ClaimedFile,
  { held, cancelled }: Batch,
  inspection: Inspection,
  { context: { store, log }, batches }: IngestDeps,
): Promise<boolean> {
  const waits = cancelled ? [] : [await lostWait(file.batch, store), inspection.waits];
  for (const wait of waits) {
    if (wait === undefined) continue;
    // What no mapping can read waits again after a release.
    const isFinal = wait.code === 'ledger' || inspection.read.reading !== undefined;
    const alike = isFinal ? wait.code : randomUUID();
    const done = await batches.hold(file.batch, { wait, alike }, store.time.now());
    if (done === 'held') batchHeld(log, { batch: file.batch, reason: fileWaitText(wait) });
    if (done !== 'not') return true;
  }
  // The configuration allows now what it did not allow before.
  if (held !== undefined && held.code !== 'refusals') await batches.release(file.batch);
  return false;
}

/** A file that was in progress before this ledger began, and that another ledger knew. */
async function lostWait(
  batch: string,
  { redis, keys }: Context['store'],
): Promise<FileWait | undefined> {
  const claimed = claimTimeOf(batch);
  if (claimed === undefined || claimed > (await begunAt({ redis, keys }))) return undefined;
  const isFound = (await redis.hget(keys.batch(batch), 'claimedIn')) === '';
  return isFound ? { code: 'ledger', facts: { claimedAt: iso(claimed) } } : undefined;
}

/** Of several mappings, the one that the file has. */
function mappingOf({ read: { reading } }: Inspection): { mapping?: string } {
  const name = reading?.mapping.name ?? '';
  return name === '' ? {} : { mapping: name };
}

/** Keeps only the newest: settlement inspects a file again if its inspection is gone. */
function keepInspection(
  inspections: Map<string, Inspection>,
  batch: string,
  inspection: Inspection,
): void {
  inspections.set(batch, inspection);
  const [oldest] = inspections.keys();
  if (inspections.size > PROOFS && oldest !== undefined) inspections.delete(oldest);
}

async function inspect(
  file: FileOf,
  { begunWith, name = '' }: Partial<Batch>,
  read: Reading['read'],
  signal: AbortSignal,
): Promise<ReadAs | PoSyncError> {
  try {
    const found = await read(file, signal);
    const isSame = begunWith === undefined || begunWith === found.inspection.sha256;
    return isSame ? found : changedSince(name);
  } catch (error) {
    if (error instanceof PoSyncError && error.code.startsWith('unreadable')) return error;
    throw error;
  }
}

/** How many orders the file has; undefined when reading stopped before the end. */
async function admitAll(
  file: ClaimedFile,
  batch: Batch,
  { inspection }: ReadAs,
  signal: AbortSignal,
  deps: IngestDeps,
): Promise<number | undefined> {
  const { batches, admission } = deps;
  await batches.admitting(file.batch, inspection.sha256);
  let isCounted = await batches.counted(file.batch);
  const pager = createPager(PAGE);
  const { records, isFixFile = false } = inspection;
  const mapping = mappingDigest(file.source, deps.context.config);
  const facts = { records, isFixFile, mapping };
  const pages = () => readOrderPages(file.path, inspection, { signal });
  const on = {
    // An open file can be read on after somebody removed it, who does not want the rest to be sent.
    async listed() {
      if (await isGone(file.path)) throw fileMissing(file.path, undefined);
    },
  };
  await using ahead = admission.lookAhead(batch, facts, pages);
  const admitPage = async (page: readonly CheckedOrder[]): Promise<boolean> => {
    const left = page.filter(({ ordinal }) => !isCounted(ordinal));
    const admitting = admission.admit(batch, left, facts, signal, on);
    const hasLooked = await ahead.during(admitting, page.at(-1)?.ordinal ?? 0);
    if (!(await admitting)) return false;
    if (hasLooked) isCounted = await batches.counted(file.batch);
    return true;
  };
  let total = 0;
  for await (const orders of pages()) {
    total += orders.length;
    for (const page of orders.flatMap(pager.add)) {
      if (!(await admitPage(page))) return undefined;
    }
  }
  return (await admitPage(pager.rest())) ? total : undefined;
}

/** The batch is still being read, so that it is found and read again. */
function forgotten({ batch }: ClaimedFile): PoSyncError {
  const message = `Redis lost part of the ledger while ${batch} was read.`;
  return new PoSyncError(ROLLED_BACK, message, {
    remedy: 'No action needed: the file is read again.',
  });
}

function named(file: ClaimedFile): { batch: string; source: string; file: string } {
  return { batch: file.batch, source: file.source, file: file.name };
}

/** Its content is not what some of its orders were admitted from. */
function changedSince(name: string): PoSyncError {
  const message = `${name} was written to after some of its orders were admitted.`;
  const remedy = 'Drop the complete file again. Orders that were already sent are recognized.';
  return new PoSyncError('unreadable-changed', message, { remedy });
}
