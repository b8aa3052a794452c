import { interruption, PoSyncError } from '../core/errors.ts';
import { count, orders } from '../core/format.ts';
import { type DeadLetterFilter, deadLetters } from '../operate/dead-letters/dead-letters.ts';
import { judgeRetries, retryDeadLetters } from '../operate/dead-letters/retry-dead-letters.ts';
import { type ListCheck, listTroubleText } from '../operate/delivery/api-list.ts';
import type { BulkEnd, BulkJob, OperationContext } from '../operate/operation-context.ts';
import { type OperatorContext, recorded } from '../operate/operator-context.ts';
import { createDiscard } from '../operate/orders/discard-order.ts';
import { DISCARDED_AGAIN } from '../order/fixing.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import type { JobState } from '../queue/person-jobs.ts';
import { pages } from '../report/lines.ts';
import { type FilterInput, hasFilter, readFilter, selectedText } from './dead-letter-filter.ts';
import { findPlan, KEPT, keepPlan, type Planned } from './kept-plans.ts';
import type { Act, Done, Plan } from './operation.ts';
import { DOES, isDoing, type Verdict, verdictText } from './verdicts.ts';

type BulkInput = FilterInput & {
  dryRun: boolean;
  yes: boolean;
  all?: boolean;
  plan?: string | undefined;
};

type BulkPlan = Plan & { job: BulkJob; planned: string };

type OnPage = (page: readonly FoundDeadLetter[]) => Promise<Verdict[]>;

/** What is done with many dead letters, and how it is judged before. */
type BulkAction = (check: ListCheck, context: OperationContext) => { judge: OnPage; act: OnPage };

const ACTIONS: Record<BulkJob['verb'], BulkAction> = {
  'sent again': ({ listed }, context) => ({
    judge: async (page) => (await judgeRetries(page, listed, context)).map((one) => one.verdict),
    act: (page) => retryDeadLetters(page, listed, context),
  }),
  discarded: (_, context) => {
    const { discard: act, wouldDiscard } = createDiscard(context);
    return {
      judge: (page) => Promise.all(page.map(wouldDiscard)),
      act: (page) => Promise.all(page.map(act)),
    };
  },
};

/** Sends orders again unchanged, after checking ledger and list. */
export const retry = bulk('sent again');

/** Closes dead letters without sending. PoSyncError `usage-missing-filter` where nothing says which. */
export const discard = bulk('discarded');

const PAGE = 100;
/** Milliseconds between two looks at a job. */
const LOOK = 50;

function bulk(verb: BulkJob['verb']): Act<BulkInput, BulkPlan> {
  return { isRecorded: true, plan: (input, context) => planBulk(verb, input, context), run };
}

async function planBulk(
  verb: BulkJob['verb'],
  input: BulkInput,
  context: OperationContext,
): Promise<BulkPlan> {
  const { plan: known, dryRun } = input;
  if (known !== undefined && hasFilter(input)) throw filteredPlan();
  const isLimited =
    verb === 'sent again' || input.all === true || hasFilter(input) || known !== undefined;
  const isAsked = dryRun || !input.yes;
  if (!isAsked && !isLimited) throw missingFilter();
  const kept = known === undefined ? undefined : await findPlan(known, context, verb);
  const filter = {
    ...(await readFilter(input, context)),
    ...(kept && { ids: new Set(kept.planned.keys()) }),
  };
  // The job reads the list itself: what nobody is shown is judged by the ledger.
  const check = isAsked ? await checkOf(verb, filter, context) : { listed: undefined };
  const found = await judged(filter, ACTIONS[verb](check, context).judge, context);
  if (input.id?.length === 1) refuseOne(found);
  const doing = found.filter(({ verdict }) => isDoing(verdict));
  const title =
    verb === 'discarded' ? `Discard ${orders(doing.length)}` : `Send ${orders(doing.length)} again`;
  const would = doneTexts(found, 'would be ');
  const left = [
    listTroubleText(check),
    ...(found.length === 0 ? [NONE] : []),
    ...leftTexts(found, verb),
  ].filter((line) => line !== '');
  const isEmpty = doing.length === 0 && known === undefined;
  const id =
    isEmpty || (known !== undefined && !dryRun)
      ? (known ?? '')
      : await keepPlan({ verb, title, lines: [...would, ...left] }, plannedOf(doing), context);
  const on = known === undefined ? selectedText(filter) : `plan ${known}`;
  const isPartial = doing.length < found.length;
  return {
    on,
    question: `${title}?`,
    ...(isLimited ? {} : { remedy: FILTER_REMEDY }),
    would: would.join('\n'),
    left: left.join('\n'),
    ...(dryRun && id !== '' && { id }),
    json: {
      dryRun,
      ...(dryRun && id !== '' && { id }),
      plan: countsOf(found),
      ...listJson(verb, check),
    },
    isEmpty,
    needsPerson: isPartial,
    job: { verb, who: context.operator.who, on, isKept: known !== undefined, isPartial },
    planned: id,
  };
}

