import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import { createDeadLetters, type DeadLetters } from '../ledger/dead-letters.ts';
import { type Entry, outdatedResult } from '../ledger/entry.ts';
import { type Job, jobSize } from '../ledger/job.ts';
import {
  createKnownInvalid,
  type KnownInvalid,
  resultsShownBefore,
  wereCorrected,
} from '../ledger/known-invalid.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Retention } from '../ledger/retention.ts';
import { orderNotAdmitted } from '../log/events/batch.ts';
import type { Log } from '../log/log.ts';
import { correctedBy, idOf, type LetterRef } from '../order/letter-id.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import { needsPerson } from '../order/outcome.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Store } from '../redis/store.ts';
import { reasonText } from '../wording/problem.ts';
import { heldBeside } from './held-back.ts';
import type { FileFacts, Plan } from './plan.ts';
import * as planning from './plan.ts';

export type AdmitPageDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  ledger: Ledger;
  queue: Pick<OrderQueue, 'nameJob' | 'add'>;
  batches: Pick<Batches, 'isCancelled' | 'find' | 'nameOf' | 'counted' | 'resultsKept'>;
  retention: Pick<Retention, 'shown'>;
  log: Log;
};

/** A plan to send. */
type Fresh = Plan & { admission: Extract<Plan['admission'], { kind: 'queue' }> };

/** What the steps of admission share. */
type Admitting = AdmitPageDeps & {
  knownInvalid: KnownInvalid;
  deadLetters: DeadLetters;
};

/**
 * Builds the step that admits a page of a batch's orders, ledger first, then queue. All rules of admission apply here:
 * `next` decides, and this step applies the decision. Repeatable after a crash.
 */
export function createAdmitPage(deps: AdmitPageDeps) {
  const { store, batches } = deps;
  const line = {
    ...deps,
    knownInvalid: createKnownInvalid(store),
    deadLetters: createDeadLetters(store),
  };

  return async (found: Batch, orders: readonly CheckedOrder[], file: FileFacts): Promise<void> => {
    const batch = { ...found, cancelled: await batches.isCancelled(found.batch) };
    if (file.isFixFile) await noteCorrected(line, orders);
    await countInvalid(
      line,
      batch,
      orders.filter((order): order is InvalidOrder => !order.valid),
    );
    for (const round of planning.inRounds(orders)) await admitRound(line, batch, round, file);
  };
}

/** Of the orders of dead letters that these correct, a later version of an export may have the content. */
async function noteCorrected(
  { ledger, knownInvalid, batches }: Admitting,
  orders: readonly CheckedOrder[],
): Promise<void> {
  const from = correctedBy(orders.flatMap(({ records }) => records));
  const known = await ledger.lookup(from.map(({ number }) => number));
  const own = known.flatMap((one, i) =>
    one.kind === 'open' && idOf(one.entry.batch, one.entry.ordinal) === from[i]?.id
      ? [one.entry]
      : [],
  );
  await knownInvalid.corrected(own, batches);
}

async function countInvalid(
  line: Admitting,
  batch: Batch,
  invalid: readonly InvalidOrder[],
): Promise<void> {
  if (invalid.length === 0) return;
  const at = line.store.time.now();
  const left = planning.REASONS_KEPT - (await line.batches.resultsKept(batch.batch));
  const ended = invalid.map((order, i) =>
    planning.endedInvalid(order, planning.invalidResult(order, at, i < left)),
  );
  await count(line, batch, ended);
}

