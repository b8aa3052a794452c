import type { Clock } from '../core/clock.ts';
import type { Semaphore } from '../core/semaphore.ts';
import { type Admission, admit, type Known } from '../ledger/admission.ts';
import type { Batch } from '../ledger/batches.ts';
import type { CorrectedExport } from '../ledger/corrected-export.ts';
import { type Entry, versionAfter } from '../ledger/entry.ts';
import { type Job, jobSize } from '../ledger/job.ts';
import type { KnownInvalid } from '../ledger/known-invalid.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SWEEP_AFTER } from '../ledger/state.ts';
import type { StoredResult } from '../ledger/stored-result.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/checked-order.ts';
import { digestOf, fingerprintOf } from '../order/digest.ts';
import { LEADING_ZEROS_LOST } from '../order/fixing.ts';
import type { OrderQueue } from '../queue/queue.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { createCounting, type Ended } from './counting.ts';
import type { Throughput } from './throughput.ts';

export type AdmitDeps = {
  ledger: Ledger;
  queue: OrderQueue;
  time: RedisTime;
  clock: Clock;
  /** Files admit page by page, in turn. */
  turns: Semaphore;
  throughput: Throughput;
  /** The batch behind a short number. */
  nameOf(batchNo: number): Promise<string | undefined>;
  told: KnownInvalid;
  /** A batch shows these numbers as they were accepted. */
  corrected: CorrectedExport;
  /** A source shows these settled numbers again. */
  shown(numbers: readonly string[], now: number): Promise<void>;
  /** Whether a person took the batch back: then nothing more of it is to be sent. */
  isCancelled(batch: string): Promise<boolean>;
};

/** Admits a page of a batch's orders, ledger first, then queue. False: the signal came before it was this page's turn. */
export type Admit = (
  batch: Batch,
  page: readonly CheckedOrder[],
  file: { records: number; isFixFile: boolean },
  signal: AbortSignal,
) => Promise<boolean>;

const LOOK_AGAIN = 20;

/** Builds the admission step of intake. */
export function createAdmission(deps: AdmitDeps): Admit {
  const { ledger, queue, time, clock, throughput } = deps;
  const count = createCounting(deps);

  /** A full queue is waited for here, so that a small file never stands behind all of a huge one. */
  async function room(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && (await ledger.unsettled()) >= throughput.fewSeconds())
      await clock.sleep(LOOK_AGAIN, signal);
    return !signal.aborted;
  }

  async function admitPage(
    found: Batch,
    page: readonly CheckedOrder[],
    file: { records: number; isFixFile: boolean },
  ): Promise<void> {
    const batch = { ...found, cancelled: await deps.isCancelled(found.batch) };
    const invalid = page.filter((order): order is InvalidOrder => !order.valid);
    await count(batch, invalid.map(countInvalid));
    const size = jobSize(file.records);
    const valid = page.filter((order): order is ValidOrder => order.valid);
    for (const orders of once(valid)) await admitValid(batch, orders, size, file.isFixFile);
  }

  function countInvalid({ ordinal, number, problems, records }: InvalidOrder): Ended {
    const code = problems[0]?.code ?? 'invalid';
    // What the file tells again when the report is written is not kept.
    const message = code === LEADING_ZEROS_LOST ? (problems[0]?.message ?? '') : '';
    const result = { outcome: 'invalid', attempts: 0, at: time.now(), code, message } as const;
    return { ordinal, number, result, fingerprint: fingerprintOf(records) };
  }

  /** Every number occurs once among `orders`. What somebody else changed meanwhile is looked at again. */
  async function admitValid(batch: Batch, orders: readonly ValidOrder[], size: number, again: boolean): Promise<void> {
    let rest = orders;
    while (rest.length > 0) {
      const known = await ledger.lookup(rest.map(({ order }) => order.purchaseOrderNumber));
      const plans = rest.map((order, i) => plan(batch, order, known[i] ?? { kind: 'nothing' }, again));
      // Before they are counted: what a crash cuts off in between is done again.
      if (batch.kind === 'export' || again) await deps.corrected(batch, asAccepted(known, plans), time.now());
      await count(batch, await countedNow(batch, plans));
      if (batch.kind === 'export') await deps.told.areWell(batch.source, wellIn(plans));
      await deps.shown(settledIn(known, rest), time.now());
      rest = await enqueue(batch, plans, size);
    }
  }

  function plan(batch: Batch, order: ValidOrder, known: Parameters<typeof admit>[0], again: boolean): Plan {
    const digest = digestOf(order.order);
    const fromExport = batch.kind === 'export';
    const candidate = { digest, batch: batch.batch, ordinal: order.ordinal, again, fromExport };
    const admission = admit(known, candidate);
    return { order, digest, admission: batch.cancelled && admission.kind === 'queue' ? CANCELLED : admission };
  }

  async function countedNow(batch: Batch, plans: readonly Plan[]): Promise<Ended[]> {
    const results = await Promise.all(plans.map(({ admission }) => resultOf(batch, admission)));
    return plans.flatMap(({ order, digest: fingerprint }, i) => {
      const result = results[i];
      return result ? [{ ordinal: order.ordinal, number: order.number, result, fingerprint }] : [];
    });
  }

  /** The outcome of an order that ends at admission; undefined for one that is to be sent, or is already ours. */
  async function resultOf(batch: Batch, admission: Plan['admission']): Promise<StoredResult | undefined> {
    const none = { attempts: 0, at: time.now() };
    switch (admission.kind) {
      case 'queue':
      case 'mine':
        return undefined;
      case 'cancelled':
        return { ...none, outcome: 'cancelled', code: 'cancelled', message: 'taken back before it was sent' };
      case 'duplicate': {
        const message = admission.batchNo === batch.no ? 'the same order stands earlier in this file' : '';
        return { ...none, outcome: 'duplicate', code: 'duplicate', message };
      }
      case 'conflict': {
        const state = admission.underWay ? 'under way' : 'accepted';
        const message = `this number is ${state} with other items, ${await whence(batch, admission.batchNo)}`;
        return { ...none, outcome: 'conflict', code: 'other-content', message };
      }
      case 'repeat': {
        const { state, attempt, answer, batch: before, lastAt, firstAt } = admission.entry;
        const at = lastAt ?? none.at;
        const outcome = state === 'refused' || state === 'inDoubt' || state === 'failed' ? state : 'conflict';
        const words = answer ?? { code: outcome, message: `waits for a person since batch ${before}` };
        return { outcome, attempts: attempt, at, ...(firstAt === undefined ? {} : { firstAt }), ...words };
      }
    }
  }

  async function whence(batch: Batch, batchNo: number): Promise<string> {
    if (batchNo === 0) return 'at the API since before po-sync';
    if (batchNo === batch.no) return 'earlier in this file';
    return `from batch ${(await deps.nameOf(batchNo)) ?? 'unknown'}`;
  }

  /** Ledger first, then queue: a crash in between leaves orders that the sweeper finds. Returns those changed meanwhile. */
  async function enqueue(batch: Batch, plans: readonly Plan[], size: number): Promise<ValidOrder[]> {
    const fresh = plans.flatMap((one) =>
      one.admission.kind === 'queue' ? [{ ...one, before: one.admission.before }] : [],
    );
    const groups = inGroups(fresh, size);
    const entered = await Promise.all(groups.map((group) => enterGroup(batch, group)));
    await queue.add(entered.flatMap(({ job }) => (job ? [job] : [])));
    return entered.flatMap(({ lost }) => lost);
  }

  async function enterGroup(batch: Batch, group: readonly Fresh[]): Promise<{ job?: Job; lost: ValidOrder[] }> {
    const job = queue.nameJob();
    const now = time.now();
    const enter = (one: Fresh) => ledger.enter(entryOf(batch, one, job, now), one.before, now + SWEEP_AFTER);
    const entered = await Promise.all(group.map(enter));
    const mine = group.filter((_, i) => entered[i]);
    const lost = group.filter((_, i) => !entered[i]).map(({ order }) => order);
    return mine.length > 0 ? { job: chunkOf(batch, job, mine), lost } : { lost };
  }

  return async (batch, page, file, signal) => {
    if (page.length === 0) return true;
    return deps.turns.hold(async () => {
      if (!(await room(signal))) return false;
      await admitPage(batch, page, file);
      return true;
    });
  };
}

