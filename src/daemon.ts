import { randomUUID } from 'node:crypto';
import { createMetrics } from './admin/metrics/metrics.ts';
import { openAdmin } from './admin/open-admin.ts';
import { createFileAdmission } from './admit/file-admission.ts';
import { openPartner } from './api/partner.ts';
import { startLoop } from './core/backoff/loop.ts';
import type { Inspection } from './correct/inspection.ts';
import { createEnvironmentBreaker } from './deliver/circuit-breaker.ts';
import { createDelivery } from './deliver/delivery.ts';
import { openSources, type SourcesDeps } from './intake/sources.ts';
import { createEnvironmentLedger } from './ledger/environment-ledger.ts';
import { deliveryTrouble } from './log/events/delivery.ts';
import { openNotices } from './notify/notices.ts';
import { createBacklog, type Daemon, type DaemonInput, type Role } from './operate/daemon.ts';
import { BEAT, openHeartbeat } from './operate/heartbeat.ts';
import { createOpenFolders } from './operate/open-folders.ts';
import { createOperator } from './operate/operator-context.ts';
import { openOwnFolders } from './operate/own-folders.ts';
import { createDiscardLetters } from './put-away/discard-letters.ts';
import { keepHouse } from './put-away/housekeeping.ts';
import { createProgressLog } from './put-away/progress-log.ts';
import { openSettlement } from './put-away/settlement.ts';
import { openQueue } from './queue/queue.ts';
import { createReconciliation } from './reconcile/reconciliation.ts';
import { type Context, openStore } from './redis/store.ts';
import { lookForReport } from './report/report.ts';

/**
 * The composition root: builds every part, starts them in this order, and disposes of them in reverse.
 * Throws PoSyncError when the daemon cannot do its work: a folder, Redis, the admin port, the first token.
 */