/** Adds the job, and waits for its end: here, or in the daemon that takes it up. */
async function run({ planned: id, job }: BulkPlan, context: OperationContext): Promise<Done> {
  const { jobs, stopping, clock } = context;
  await jobs.add(id, job);
  await using _worker = jobs.work((one, data) => workOnBulk(one, data, context));
  for (;;) {
    const state = await jobs.find(id);
    if (state?.end) return state.end;
    if (state === undefined || state.error) throw failed(state?.error);
    if (stopping.aborted) throw interruption('Interrupted: a daemon does the rest.');
    await clock.sleep(LOOK, stopping);
  }
}

function failed(error: JobState<BulkEnd>['error']): PoSyncError {
  const { code, message, remedy, facts } = error ?? {
    code: 'job-failed',
    message: 'What was begun could not be finished.',
    remedy: 'Do it again: it continues from where it was.',
    facts: {},
  };
  return new PoSyncError(code, message, { ...(remedy !== null && { remedy }), facts });
}

/** Does what is left of a plan, for the person who asked for it. Undefined where the process stops. */
export async function workOnBulk(
  id: string,
  job: BulkJob,
  context: OperationContext,
): Promise<BulkEnd | undefined> {
  const { verb, who, on } = job;
  const { time } = context.store;
  const did: OperatorContext['operator']['did'] = (what) => ({ at: time.now(), who, what });
  const asPerson = { ...context, operator: { who, did } };
  const end = await doRest(id, job, asPerson);
  const what = verb === 'discarded' ? 'discard' : 'retry';
  return end && recorded({ what, on }, asPerson, async () => end);
}

async function doRest(
  id: string,
  { verb, isKept, isPartial }: BulkJob,
  context: OperationContext,
): Promise<BulkEnd | undefined> {
  const { stopping, store } = context;
  const { planned } = await findPlan(id, context, verb);
  const key = store.keys.planDone(id);
  const did = (await store.redis.hvals(key)).map((text) => JSON.parse(text) as Judged);
  const ids = new Set(planned.keys()).difference(new Set(did.map((one) => one.id)));
  const filter = { all: false, ids };
  const check = await checkOf(verb, filter, context);
  const { act } = ACTIONS[verb](check, context);
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    if (stopping.aborted) return undefined;
    const verdicts = await act(page);
    const all = page.map((letter, i) => judgedOf(letter, verdicts[i]));
    did.push(...all);
    const texts = all.flatMap((one) => [one.id, JSON.stringify(one)]);
    await store.redis
      .multi()
      .hset(key, ...texts)
      .pexpire(key, KEPT)
      .exec();
  }
  const verdictOf = new Map(did.map((one) => [one.id, one.verdict]));
  const changed = [...planned].flatMap(([one, order]) => {
    const verdict = verdictOf.get(one) ?? 'settled';
    return isDoing(verdict) ? [] : [{ id: one, order, verdict }];
  });
  const lines = [
    listTroubleText(check),
    ...doneTexts(did, ''),
    ...(isKept ? changedTexts(changed) : leftTexts(did, verb)),
  ].filter((line) => line !== '');
  const isNone = did.every(({ verdict }) => !isDoing(verdict));
  return {
    lines,
    text: lines.join('\n'),
    steps: verb === 'discarded' && !isNone ? DISCARDED_AGAIN : '',
    json: { done: countsOf(did), ...(isKept && { changed }), ...listJson(verb, check) },
    needsPerson: isPartial || changed.length > 0,
    isInVain: isNone,
  };
}

