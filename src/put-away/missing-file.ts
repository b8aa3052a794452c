import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { counted, iso } from '../core/format.ts';
import { isGone } from '../core/regular-file.ts';
import { fileGone, openOwnFolder } from '../intake/folders.ts';
import { type Batch, type Batches, isFinished } from '../ledger/batches/batches.ts';
import type { Compact } from '../ledger/entry.ts';
import { createdTwice, type Ledger } from '../ledger/ledger.ts';
import { settledOrders } from '../ledger/retention.ts';
import { batchTrouble } from '../log/events/batch.ts';
import type { OrderResult } from '../order/outcome.ts';
import type { Place } from '../order/record.ts';
import { sentence } from '../order/sentence.ts';
import type { Store } from '../redis/store.ts';
import { atApiOf, writeAnswered } from '../report/answer.ts';
import { pages } from '../report/lines.ts';
import type { Report } from '../report/report.ts';
import type { ReportedOrder } from '../report/write-report.ts';
import { countAdmitted } from './changed-file.ts';
import { deadLettersInProgress } from './dead-letters-in-progress.ts';
import { endAsReported, finishedReport, hasEnded } from './end-as-reported.ts';
import type { SettlementContext } from './put-batch-away.ts';
import { written } from './report-orders.ts';

/**
 * Reports a batch whose claimed file is gone. It was put away after its report. Otherwise the batch waits for its file, because results and fix file need it: PoSyncError
 * `file-missing`. A person can cancel it, and the report has what the ledger knows.
 */
export async function reportWithoutFile(
  batch: Batch,
  report: Report,
  context: SettlementContext,
): Promise<void> {
  const { config, side, store, fence } = context;
  const folder = join(config.reports.path, batch.batch);
  if ((await finishedReport(folder)) !== undefined) return;
  if (!batch.cancelled) throw fileGone(batch);
  const orders = knownOrders(batch, { ...side, store });
  const input = { folder, report: fromLedger(report), shape: undefined, orders, fence };
  await writeAnswered(input, config, batch.inspection?.shape);
}

/** Ends a cancelled batch whose file is gone with the orders that were read. Undefined to read it after a rollback. */
export async function settleGone(
  { batch, name, inspection }: Batch,
  since: string,
  { side, store }: SettlementContext,
): Promise<string | undefined> {
  const total = await countAdmitted(batch, { ...side, ...store });
  if (inspection !== undefined) {
    const gone = goneText(name, total, inspection.orders);
    const warnings = new Set([gone, ...inspection.warnings]);
    await side.batches.inspected(batch, { ...inspection, warnings: [...warnings] });
  }
  return (await side.batches.admitted(batch, total, since))
    ? (inspection?.sha256 ?? '')
    : undefined;
}

/** The warning of a cancelled batch whose file is gone. */
function goneText(file: string, read: number, all: number | undefined): string {
  const unread = all === undefined ? 'its other orders' : `${counted(all - read, 'order')} of it`;
  return `${file} was missing when its batch was cancelled: ${unread} were not read. po-sync explain NUMBER says of each whether the API has it.`;
}

/**
 * Builds the check whether the claimed file of a batch in progress is there, which nobody else does while its orders wait or
 * delivery is paused. A batch whose file is gone says so, and the folder for it is created again; until the file is back.
 */
export function createPresenceCheck(context: SettlementContext) {
  const { side, store, config, log } = context;
  const { batches } = side;

  /** The copy of an export is nobody's to read again. */
  async function endExport(batch: Batch): Promise<void> {
    if (batch.kind === 'inbox' || batch.state !== 'reading') return;
    await batches.withLease(batch.batch, (fence) =>
      endAsReported(batch, fileGone(batch), { ...context, fence }),
    );
  }

  return async ({ batch: name }: Batch): Promise<void> => {
    const before = await batches.find(name);
    if (before === undefined || before.state === 'done') return;
    const isMissing = await isGone(before.path);
    // It was put away, which Redis has forgotten.
    if (isMissing && (await hasEnded(before, config))) return endExport(before);
    if (!isClaimed(before)) return;
    const { code, message: reason } = fileGone(before);
    // A file is moved only after its batch is finished or turned away, so it was not moved by po-sync.
    const batch = isMissing ? await batches.find(name) : before;
    if (batch === undefined || !isClaimed(batch)) return;
    if (!isMissing) return batch.unsettled?.code === code ? batches.readAgain(name) : undefined;
    if (batch.unsettled?.code !== code) batchTrouble(log, { batch: name, reason });
    await batches.notSettled(name, { code, reason }, store.time.now());
    await keepFolder(batch, config);
  };
}

function isClaimed(batch: Batch): boolean {
  return (
    batch.state !== 'done' &&
    batch.turnedAway === undefined &&
    !batch.cancelled &&
    !isFinished(batch)
  );
}

