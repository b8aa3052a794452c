import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { PoSyncError } from '../core/errors.ts';
import { iso } from '../core/format.ts';
import { hashFile } from '../core/regular-file.ts';
import type { CircuitBreaker } from '../deliver/circuit-breaker.ts';
import { fileGone, openClaim, openIfClaimed } from '../intake/folders.ts';
import type { BatchError, TurnedAway } from '../ledger/batches/batch-control.ts';
import { type Batch, totalOrders } from '../ledger/batches/batches.ts';
import { fileChanged } from '../log/events/batch.ts';
import { LIMITS } from '../order/limits.ts';
import { countNeedingPerson } from '../order/outcome.ts';
import { writeAnswered } from '../report/answer.ts';
import { makeFolder } from '../report/disk.ts';
import type { PageLinks } from '../report/page/html.ts';
import { EXPORT_REMEDY, type Report } from '../report/report.ts';
import { pauseFacts } from '../wording/pause.ts';
import { changedAfterRead, countAdmitted, isAsAdmitted, openOriginal } from './changed-file.ts';
import { endAsReported, hasEnded } from './end-as-reported.ts';
import { reportWithoutFile, settleGone } from './missing-file.ts';
import { createPutAway, type SettlementContext } from './put-batch-away.ts';
import { ordersOf, reportOrders } from './report-orders.ts';

/** Builds the steps from a finished or unreadable batch to its report and its file put away. Each can be repeated. */
export function createReportAndPutAway(context: SettlementContext) {
  const { config, side, fence } = context;
  const { batches, breaker } = side;
  const reports = config.reports.path;
  const putAway = createPutAway(context);
  const reportOf = createReportOfBatch({ breaker, config });

  async function settleFinished(batch: Batch): Promise<void> {
    const unreadable = batch.unreadable ?? (await findChange(batch, context));
    if (unreadable !== undefined) return settleChanged({ ...batch, unreadable }, unreadable);
    const folder = join(reports, batch.batch);
    const report = await reportOf(batch, batch.cancelled ? 'cancelled' : 'finished');
    await using claim = await openIfClaimed(batch);
    if (claim !== undefined) {
      const { orders, leftOut } = await ordersOf({ ...batch, path: claim.path }, context);
      const { inspection } = batch;
      const input = {
        folder,
        report,
        links: linksOf(batch, config),
        shape: inspection?.shape,
        orders,
        leftOut,
        fence,
      };
      await writeAnswered(input, config);
    } else if (await hasEnded(batch, config, { otherwise: !batch.cancelled })) {
      // Redis has forgotten outcomes that the report has, or what a person did since: it was stopped because of that.
      return void (await endAsReported(batch, fileGone(batch), context));
    } else await reportWithoutFile(batch, report, context);
    await putAway(batch, 'done', countNeedingPerson(batch.counts));
  }

  /** Reports the admitted orders of a file that became unreadable meanwhile, and moves it to `failed/`. */
  async function settleChanged(batch: Batch, error: BatchError): Promise<void> {
    const folder = join(reports, batch.batch);
    const report = { ...(await reportOf(batch, 'unreadable')), error };
    await using claim = await openIfClaimed(batch);
    if (claim !== undefined) {
      await makeFolder(folder);
      await using original = await openOriginal({ ...batch, path: claim.path }, folder, {
        batches,
        config,
      });
      const orders = reportOrders(original?.orders ?? nothing(), batch, side);
      const identity = await identityOf(batch, context);
      const shape = original?.shape;
      const links = linksOf(batch, config);
      const input = { folder, report: { ...report, ...identity }, links, shape, orders, fence };
      await writeAnswered(input, config);
    } else await reportWithoutFile(batch, report, context);
    await putAway(batch, 'failed', countNeedingPerson(batch.counts) + 1);
  }

  return {
    reportOf,
    settleFinished,
    settleUnreadable: createSettleUnreadable(context, { reportOf, putAway }),
  };
}

type UnreadableDeps = {
  reportOf: ReturnType<typeof createReportOfBatch>;
  putAway: ReturnType<typeof createPutAway>;
};