/** Only sending again needs the API's list. */
async function checkOf(
  verb: BulkJob['verb'],
  filter: DeadLetterFilter,
  context: OperationContext,
): Promise<ListCheck> {
  if (verb === 'discarded') return { listed: undefined };
  const numbers = new Set<string>();
  for await (const { kind, purchaseOrderNumber } of deadLetters(filter, context))
    if (kind !== 'invalid') numbers.add(purchaseOrderNumber);
  return await context.checkList(numbers);
}

const listJson = (verb: BulkJob['verb'], { trouble = 'ok' }: ListCheck) =>
  verb === 'sent again' && { listCheck: trouble };

/** What would become of each dead letter. */
async function judged(
  filter: DeadLetterFilter,
  judge: OnPage,
  context: OperationContext,
): Promise<Judged[]> {
  const all: Judged[] = [];
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    const verdicts = await judge(page);
    all.push(...page.map((letter, i) => judgedOf(letter, verdicts[i])));
  }
  return all;
}

/** Who names one dead letter wants that one. PoSyncError `dead-letter-…`. */
function refuseOne([one]: readonly Judged[]): void {
  if (one === undefined || isDoing(one.verdict)) return;
  const { id, order, verdict } = one;
  throw new PoSyncError(`dead-letter-${verdict}`, `${order || id}: ${verdictText(verdict)}.`, {
    facts: { order, verdict },
  });
}

const NONE = 'No open dead letter matches.';

const FILTER_REMEDY =
  'Add --yes and a filter, such as --kind invalid or --batch 3f2a91c0, or --all for every order that needs a person. --dry-run shows what would happen.';

function missingFilter(): PoSyncError {
  const message = 'Without a filter, every order that needs a person would be discarded.';
  const facts = { option: '--all' };
  return new PoSyncError('usage-missing-filter', message, { remedy: FILTER_REMEDY, facts });
}

function filteredPlan(): PoSyncError {
  const message = 'A plan says which orders it is about: filters cannot be added.';
  return new PoSyncError('usage-plan-and-filter', message, {
    remedy: 'Leave out the filters, or plan again with them.',
  });
}

type Changed = { id: string; order: string };

/** Orders that changed and are named. */
const NAMED = 10;

function changedTexts(changed: readonly Changed[]): string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, NAMED).map(({ id, order }) => order || id);
  const more = changed.length > NAMED ? ` and ${count(changed.length - NAMED)} more` : '';
  return [`Left as they are, because they changed since the plan: ${named.join(', ')}${more}.`];
}

/** A dead letter with what would become, or became, of it. */
type Judged = { id: string; order: string; verdict: Verdict };

function judgedOf(
  { id, purchaseOrderNumber: order }: FoundDeadLetter,
  verdict: Verdict = 'settled',
): Judged {
  return { id, order, verdict };
}

const plannedOf = (all: readonly Judged[]): Planned =>
  new Map(all.map(({ id, order }) => [id, order]));

/** How many there are of each verdict. */
function countsOf(all: readonly Judged[]): Partial<Record<Verdict, number>> {
  const groups = Map.groupBy(all, ({ verdict }) => verdict);
  return Object.fromEntries([...groups].map(([verdict, some]) => [verdict, some.length]));
}

/** A line for each verdict with which something is done. */
function doneTexts(all: readonly Judged[], verb: string): string[] {
  const counts = countsOf(all);
  return DOES.flatMap((one) => {
    const number = counts[one];
    return number ? [`${orders(number)} ${verb}${verdictText(one)}.`] : [];
  });
}

function leftTexts(all: readonly Judged[], verb: BulkJob['verb']): string[] {
  const left = Map.groupBy(all, ({ verdict }) => verdict);
  return [...left].flatMap(([why, some]) =>
    isDoing(why) ? [] : [`${orders(some.length)} cannot be ${verb}: ${verdictText(why)}.`],
  );
}
