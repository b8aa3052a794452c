import type { Batch } from '../ledger/batches/batches.ts';
import {
  answered,
  cancelledResult,
  type Known,
  type StoredResult,
  sameFileResult,
} from '../ledger/entry.ts';
import type { Job } from '../ledger/job.ts';
import type { Counted } from '../ledger/ledger.ts';
import type { Seen } from '../ledger/seen.ts';
import type { Appearance } from '../ledger/state-machine/appears.ts';
import { next } from '../ledger/state-machine/next.ts';
import { digestOf, fingerprintOf } from '../order/digest.ts';
import { correctedBy, splitId } from '../order/letter-id.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import { keyOf } from '../order/number-key.ts';
import type { CheckedOrder, InvalidOrder, ValidOrder } from '../order/order.ts';
import { KNOWN_INVALID, KNOWN_SETTLED } from '../order/outcome.ts';
import { type Origin, type Problem, UNEXPLAINED } from '../order/problem.ts';
import type { Sentence } from '../order/sentence.ts';
import { problemText } from '../wording/problem.ts';

/** How a page of a file is admitted: its size decides about jobs, and a fix file is sent deliberately. `mapping`: its digest. */
export type FileFacts = { records: number; isFixFile: boolean; mapping?: string };

/** An order that ends at admission. `reason`: what a person has to know. */
export type Ended = Counted & { line: number; reason: Sentence | undefined };

/** The plan for one order. */
export type Plan = { order: ValidOrder; digest: string; admission: Appearance };

/** What names the batch of a dead letter or of a short number. */
export type Titles = ReadonlyMap<number | string, NamedBatch | undefined>;

/** Decides about one order of a batch. No further order of a canceled batch is sent or waits for another order. */
export function planOrder(
  { batch, no: batchNo, kind, cancelled }: Batch,
  valid: ValidOrder,
  known: Known,
  { isFixFile, at, seen }: Pick<FileFacts, 'isFixFile'> & { at: number; seen: Seen | undefined },
): Plan {
  const { order, ordinal, place, records } = valid;
  const digest = digestOf(order);
  const from = lettersOf(records);
  const arrival = { order, digest, batch, batchNo, ordinal, place, job: '', ...from };
  const how = { isAgain: isFixFile, isExport: kind === 'export', isCancelled: cancelled, seen };
  return { order: valid, digest, admission: next(known, { kind: 'appears', at, arrival, ...how }) };
}

/**
 * The result of an order that ends at admission; undefined for one that is sent, waits for another, or is already ours.
 * `titles` name where the other order comes from.
 */
export function resultOf(
  { admission, order }: Plan,
  at: number,
  { no: own }: Pick<Batch, 'no'>,
  titles: Titles,
): StoredResult | undefined {
  switch (admission.kind) {
    case 'queue':
    case 'join':
    case 'mine':
      return undefined;
    case 'cancelled':
      return cancelledResult(at);
    case 'duplicate':
      // Kept, because the report takes an order of this batch without a result for the one that was accepted.
      if (admission.batchNo === own) return sameFileResult(at);
      return { attempts: 0, at, outcome: 'duplicate', code: 'duplicate', facts: {} };
    case 'corrected':
      return { attempts: 0, at, outcome: 'duplicate', code: 'duplicate', facts: {} };
    case 'conflict': {
      const { as, batchNo, known, underWay } = admission;
      const facts = {
        ...originOf(batchNo, own, titles),
        state: underWay ? 'inProgress' : 'accepted',
      } as const;
      const other = known?.items && { known: { items: known.items } };
      const result = { attempts: 0, at, outcome: 'conflict', ...other, against: batchNo } as const;
      if (as === undefined) return { ...result, code: 'other-content', facts };
      return keyOf(as) === keyOf(order.number)
        ? { ...result, code: 'other-spelling', facts: { ...facts, as } }
        : { ...result, code: 'renumbered', facts: { ...facts, as } };
    }
    case 'seen':
      return seenResult(admission, at, titles);
    case 'repeat':
      return repeated(admission, at);
  }
}

/** The result of an order whose content stays with a dead letter. */
export function seenResult({ letter, is }: Seen, at: number, titles: Titles): StoredResult {
  const from = titles.get(splitId(letter)[0]);
  const facts = from ? { from } : {};
  const result = { outcome: 'duplicate', attempts: 0, at, facts } as const;
  return is === 'settled' ? { ...result, code: KNOWN_SETTLED } : { ...result, code: KNOWN_INVALID };
}