/** Each number occurs once among the orders. Orders that another process changed meanwhile are checked again. */
async function admitRound(
  line: Admitting,
  found: Batch,
  orders: readonly ValidOrder[],
  file: FileFacts,
): Promise<void> {
  const { ledger, deadLetters, knownInvalid, retention, store } = line;
  const { time } = store;
  let [batch, rest] = [found, orders];
  while (rest.length > 0) {
    const known = await ledger.lookup(rest.map(({ order }) => order.purchaseOrderNumber));
    const all = rest.map((order, i) =>
      planning.planOrder(batch, order, known[i] ?? { kind: 'nothing' }, file, time.now()),
    );
    const changed = await retention.shown(planning.settledIn(all, known), time.now());
    const planned = all.filter(({ order }) => !changed.has(order.number));
    const plans =
      batch.kind === 'export' && !file.isFixFile
        ? await holdCorrected(line, batch, planned)
        : planned;
    const isShown = batch.kind === 'export' || file.isFixFile;
    // Closed before they are counted, because a step that a crash interrupts is repeated.
    if (isShown) await deadLetters.closeCorrected(batch, planning.acceptedIn(plans), time.now());
    await dropCorrected(line, plans);
    await count(line, batch, await endedIn(line, batch, plans));
    if (batch.kind === 'export') await knownInvalid.areWell(batch.source, planning.wellIn(plans));
    const late = [
      ...rest.filter(({ number }) => changed.has(number)),
      ...(await follow(line, batch, plans)),
      ...(await enqueue(line, batch, plans, file)),
    ];
    if (late.length === 0) return;
    batch = { ...batch, cancelled: await line.batches.isCancelled(batch.batch) };
    rest = await withoutOutcome(line, batch, late);
  }
}

/** An order of an export is not sent as it was while a person's correction of it waits, or has another number. */
async function holdCorrected(
  line: Admitting,
  { source }: Batch,
  plans: readonly Plan[],
): Promise<readonly Plan[]> {
  const fresh = plans.filter(({ admission }) => admission.kind === 'queue');
  const shown = fresh.map(({ order: { number }, digest: fingerprint }) => ({
    number,
    fingerprint,
  }));
  const isHeld = await wereCorrected(source, shown, line);
  const held = shown.filter((_, i) => isHeld[i]);
  const results = await resultsShownBefore(held, line.store.time.now(), line);
  const ends = new Map(held.map(({ number }, i) => [number, results[i]]));
  return plans.map((plan) => planning.heldAs(plan, ends.get(plan.order.number)));
}

/** While this process was suspended, another may have read the same file, and a person may have canceled the batch. */
async function withoutOutcome(
  { batches }: Admitting,
  { batch }: Batch,
  orders: readonly ValidOrder[],
) {
  if ((await batches.find(batch))?.state === 'done') return [];
  const isCounted = await batches.counted(batch);
  return orders.filter(({ ordinal }) => !isCounted(ordinal));
}

async function endedIn(
  { batches, store }: Admitting,
  batch: Batch,
  plans: readonly Plan[],
): Promise<planning.Ended[]> {
  const numbers = new Set(
    plans.flatMap(({ admission: one }) => (one.kind === 'conflict' ? [one.batchNo] : [])),
  );
  const titles = new Map(
    await Promise.all([...numbers].map(async (no) => [no, await titleOf(no, batches)] as const)),
  );
  const origin = (batchNo: number) => planning.originOf(batchNo, batch, titles);
  return plans.flatMap((one) => {
    const { order, digest: fingerprint } = one;
    const result = planning.resultOf(one, store.time.now(), batch, origin);
    if (result === undefined) return [];
    const { ordinal, number, place, records } = order;
    const facts = { line: place.line, reason: reasonText(result), ...planning.lettersOf(records) };
    return [{ ordinal, number, result, fingerprint, ...facts }];
  });
}

/** An order that an export showed before with the same fault is a duplicate, so a person sees it once. */
async function count(
  line: Admitting,
  batch: Batch,
  ended: readonly planning.Ended[],
): Promise<void> {
  const { store, ledger, knownInvalid } = line;
  const at = store.time.now();
  const bad = ended.filter(({ result }) => needsPerson(result.outcome));
  const were = batch.kind !== 'export' ? [] : await knownInvalid.wereKnown(batch.source, bad);
  const old = bad.filter((_, i) => were[i]);
  const fresh = bad.filter((_, i) => !were[i]);
  const shown = await resultsShownBefore(old, at, line);
  const results = new Map(old.map((one, i) => [one, shown[i]]));
  await ledger.count(
    batch.batch,
    at,
    ended.map((one) => ({ ...one, result: results.get(one) ?? one.result })),
    batch.no,
  );
  logDead(line, batch, fresh);
  if (batch.kind === 'export') await knownInvalid.remember(batch.source, fresh);
}