/** Builds the step that ends a file that cannot be read. */
function createSettleUnreadable(context: SettlementContext, { reportOf, putAway }: UnreadableDeps) {
  const { config, store, side, fence } = context;
  const { batches, ledger } = side;

  /** Reports a file of which no order was admitted, and moves it to `failed/`, if it is not there yet. */
  async function settleTurnedAway(batch: Batch, found: TurnedAway): Promise<string> {
    const report = { ...(await reportOf(batch, 'unreadable')), ...found };
    const folder = join(config.reports.path, batch.batch);
    const links = linksOf(batch, config);
    const input = { folder, report, links, shape: undefined, orders: nothing(), fence };
    await writeAnswered(input, config);
    await putAway(batch, 'failed', 1);
    return found.sha256;
  }

  /** Reports an unreadable file and puts it away. Returns its SHA-256; undefined to read it again after a rollback. */
  return async (batch: Batch, error: PoSyncError, since: string): Promise<string | undefined> => {
    const { begunWith, turnedAway } = batch;
    if (error.code === 'file-missing') {
      if (turnedAway) return settleTurnedAway(batch, turnedAway);
      return batch.cancelled && !(await hasEnded(batch, config))
        ? settleGone(batch, since, context)
        : endAsReported(batch, error, context);
    }
    const identity = await identityOf(batch, context);
    if (begunWith !== undefined) {
      // Some orders were admitted: settled when each has its outcome.
      const total = await countAdmitted(batch.batch, { batches, ledger, ...store });
      const isKnown = await batches.admitted(batch.batch, total, since, errorOf(error, batch));
      return isKnown ? identity.sha256 : undefined;
    }
    const found = { error: errorOf(error, batch), ...identity };
    await batches.turnAway(batch.batch, found);
    return settleTurnedAway(batch, found);
  };
}

/** Finds and stores that a claimed file changed since its last order was admitted; undefined when it did not. */
async function findChange(
  batch: Batch,
  { side, inspections, log }: SettlementContext,
): Promise<BatchError | undefined> {
  await using claim = await openIfClaimed(batch);
  if (claim === undefined || (await isAsAdmitted(claim.path, batch, inspections))) return undefined;
  const error = changedAfterRead(batch);
  fileChanged(log, {
    batch: batch.batch,
    source: batch.source,
    file: batch.name,
    reason: error.message,
  });
  await side.batches.admitted(batch.batch, totalOrders(batch) ?? 0, '', error);
  return error;
}

function errorOf(
  { code, message, remedy: own, facts }: PoSyncError,
  { kind }: Batch,
): NonNullable<Report['error']> {
  const { line, column } = facts;
  const remedy = kind === 'export' ? EXPORT_REMEDY : own;
  return {
    code,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof column === 'number' ? { column } : {}),
  };
}

async function* nothing(): AsyncGenerator<never> {}

/** A huge file is reported without its SHA-256, so that it does not keep others waiting. */
async function identityOf(
  batch: Batch,
  { stopping }: SettlementContext,
): Promise<{ bytes: number; sha256: string }> {
  await using claim = await openClaim(batch);
  return await hashFile(claim.path, { most: LIMITS.hashedBytes, signal: stopping });
}

type ReportDeps = {
  breaker: CircuitBreaker;
  config: Config;
};

/** Builds the step that turns a batch into its `report.json`. */
function createReportOfBatch({ breaker, config }: ReportDeps) {
  return async (batch: Batch, state: Report['state']): Promise<Report> => {
    const { inspection, counts, startedAt, lastAt, cancelledBy } = batch;
    const pauses = await breaker.during(startedAt, lastAt);
    return {
      version: 1,
      batch: batch.batch,
      environment: config.environment,
      source: batch.source,
      ...(inspection?.isFixFile && { isFixFile: true }),
      ...(inspection?.readAs === undefined ? {} : { readAs: inspection.readAs }),
      file: batch.name,
      ...(batch.kind === 'export' && { isExport: true }),
      ...(batch.by === undefined ? {} : { by: batch.by }),
      sha256: inspection?.sha256 ?? '',
      bytes: inspection?.bytes ?? 0,
      format: inspection?.shape.format ?? null,
      ...(inspection?.shape.header && { header: inspection.shape.header }),
      ...(inspection?.shape.items && { items: inspection.shape.items }),
      ...(inspection?.mapping !== undefined && { mapping: inspection.mapping }),
      startedAt: iso(startedAt),
      finishedAt: iso(lastAt),
      state,
      ...(cancelledBy && { cancelledBy: { ...cancelledBy, at: iso(cancelledBy.at) } }),
      counts: {
        records: inspection?.records ?? 0,
        orders: totalOrders(batch) ?? 0,
        skipped: inspection?.skipped ?? 0,
        ...counts,
      },
      ...(inspection?.corrections && { corrections: inspection.corrections }),
      warnings: [...(inspection?.warnings ?? [])],
      pauses: pauses.map((pause) => ({
        ...pauseFacts(pause),
        from: iso(pause.from),
        to: pause.to === undefined ? null : iso(pause.to),
      })),
    };
  };
}

/** Where the page refers to: the inbox of the batch's own source; for an export, the first one of the environment. */
function linksOf({ source }: Batch, config: Config): PageLinks {
  const inboxes = config.sources.filter(({ type }) => type === 'inbox');
  const inbox = inboxes.find(({ name }) => name === source) ?? inboxes[0];
  return { inbox: inbox?.path };
}
