import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import { createDeadLetters, type DeadLetters } from '../ledger/dead-letters.ts';
import { type Entry, outdatedResult } from '../ledger/entry.ts';
import { type Job, jobSize } from '../ledger/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Retention } from '../ledger/retention.ts';
import { contentOf, createSeen, type Seen } from '../ledger/seen.ts';
import { orderNotAdmitted } from '../log/events/batch.ts';
import type { Log } from '../log/log.ts';
import { correctedBy, idOf, type LetterRef, splitId } from '../order/letter-id.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import { needsPerson } from '../order/outcome.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { Store } from '../redis/store.ts';
import { reasonText } from '../wording/problem.ts';
import type { FileFacts, Plan } from './plan.ts';
import * as planning from './plan.ts';

export type AdmitPageDeps = {
  store: Pick<Store, 'redis' | 'keys' | 'time'>;
  ledger: Ledger;
  queue: Pick<OrderQueue, 'nameJob' | 'add'>;
  batches: Pick<Batches, 'isCancelled' | 'find' | 'nameOf' | 'counted' | 'resultsKept'>;
  retention: Pick<Retention, 'shown'>;
  log: Log;
  /** Whether the report of a finished batch is still there. */
  hasReport?: ((batch: string) => Promise<boolean>) | undefined;
};

/** A plan to send. */
type Fresh = Plan & { admission: Extract<Plan['admission'], { kind: 'queue' }> };

/** What the steps of admission share. */
type Admitting = AdmitPageDeps & { seen: ReturnType<typeof createSeen>; deadLetters: DeadLetters };

/**
 * Builds the step that admits a page of a batch's orders, ledger first, then queue. All rules of admission apply here:
 * `next` decides, and this step applies the decision. Repeatable after a crash.
 */
export function createAdmitPage(deps: AdmitPageDeps) {
  const { store, batches, hasReport } = deps;
  const seen = createSeen({ ...store, hasReport });
  const line = { ...deps, seen, deadLetters: createDeadLetters(store) };

  return async (found: Batch, orders: readonly CheckedOrder[], file: FileFacts): Promise<void> => {
    const batch = { ...found, cancelled: await batches.isCancelled(found.batch) };
    const invalid = orders.filter((order): order is InvalidOrder => !order.valid);
    await countInvalid(line, batch, invalid, file);
    for (const round of planning.inRounds(orders)) await admitRound(line, batch, round, file);
  };
}

/** The dead letters that orders of a file stay with. A fix file is sent deliberately. */
async function seenAmong(
  { seen, store }: Admitting,
  { batch }: Batch,
  orders: readonly CheckedOrder[],
  { isFixFile, mapping = '' }: FileFacts,
): Promise<(Seen | undefined)[]> {
  const at = store.time.now();
  return isFixFile ? [] : await seen.find(orders.map(contentOf), { batch, mapping, at });
}

async function countInvalid(
  line: Admitting,
  batch: Batch,
  invalid: readonly InvalidOrder[],
  file: FileFacts,
): Promise<void> {
  if (invalid.length === 0) return;
  const at = line.store.time.now();
  const left = planning.REASONS_KEPT - (await line.batches.resultsKept(batch.batch));
  const seen = await seenAmong(line, batch, invalid, file);
  const titles = await titlesOf(
    seen.flatMap((one) => (one ? [one.letter] : [])),
    [],
    line.batches,
  );
  const ended = invalid.map((order, i) => {
    const before = seen[i];
    const result =
      before && before.is !== 'lost'
        ? planning.seenResult(before, at, titles)
        : planning.invalidResult(order, at, i < left);
    return planning.endedInvalid(order, result, file);
  });
  await count(line, batch, ended);
}