/** Repeats the answer of the dead letter with this content. */
function repeated({ entry }: Extract<Appearance, { kind: 'repeat' }>, now: number): StoredResult {
  const { state, attempt: attempts, answer, lastAt: at = now, firstAt, known } = entry;
  const outcome =
    state === 'refused' || state === 'inDoubt' || state === 'failed' ? state : 'conflict';
  const items = outcome === 'conflict' ? known?.items : undefined;
  const times = firstAt === undefined ? { at } : { at, firstAt };
  return {
    outcome,
    attempts,
    ...times,
    ...answered(answer, outcome),
    ...(items ? { known: { items } } : {}),
  };
}

/** Orders of a batch for which it is known before its report why they failed a check. */
export const REASONS_KEPT = 1_000;
/** Problems of an order that people see before the report. */
const PROBLEMS_KEPT = 3;
/** Characters of each of their values. */
const LONGEST = 300;

/** The result of an order that failed a check. `isKept`: people see why before the report, which reads the file again. */
export function invalidResult(order: InvalidOrder, at: number, isKept: boolean): StoredResult {
  const { place, problems } = order;
  const { code, facts } = problems[0] ?? UNEXPLAINED;
  const failed = {
    place,
    problems: problems.slice(0, PROBLEMS_KEPT).map(shortened),
  };
  const result = { outcome: 'invalid', attempts: 0, at, code, facts } as StoredResult;
  return isKept ? { ...result, failed } : result;
}

/** An order that failed a check, as it ends at admission. */
export function endedInvalid(
  { ordinal, number, records, place, problems }: InvalidOrder,
  result: StoredResult,
  { isFixFile, mapping }: FileFacts,
): Ended {
  const reason = problems[0] && problemText(problems[0]);
  const content = {
    digest: fingerprintOf(records),
    ...(!isFixFile && mapping !== undefined && { mapping }),
  };
  return { ordinal, number, result, content, line: place.line, reason, ...lettersOf(records) };
}

/** The dead letters that records correct. */
export function lettersOf(records: ValidOrder['records']) {
  const from = correctedBy(records);
  return from.length === 0 ? {} : { from };
}

function shortened(problem: Problem): Problem {
  return { ...problem, value: problem.value.slice(0, LONGEST).toWellFormed() };
}

/** The result of an order whose number waits for a person, and is corrected in another file at the same moment. */
export function lateResult(at: number): StoredResult {
  return { outcome: 'conflict', attempts: 0, at, code: 'being-corrected', facts: {} };
}

/** Numbers that are settled, whatever their content. */
export function settledIn(plans: readonly Plan[], known: readonly Known[]): string[] {
  return numbersOf(plans.filter((_, i) => known[i]?.kind === 'accepted'));
}

/** The valid orders in groups in which each number occurs once, however spelled: the second order of a number must find the first in the ledger. */
export function inRounds(page: readonly CheckedOrder[]): ValidOrder[][] {
  const rounds: ValidOrder[][] = [];
  const seen = new Map<string, number>();
  for (const order of page) {
    if (!order.valid) continue;
    const key = keyOf(order.number);
    const round = seen.get(key) ?? 0;
    seen.set(key, round + 1);
    const group = rounds[round] ?? [];
    rounds[round] = group;
    group.push(order);
  }
  return rounds;
}

function numbersOf(plans: readonly Plan[]): string[] {
  return plans.map(({ order }) => order.number);
}

/** Where the other order of a conflict comes from. */
function originOf(batchNo: number, own: number, named: Titles): Origin {
  if (batchNo === 0) return {};
  return { from: batchNo === own ? 'here' : (named.get(batchNo) ?? { batch: 'unknown' }) };
}

/** The job that carries orders of a batch, with a name for people. */
export function jobOf({ batch, name }: Batch, id: string, plans: readonly Plan[]): Job {
  const lines = plans.map(({ order }) => order.place.line);
  const span = lines.length === 1 ? `${lines[0]}` : `${Math.min(...lines)}–${Math.max(...lines)}`;
  const numbers = plans.map(({ order }) => order.order.purchaseOrderNumber);
  return { id, name: `${name} ${span}`.slice(0, 200), batch, numbers };
}

/** Consecutive groups of at most this size. */
export function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  );
}