/** Every order that needs a person has a line in the log. */
function logDead({ log }: Admitting, { batch }: Batch, dead: readonly planning.Ended[]): void {
  for (const { number: order, line, result, reason } of dead) {
    orderNotAdmitted(log, {
      batch,
      order,
      line,
      outcome: result.outcome,
      code: result.code,
      reason,
    });
  }
}

/** The API has the content of these files, so the conflict ends and the ledger keeps that content. */
async function dropCorrected({ ledger }: Admitting, plans: readonly Plan[]): Promise<void> {
  const corrected = plans.flatMap(({ admission: one }) => (one.kind === 'corrected' ? [one] : []));
  // An entry that changed meanwhile is newer.
  await Promise.all(corrected.map(({ entry, step }) => ledger.take(entry, step)));
}

/** Duplicates of orders in progress wait for them. Returns those whose order was changed meanwhile. */
async function follow(
  { ledger, store, deadLetters }: Admitting,
  { batch, no }: Batch,
  plans: readonly Plan[],
): Promise<ValidOrder[]> {
  const repeats = planning.sameFileResult(store.time.now());
  const duplicates = plans.flatMap(({ order, admission: one }) =>
    one.kind === 'follow' ? [{ order, entry: one.entry }] : [],
  );
  const done = await ledger.followers.follow(
    duplicates.map(({ order: { ordinal, place }, entry }) => {
      return { entry, follower: { batch, batchNo: no, ordinal, place }, repeats };
    }),
  );
  for (const [i, { order, entry }] of duplicates.entries())
    if (done[i]) for (const from of correctedBy(order.records)) await passOn(from, entry);
  return duplicates.filter((_, i) => !done[i]).map(({ order }) => order);

  /** What becomes of the dead letter is now what becomes of the order that is in progress. */
  async function passOn({ id, number }: LetterRef, { batch: by, ordinal }: Entry): Promise<void> {
    const successor = idOf(by, ordinal);
    if (id !== successor)
      await deadLetters.close({ id, number, by: { at: store.time.now(), successor } });
  }
}

/**
 * Ledger first, then queue: the sweeper finds orders that a crash left between the two steps. Returns orders changed
 * meanwhile, also those of which another order took a row.
 */
async function enqueue(
  line: Admitting,
  batch: Batch,
  plans: readonly Plan[],
  { records, isFixFile }: FileFacts,
): Promise<ValidOrder[]> {
  const fresh = plans.filter((one): one is Fresh => one.admission.kind === 'queue');
  const held = isFixFile ? await heldBeside(planning.ordersOf(fresh), line) : new Map();
  await countInvalid(line, batch, [...held.values()]);
  const entering = fresh.filter(({ order }) => !held.has(order));
  if (batch.kind === 'export')
    await line.knownInvalid.areWell(batch.source, planning.numbersOf(entering));
  const groups = planning.inGroups(entering, jobSize(records));
  const jobs = await Promise.all(groups.map((group) => enterGroup(line, batch, group)));
  await line.queue.add(jobs.flatMap(({ job }) => (job ? [job] : [])));
  return jobs.flatMap(({ late }) => late);
}

async function enterGroup(
  { queue, ledger, store }: Admitting,
  batch: Batch,
  group: readonly Fresh[],
): Promise<{ job?: Job; late: ValidOrder[] }> {
  const job = queue.nameJob();
  const at = store.time.now();
  const done = await Promise.all(
    group.map(({ admission: { entry, before, due } }) =>
      ledger.enter({ ...entry, job }, before, due),
    ),
  );
  const outdated = group.filter((_, i) => done[i] === 'outdated');
  const ended = outdated.map(({ order: { ordinal, number, records } }) => {
    const isCorrection = correctedBy(records).length > 0;
    return { ordinal, number, result: isCorrection ? outdatedResult(at) : planning.lateResult(at) };
  });
  await ledger.count(batch.batch, at, ended);
  const mine = group.filter((_, i) => done[i] === true);
  const late = group.filter((_, i) => done[i] === false).map(({ order }) => order);
  return mine.length > 0 ? { job: planning.jobOf(batch, job, mine), late } : { late };
}

async function titleOf(no: number, batches: Pick<Batches, 'nameOf' | 'find'>) {
  const batch = await batches.nameOf(no);
  return batch === undefined ? undefined : await namedBatch(batch, batches);
}
