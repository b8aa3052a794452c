import { randomUUID } from 'node:crypto';
import { PoSyncError, toError } from '../../core/errors.ts';
import { count, counted } from '../../core/format.ts';
import { deadLetters } from '../../operate/dead-letters/dead-letters.ts';
import {
  judgeRetries,
  type Listed,
  type RetryVerdict,
  retryDeadLetters,
} from '../../operate/dead-letters/retry-dead-letters.ts';
import { findListed, type ListCheck } from '../../operate/delivery/api-list.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import { createDiscard, type DiscardVerdict } from '../../operate/orders/discard-order.ts';
import { splitId } from '../../order/letter-id.ts';
import { byArticle, firstItems, itemsIn } from '../../order/order.ts';
import { firstOf } from '../../order/text.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { Look } from '../../reconcile/list-proof.ts';
import { pages } from '../../report/lines.ts';
import { isNameless } from '../../report/story.ts';
import type { DeadLetterRow } from '../read-model/letter-batch.ts';

/** What is done with many dead letters at once. */
export const PLAN_ACTIONS = ['retry', 'discard'] as const;
export type PlanAction = (typeof PLAN_ACTIONS)[number];

type Verdict = RetryVerdict | DiscardVerdict;

/** A dead letter of a plan: what would become of it, and once it was its turn, what became of it. */
export type PlanItem = Pick<
  DeadLetterRow,
  'id' | 'purchaseOrderNumber' | 'kind' | 'message' | 'field' | 'already'
> & {
  /** Its first items, or articles where it failed a check. */
  items?: string;
  verdict: Verdict;
  result?: Verdict;
};

/**
 * Dead letters as they were selected, for one person to confirm. `count`: those that something is done with; `nameless`: how
 * many of them are rows without an order number.
 */
export type Plan = {
  id: string;
  action: PlanAction;
  who: string;
  /** Redis time in milliseconds; it is forgotten at `until`. */
  at: number;
  until: number;
  state: 'ready' | 'running' | 'finished' | 'stopped' | 'failed';
  count: number;
  nameless: number;
  total: number;
  done: number;
  /** `ok`, or why the API's list could not be read. */
  listCheck: string;
  trouble?: string;
  items: PlanItem[];
};

/** Dead letters of a plan, plans that are kept, milliseconds that a plan is kept, and dead letters that are acted on together. */
const MOST_ITEMS = 10_000;
const MOST_PLANS = 20;
const KEPT = 600_000;
const PAGE = 100;

/** The verdicts with which something is done. */
export const DOES: ReadonlySet<Verdict> = new Set<Verdict>([
  'retried',
  'asked',
  'found',
  'discarded',
]);

/** Bulk actions: planned first, with a count, and carried out for exactly the planned dead letters. */
export function createPlans(readList: Look) {
  const kept = new Map<string, Plan>();

  /** PoSyncError `plan-too-large`. */
  async function plan(
    action: PlanAction,
    rows: readonly DeadLetterRow[],
    context: OperatorContext,
  ): Promise<Plan> {
    const made = await planFor(action, rows, readList, context);
    forgetOld(made.at);
    kept.set(made.id, made);
    return made;
  }

  function forgetOld(now: number): void {
    for (const { id, until, state } of kept.values())
      if (until <= now && state !== 'running') kept.delete(id);
    const idle = [...kept.values()].find(({ state }) => state !== 'running');
    if (kept.size >= MOST_PLANS && idle !== undefined) kept.delete(idle.id);
  }

  /** PoSyncError `plan-unknown`. */
  function find(id: string): Plan {
    const found = kept.get(id);
    if (found !== undefined) return found;
    throw new PoSyncError('plan-unknown', 'Plan not found.', {
      remedy:
        'A plan ends after ten minutes, or when the daemon restarts. Select the orders again.',
    });
  }

  /**
   * Begins to carry out a plan. `expect`: the count that the person saw. PoSyncError `plan-unknown`, `plan-not-ready`,
   * `plan-other-count`. A dead letter that changed since is left alone, with the reason as its result.
   */
  function run(id: string, expect: number, context: OperatorContext): Plan {
    const found = find(id);
    if (found.state !== 'ready') throw planNotReady(found);
    if (expect !== found.count) throw otherCount(found.count);
    found.state = 'running';
    carryOut(found, readList, context)
      .then(
        () => Object.assign(found, found.state === 'running' && { state: 'finished' }),
        (error: unknown) =>
          Object.assign(found, { state: 'failed', trouble: toError(error).message }),
      )
      .then(() => recorded(titleOf(found), context, async () => ({ text: resultText(found) })))
      // Redis is not reachable: the history of each order has what was done with it.
      .catch(() => undefined);
    return found;
  }

  /** Stops after the dead letters that are being acted on. */
  function stop(id: string): Plan {
    const found = find(id);
    if (found.state === 'running' || found.state === 'ready') found.state = 'stopped';
    return found;
  }

  return { plan, run, stop, find };
}

/** A plan among the actions of people, when it begins and when it ends. */
export function titleOf({ action, count }: Pick<Plan, 'action' | 'count'>) {
  return { what: `${action} in bulk`, on: counted(count, 'dead letter') };
}

const ENDS: Partial<Record<Verdict, string>> = {
  retried: 'sent again',
  asked: 'looked up again',
  found: 'accepted',
};