export async function openDaemon(input: DaemonInput): Promise<Daemon> {
  const { config, clock, signal, secrets, self } = input;
  await using resources = new AsyncDisposableStack();
  const stop = new AbortController();
  const stopping = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const folders = resources.use(await openOwnFolders(input));
  const store = resources.use(
    await openStore(config, { ...input, signal: stopping, credentials: secrets.redis }),
  );
  const { log, hours, metricsRoute } = createMetrics(input, store);
  const onTrouble = (error: Error) => deliveryTrouble(log, { reason: error.message });
  const context: Context = { config, store, owner: randomUUID(), clock, log, stopping };
  const parts = await openParts(input, context, resources);
  const { sources, delivery, queue, breaker, book, partner, reconciliation, heart } = parts;
  const adminInput = { input, context, parts, hours, routes: [metricsRoute(parts)] };
  const admin = input.admin ? resources.use(await openAdmin(adminInput)) : undefined;
  heart.says({
    adminPort: admin?.port,
    notTaken: sources.notTaken,
    gone: folders.gone,
  });
  // What this machine lacks is noticed before the API is asked for anything.
  const hasToken = self.role !== 'intake' && (await partner.tokens.first());
  await reconciliation.establish(sources.ledgerBefore);
  if (self.role !== 'delivery') await parts.settlement.recall();
  if (self.role !== 'intake')
    await reconciliation.rebuild.first(stopping).then(() => breaker.start(hasToken));
  // A Redis that comes back may be another one, or an older state of the same.
  const isBack = async () => {
    await reconciliation.establish();
    if (self.role !== 'delivery') await parts.settlement.recall(true);
  };
  store.redis.on('ready', () => void isBack().catch(onTrouble));
  const operator = createOperator({}, store.time);
  const open = createOpenFolders({ ...context, ...parts.book, queue, breaker, operator });
  // After all rounds have stopped, so that it shows what they left.
  if (self.role !== 'delivery') resources.use(open);
  for (const [side, pause, tick] of roundsOf({ ...parts, open }, context)) {
    if (side !== 'both' && side !== (self.role ?? side)) continue;
    resources.use(startLoop(tick, { pause, clock, onTrouble }));
  }
  // Last, so that it stops first, and so that nothing was sent when the start fails.
  if (self.role !== 'intake') resources.use(queue.work(config.delivery, delivery.deliverJob));
  resources.defer(() => stop.abort());
  const kept = resources.move();
  return {
    adminPort: admin?.port,
    watch: sources.start,
    takePresent: sources.settleOnce,
    outdated: reconciliation.outdated,
    ...createBacklog({ ...book, ...reconciliation, breaker, reading: sources.reading }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openParts(input: DaemonInput, context: Context, resources: AsyncDisposableStack) {
  const { config, store, clock, log, owner } = context;
  const book = createEnvironmentLedger(context);
  const queue = resources.use(openQueue(context));
  const partner = resources.use(openPartner(context, input));
  const breaker = createEnvironmentBreaker(context);
  const reconciliation = resources.use(
    createReconciliation({ context, book, partner, breaker }, 'reports'),
  );
  const inspections = new Map<string, Inspection>();
  const discard = createDiscardLetters(context, book);
  const hasReport = lookForReport(config.reports.path);
  const reading = { inspections, discard, hasReport };
  const admission = createFileAdmission({ context, book, queue, ...reading });
  const on = {
    accepted: reconciliation.remember,
    outcome: admission.delivered,
    rolledBack: reconciliation.establish,
  };
  const delivery = createDelivery({ context, book, queue, partner, breaker, on });
  const heart = resources.use(openHeartbeat({ ...store, id: owner, self: input.self }));
  const side = { ledger: book.ledger, batches: book.batches, breaker, notTaken: heart.notTaken };
  const notices = resources.use(openNotices({ config, store, side, clock, log, input }));
  const { announce } = notices;
  const onSettled = input.onSettled ?? (() => undefined);
  const settlement = resources.use(
    openSettlement({ ...input, ...context, inspections, side, announce, onSettled }),
  );
  const onProgress = async (batch: string) => {
    input.onTaken?.(batch);
    await notices.heard(batch);
  };
  const settling = { onProgress, onUnreadable: settlement.settleUnreadable };
  const ingest: SourcesDeps['ingest'] = (file, at, isNew) =>
    admission.ingest(file, { at, isNew }, settling);
  const sources = resources.use(
    await openSources({
      ...context,
      ...store,
      ...side,
      input,
      ingest,
      look: admission.look,
    }),
  );
  return {
    book,
    queue,
    partner,
    breaker,
    reconciliation,
    delivery,
    notices,
    settlement,
    admission,
    heart,
    sources,
  };
}

/** Of each round: the role that needs it, the pause between two in milliseconds, and what it does. */
type Round = [side: Role | 'both', pause: number, tick: () => Promise<unknown>];

function roundsOf(
  parts: Awaited<ReturnType<typeof openParts>> & { open: ReturnType<typeof createOpenFolders> },
  context: Context,
): Round[] {
  const {
    config,
    store: { time },
    clock,
    log,
  } = context;
  const { breaker, delivery, reconciliation, settlement, admission } = parts;
  const housekeeping = {
    config,
    batches: parts.book.batches,
    retention: admission.retention,
    clock,
    time,
    log,
  };
  return [
    ['both', 500, breaker.refresh],
    ['delivery', 500, delivery.held.refresh],
    ['delivery', 500, delivery.sweep],
    ['delivery', 1_000, parts.queue.undoForeign],
    // Keeps the checkpoint current, so that a rollback is noticed even if another daemon made the lost changes.
    ['both', 1_000, reconciliation.establish],
    ['delivery', 1_000, reconciliation.rebuild.tick],
    ['delivery', Math.min(1_000, config.delivery.settle / 10), reconciliation.verify],
    ['delivery', 250, reconciliation.prove],
    ['delivery', 250, reconciliation.refresh],
    ['delivery', Math.min(5_000, config.delivery.settle), reconciliation.measure],
    ['intake', 250, admission.measure],
    ['intake', 250, settlement.tick],
    ['intake', 1_000, settlement.checkFiles],
    ['intake', 2_000, settlement.attend],
    ['intake', 1_000, settlement.answerLater],
    ['intake', 10_000, createProgressLog(parts.book.batches, log)],
    ['intake', 500, parts.open.tick],
    ['intake', 1_000, parts.sources.reclaim],
    ['both', BEAT, parts.heart.beat],
    ['intake', 1_000, parts.notices.tick],
    ['intake', 3_600_000, () => keepHouse(housekeeping)],
  ];
}