/** Each number occurs once among the orders. Orders that another process changed meanwhile are checked again. */
async function admitRound(
  line: Admitting,
  found: Batch,
  orders: readonly ValidOrder[],
  file: FileFacts,
): Promise<void> {
  const { ledger, retention, store } = line;
  const { isFixFile } = file;
  let [batch, rest] = [found, orders];
  while (rest.length > 0) {
    const [known, seen] = await Promise.all([
      ledger.lookup(rest.map(({ order }) => order.purchaseOrderNumber)),
      seenAmong(line, batch, rest, file),
    ]);
    const at = store.time.now();
    const all = rest.map((order, i) =>
      planning.planOrder(batch, order, known[i] ?? { kind: 'nothing' }, {
        isFixFile,
        at,
        seen: seen[i],
      }),
    );
    const changed = await retention.shown(planning.settledIn(all, known), at);
    const plans = all.filter(({ order }) => !changed.has(order.number));
    await count(line, batch, await endedIn(line, batch, plans, file));
    await dropCorrected(line, plans);
    const late = [
      ...rest.filter(({ number }) => changed.has(number)),
      ...(await join(line, batch, plans)),
      ...(await enqueue(line, batch, plans, file)),
    ];
    if (late.length === 0) return;
    batch = { ...batch, cancelled: await line.batches.isCancelled(batch.batch) };
    rest = await withoutOutcome(line, batch, late);
  }
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
  { isFixFile }: FileFacts,
): Promise<planning.Ended[]> {
  const titles = await titlesOf(
    plans.flatMap(({ admission: one }) => (one.kind === 'seen' ? [one.letter] : [])),
    plans.flatMap(({ admission: one }) => (one.kind === 'conflict' ? [one.batchNo] : [])),
    batches,
  );
  const showsAll = batch.kind === 'export' || isFixFile;
  return plans.flatMap((one) => {
    const { order, digest, admission } = one;
    const result = planning.resultOf(one, store.time.now(), batch, titles);
    if (result === undefined) return [];
    const { ordinal, number, place, records } = order;
    const isOver = admission.kind !== 'duplicate' || admission.of === undefined;
    const isShown =
      admission.kind === 'corrected' || (showsAll && isOver && admission.kind === 'duplicate');
    const letters = isOver ? planning.lettersOf(records) : {};
    const facts = { line: place.line, reason: reasonText(result), ...letters };
    return [
      { ordinal, number, result, content: { digest }, ...(isShown && { isShown }), ...facts },
    ];
  });
}

async function count(
  { ledger, store, log }: Admitting,
  batch: Batch,
  ended: readonly planning.Ended[],
): Promise<void> {
  await ledger.count(batch.batch, store.time.now(), ended, batch);
  const dead = ended.filter(({ result }) => needsPerson(result.outcome));
  for (const { number: order, line, result, reason } of dead) {
    const { outcome, code } = result;
    orderNotAdmitted(log, { batch: batch.batch, order, line, outcome, code, reason });
  }
}

/** The API has the content of these files, so the conflict ends and the ledger keeps that content. */
async function dropCorrected({ ledger }: Admitting, plans: readonly Plan[]): Promise<void> {
  const corrected = plans.flatMap(({ admission: one }) => (one.kind === 'corrected' ? [one] : []));
  // An entry that changed meanwhile is newer.
  await Promise.all(corrected.map(({ entry, step }) => ledger.take(entry, step)));
}

/** Duplicates join the orders in progress that they repeat. Returns those whose order was changed meanwhile. */
async function join(
  { ledger, store, deadLetters }: Admitting,
  { batch, no: batchNo }: Batch,
  plans: readonly Plan[],
): Promise<ValidOrder[]> {
  const late = await Promise.all(
    plans.map(async ({ order, admission: one }) => {
      const of = one.kind === 'join' ? one.before : one.kind === 'duplicate' ? one.of : undefined;
      const { ordinal, place, records } = order;
      const occurrence = { batch, batchNo, ordinal, place };
      if (one.kind === 'join' && !(await ledger.join(one.entry, one.before, occurrence)))
        return [order];
      if (of !== undefined) for (const from of correctedBy(records)) await passOn(from, of);
      return [];
    }),
  );
  return late.flat();

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
  file: FileFacts,
): Promise<ValidOrder[]> {
  const fresh = plans.filter((one): one is Fresh => one.admission.kind === 'queue');
  const groups = planning.inGroups(fresh, jobSize(file.records));
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
  await ledger.count(batch.batch, at, ended, batch);
  const mine = group.filter((_, i) => done[i] === true);
  const late = group.filter((_, i) => done[i] === false).map(({ order }) => order);
  return mine.length > 0 ? { job: planning.jobOf(batch, job, mine), late } : { late };
}

/** What names the batches of dead letters, and those with these short numbers. */
async function titlesOf(
  letters: readonly string[],
  numbers: readonly number[],
  batches: Pick<Batches, 'nameOf' | 'find'>,
): Promise<planning.Titles> {
  const named = async (batch: string | undefined) =>
    batch === undefined ? undefined : await namedBatch(batch, batches);
  const ofLetters = [...new Set(letters.map((one) => splitId(one)[0]))];
  return new Map<number | string, NamedBatch | undefined>([
    ...(await Promise.all(ofLetters.map(async (one) => [one, await named(one)] as const))),
    ...(await Promise.all(
      [...new Set(numbers)].map(async (no) => [no, await named(await batches.nameOf(no))] as const),
    )),
  ]);
}