type Plan = { order: ValidOrder; digest: string; admission: Admission | { kind: 'cancelled' } };

const CANCELLED = { kind: 'cancelled' } as const;

/** A plan to send; `before` is the dead letter it replaces. */
type Fresh = Plan & { before: Entry | undefined };

function entryOf(batch: Batch, { order, digest, before }: Fresh, job: string, now: number): Entry {
  return {
    version: versionAfter(before?.version ?? 0, now),
    state: 'queued',
    order: order.order,
    digest,
    batch: batch.batch,
    batchNo: batch.no,
    ordinal: order.ordinal,
    place: order.place,
    job,
    attempt: before?.attempt ?? 0,
    used: 0,
    absences: 0,
    ...(before?.maybeSentAt === undefined ? {} : { maybeSentAt: before.maybeSentAt }),
  };
}

function chunkOf(batch: Batch, id: string, plans: readonly Plan[]): Job {
  const lines = plans.map(({ order }) => order.place.line);
  const span = lines.length === 1 ? `${lines[0]}` : `${Math.min(...lines)}–${Math.max(...lines)}`;
  return {
    id,
    name: `${batch.name} ${span}`.slice(0, 200),
    batch: batch.batch,
    numbers: plans.map(({ order }) => order.order.purchaseOrderNumber),
  };
}

/** Numbers that are accepted, under way or about to be sent. */
function wellIn(plans: readonly Plan[]): string[] {
  const well = plans.filter(({ admission }) => admission.kind === 'queue' || admission.kind === 'duplicate');
  return well.map(({ order }) => order.number);
}

/** Numbers that were accepted before, with the same content. */
function asAccepted(known: readonly Known[], plans: readonly Plan[]): string[] {
  const same = plans.filter(({ admission }, i) => admission.kind === 'duplicate' && known[i]?.kind === 'accepted');
  return same.map(({ order }) => order.number);
}

function settledIn(known: readonly Known[], rest: readonly ValidOrder[]): string[] {
  return rest.flatMap(({ number }, i) => (known[i]?.kind === 'accepted' ? [number] : []));
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/** The orders in groups in which each number occurs once; a second one of a number must meet the first in the ledger. */
function once(orders: readonly ValidOrder[]): ValidOrder[][] {
  const groups: ValidOrder[][] = [];
  const seen = new Map<string, number>();
  for (const order of orders) {
    const turn = seen.get(order.number) ?? 0;
    seen.set(order.number, turn + 1);
    const group = groups[turn] ?? [];
    groups[turn] = group;
    group.push(order);
  }
  return groups;
}