/** Where a person puts the file back. Reclaiming removes folders that are empty for long. */
async function keepFolder({ batch, source, kind }: Batch, { sources }: Config): Promise<void> {
  const inbox = sources.find(({ name, type }) => name === source && type === 'inbox');
  if (inbox === undefined || kind !== 'inbox') return;
  // The inbox itself may be away.
  await using folder = await openOwnFolder(inbox.path, 'processing', batch).catch(() => undefined);
  if (folder === undefined) return;
  const now = new Date();
  // A folder of another user must not keep the other batches from being checked.
  await utimes(folder.path, now, now).catch(() => undefined);
}

type Deps = { batches: Batches; ledger: Ledger; store: Pick<Store, 'redis' | 'keys'> };

/** The report of a batch whose file is gone says which of its orders it lists. */
function fromLedger(report: Report): Report {
  const warning = `${report.file} was missing when this report was written. Its orders are listed from the ledger: those that the API accepted, without their lines, those that were cancelled and those that need a person. Duplicates and rows that failed a check may be missing. The counts are complete.`;
  return { ...report, warnings: [...report.warnings, warning] };
}

/**
 * The orders of a batch whose file is gone, as far as the ledger knows them: those that need a person, those that were
 * cancelled, and those that were accepted. The line is 0 where it is not known. Reads the complete ledger, a page at a time.
 */
async function* knownOrders(batch: Batch, deps: Deps): AsyncGenerator<ReportedOrder> {
  yield* withApi(waiting(batch, deps), deps);
  yield* withApi(cancelled(batch, deps), deps);
  for await (const one of accepted(batch, deps)) yield { ...one, atApi: 'yes' };
}

async function* withApi(
  orders: AsyncIterable<ReportedOrder>,
  { ledger }: Deps,
): AsyncGenerator<ReportedOrder> {
  for await (const page of pages(orders, PAGE)) {
    const known = await ledger.lookup(page.map(({ order }) => order.number));
    yield* page.map((one, i) => ({ ...one, atApi: atApiOf(known[i] ?? { kind: 'nothing' }) }));
  }
}

async function* waiting(batch: Batch, deps: Deps): AsyncGenerator<ReportedOrder> {
  for await (const found of deadLettersInProgress(deps, [batch])) {
    const { batch: _batch, source: _source, file: _file, now: _now, ...deadLetter } = found;
    const {
      purchaseOrderNumber,
      kind: outcome,
      attempts,
      lastAt: at,
      code,
      message,
      location,
    } = found;
    yield {
      ...listed(purchaseOrderNumber, location, { outcome, attempts, at, code, message }),
      deadLetter,
    };
  }
}

/** In the order of the file. */
async function* cancelled(
  { batch, total = 0, inspection }: Batch,
  { batches }: Deps,
): AsyncGenerator<ReportedOrder> {
  const end = Math.max(total, inspection?.orders ?? 0);
  for (let from = 0; from < end; from += PAGE) {
    const ordinals = Array.from({ length: Math.min(PAGE, end - from) }, (_, i) => from + i);
    for (const one of await batches.results(batch, ordinals)) {
      if (one?.of === undefined) continue;
      const { outcome, attempts, at, of } = one;
      yield listed(of.number, of.place, { outcome, attempts, at: iso(at), ...written(one) });
    }
  }
}

const PAGE = 500;

async function* accepted(batch: Batch, { ledger, store }: Deps): AsyncGenerator<ReportedOrder> {
  for await (const page of pages(acceptedFrom(batch, store), PAGE)) {
    const times = await ledger.listedTwice.timesOf(page.map(({ number }) => number));
    for (const [i, { number, attempts, at }] of page.entries()) {
      const words =
        times[i] === undefined
          ? { code: '', message: sentence('') }
          : written(createdTwice(times[i]));
      yield listed(number, { line: 0 }, { outcome: 'accepted', attempts, at: iso(at), ...words });
    }
  }
}

async function* acceptedFrom({ no }: Batch, store: Deps['store']): AsyncGenerator<Compact> {
  for await (const one of settledOrders(store)) if (one.batchNo === no) yield one;
}

function listed(
  number: string,
  place: Place,
  result: Omit<OrderResult, 'line' | 'purchaseOrderNumber'>,
): Omit<ReportedOrder, 'deadLetter'> {
  const order = {
    number,
    place,
    ordinal: 0,
    records: [],
    problems: [],
    valid: false as const,
  };
  return { order, result: { line: place.line, purchaseOrderNumber: number, ...result } };
}

/** The report that a batch in progress ends as, because Redis has forgotten that it ended; undefined for any other batch. */
export async function forgottenEnd(
  batch: Batch,
  config: Pick<Config, 'reports'>,
): Promise<Report | undefined> {
  if (!batch.cancelled || batch.state === 'done') return undefined;
  // Where a person cancelled it, its report may have been written just now.
  const isEnding = batch.cancelledBy !== undefined && isFinished(batch);
  if (isEnding && !(await hasEnded(batch, config, { otherwise: true }))) return undefined;
  return finishedReport(join(config.reports.path, batch.batch));
}