/** What became of the planned dead letters: `38 discarded, 2 settled`. */
function resultText({ items, trouble }: Plan): string {
  const planned = items.filter(({ verdict }) => DOES.has(verdict));
  const ends = Map.groupBy(planned, ({ result }) =>
    result ? (ENDS[result] ?? result) : 'not reached',
  );
  return [
    ...[...ends].map(([end, all]) => `${count(all.length)} ${end}`),
    ...(trouble ? [trouble] : []),
  ].join(', ');
}

/** What an action would do with each dead letter. */
async function planFor(
  action: PlanAction,
  rows: readonly DeadLetterRow[],
  readList: Look,
  context: OperatorContext,
): Promise<Plan> {
  if (rows.length > MOST_ITEMS) throw tooLarge();
  const { listed, trouble } = await listFor(action, rows, readList);
  const judge = judging(action, listed, context);
  const verdicts = new Map<string, { verdict: Verdict; items: string }>();
  let nameless = 0;
  for await (const page of lettersOf(rows, context)) {
    const found = await judge(page);
    for (const [i, letter] of page.entries()) {
      const verdict = found[i] ?? 'settled';
      verdicts.set(letter.id, { verdict, items: itemsOf(letter) });
      if (DOES.has(verdict) && isNameless(letter)) nameless += 1;
    }
  }
  const items = rows.map(({ id, purchaseOrderNumber, kind, message, field, already }): PlanItem => {
    const { verdict = 'settled' as const, items: own = '' } = verdicts.get(id) ?? {};
    const named = {
      ...(field && { field }),
      ...(own && { items: own }),
      ...(already && { already }),
    };
    return { id, purchaseOrderNumber, kind, message, ...named, verdict };
  });
  const at = context.store.time.now();
  const facts = {
    id: randomUUID(),
    action,
    who: context.operator.who,
    at,
    until: at + KEPT,
    state: 'ready' as const,
  };
  const does = items.filter(({ verdict }) => DOES.has(verdict)).length;
  const counts = { count: does, nameless, total: items.length, done: 0 };
  return { ...facts, ...counts, listCheck: trouble ?? 'ok', items };
}

type WithItems = Pick<FoundDeadLetter, 'payload' | 'known' | 'articles' | 'itemsRead'>;

/** The first items of a dead letter, as far as they were read; those of a conflict as they are compared. */
function itemsOf({ payload, known, articles, itemsRead = articles }: WithItems): string {
  const items = itemsIn(payload);
  return firstItems(known ? byArticle(items) : items) || firstOf(itemsRead);
}

/** Only sending again needs the API's list. */
async function listFor(
  action: PlanAction,
  rows: readonly Pick<DeadLetterRow, 'purchaseOrderNumber'>[],
  readList: Look,
): Promise<ListCheck> {
  if (action === 'discard') return { listed: undefined };
  return findListed(new Set(rows.map(({ purchaseOrderNumber }) => purchaseOrderNumber)), readList);
}

async function carryOut(found: Plan, readList: Look, context: OperatorContext): Promise<void> {
  const planned = found.items.filter(({ verdict }) => DOES.has(verdict));
  const byId = new Map(planned.map((item) => [item.id, item]));
  const { listed } = await listFor(found.action, planned, readList);
  const act = acting(found.action, listed, context);
  for await (const page of lettersOf(planned, context)) {
    if (found.state !== 'running') return;
    const results = await act(page);
    for (const [i, letter] of page.entries()) {
      const item = byId.get(letter.id);
      if (item !== undefined) item.result = results[i] ?? 'settled';
    }
    found.done += page.length;
  }
  // Closed since the plan was made.
  for (const item of planned) item.result ??= 'settled';
  found.done = planned.length;
}

/** The dead letters of these rows, in pages; each report is read once. */
async function* lettersOf(rows: readonly Pick<DeadLetterRow, 'id'>[], context: OperatorContext) {
  const byBatch = Map.groupBy(rows, ({ id }) => splitId(id)[0]);
  for (const [batch, some] of byBatch) {
    const wanted = new Set(some.map(({ id }) => id));
    yield* pages(only(deadLetters({ batch, all: false }, context), wanted), PAGE);
  }
}

async function* only(letters: AsyncIterable<FoundDeadLetter>, wanted: ReadonlySet<string>) {
  for await (const letter of letters) if (wanted.has(letter.id)) yield letter;
}

type OnPage = (page: readonly FoundDeadLetter[]) => Promise<Verdict[]>;

/** What an action would do. */
function judging(action: PlanAction, listed: Listed, context: OperatorContext): OnPage {
  const { wouldDiscard } = createDiscard(context);
  if (action === 'discard') return (page) => Promise.all(page.map(wouldDiscard));
  return async (page) => (await judgeRetries(page, listed, context)).map(({ verdict }) => verdict);
}

function acting(action: PlanAction, listed: Listed, context: OperatorContext): OnPage {
  const { discard } = createDiscard(context);
  if (action === 'discard') return (page) => Promise.all(page.map(discard));
  return (page) => retryDeadLetters(page, 0, { listed }, context);
}

function tooLarge(): PoSyncError {
  return new PoSyncError('plan-too-large', `More than ${MOST_ITEMS} orders match.`, {
    remedy: 'Narrow the filter, or use the command po-sync dead-letters.',
  });
}

function otherCount(count: number): PoSyncError {
  return new PoSyncError('plan-other-count', `The plan contains ${counted(count, 'order')}.`, {
    remedy: 'Enter exactly this number to confirm.',
    facts: { inBody: `"expect":${count}` },
  });
}

function planNotReady({ state }: Plan): PoSyncError {
  return new PoSyncError('plan-not-ready', `This plan is ${state}.`, {
    remedy: 'Make a new plan.',
  });
}
