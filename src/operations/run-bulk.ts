import { interruption, PoSyncError } from '../core/errors.ts';
import { count, counted, orders, outcomeWord } from '../core/format.ts';
import {
  type DeadLetterFilter,
  deadLetters,
  noneText,
  unmatchedTexts,
} from '../operate/dead-letters/dead-letters.ts';
import { judgeRetries, retryDeadLetters } from '../operate/dead-letters/retry-dead-letters.ts';
import { type ListCheck, listTroubleText } from '../operate/delivery/api-list.ts';
import type { BulkEnd, BulkJob, OperationContext } from '../operate/operation-context.ts';
import { type OperatorContext, recorded } from '../operate/operator-context.ts';
import { createDiscard, orderInProgress } from '../operate/orders/discard-order.ts';
import { findInProgress } from '../operate/orders/in-progress.ts';
import { DISCARDED_AGAIN } from '../order/fixing.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import type { JobState } from '../queue/person-jobs.ts';
import { pages } from '../report/lines.ts';
import { isNameless, openText } from '../report/story.ts';
import { type FilterInput, hasFilter, readFilter, selectedText } from './dead-letter-filter.ts';
import { findPlan, KEPT, keepPlan, type Planned } from './kept-plans.ts';
import type { Act, Done, Plan } from './operation.ts';
import { DOES, isDoing, type Verdict, verdictText } from './verdicts.ts';

type BulkInput = FilterInput & {
  dryRun: boolean;
  yes: boolean;
  all?: boolean;
  rate?: number | undefined;
  plan?: string | undefined;
};

type BulkPlan = Plan & { job: BulkJob; planned: string };

type OnPage = (page: readonly FoundDeadLetter[], done: number) => Promise<Verdict[]>;

/** What is done with many dead letters, and how it is judged before. */
type BulkAction = {
  judge(check: ListCheck, context: OperationContext): OnPage;
  act(check: ListCheck, rate: number | undefined, context: OperationContext): OnPage;
};

const ACTIONS: Record<BulkJob['verb'], BulkAction> = {
  'sent again': {
    judge:
      ({ listed }, context) =>
      async (page) =>
        (await judgeRetries(page, listed, context)).map(({ verdict }) => verdict),
    act:
      ({ listed }, rate, context) =>
      (page, done) =>
        retryDeadLetters(page, done, { listed, rate }, context),
  },
  discarded: {
    judge: (_, context) => (page) => Promise.all(page.map(createDiscard(context).wouldDiscard)),
    act: (_, __, context) => (page) => Promise.all(page.map(createDiscard(context).discard)),
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
  const { plan: known, dryRun, rate } = input;
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
  const found = await judged(filter, ACTIONS[verb].judge(check, context), context);
  if (input.id?.length === 1) await refuseOne(found, context);
  const text = found.tally.text();
  const title = verb === 'discarded' ? `Discard ${text}` : `Send ${text} again`;
  const would = wouldTexts(found.tally);
  const left = [
    listTroubleText(check),
    ...(await noneOf(found.numbers, filter, context)),
    ...leftTexts(found.tally.left(), verb),
  ].filter((line) => line !== '');
  const isEmpty = text === '' && known === undefined;
  const id =
    isEmpty || (known !== undefined && !dryRun)
      ? (known ?? '')
      : await keepPlan({ verb, title, lines: [...would, ...left] }, found.tally.planned(), context);
  const on = known === undefined ? selectedText(filter) : `plan ${known}`;
  const isPartial = found.tally.isPartial();
  const { who } = context.operator;
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
      plan: found.tally.counts(),
      ...(verb === 'discarded' ? { kinds: found.tally.kinds() } : { listCheck: checkText(check) }),
    },
    isEmpty,
    needsPerson: isPartial,
    job: { verb, who, on, rate, isKept: known !== undefined, isPartial },
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
  { verb, rate, isKept, isPartial }: BulkJob,
  context: OperationContext,
): Promise<BulkEnd | undefined> {
  const { stopping, store } = context;
  const { planned } = await findPlan(id, context, verb);
  const done = store.keys.planDone(id);
  const tally = createTally();
  for (const text of await store.redis.hvals(done)) tally.add(JSON.parse(text) as Judged);
  const ids = new Set([...planned.keys()].filter((one) => tally.verdictOf(one) === undefined));
  const filter = { all: false, ids };
  const check = await checkOf(verb, filter, context);
  const onPage = ACTIONS[verb].act(check, rate, context);
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    if (stopping.aborted) return undefined;
    const verdicts = await onPage(page, tally.retried());
    const all = page.map((letter, i) => judgedOf(letter, verdicts[i]));
    for (const one of all) tally.add(one);
    const texts = all.flatMap((one) => [one.id, JSON.stringify(one)]);
    await store.redis
      .multi()
      .hset(done, ...texts)
      .pexpire(done, KEPT)
      .exec();
  }
  const changed = [...planned].flatMap(([one, order]) => {
    const verdict = tally.verdictOf(one) ?? 'settled';
    return isDoing(verdict) ? [] : [{ id: one, order, verdict }];
  });
  const lines = [
    listTroubleText(check),
    ...tally.texts(''),
    ...(isKept ? changedTexts(changed) : leftTexts(tally.left(), verb)),
    ...(await heldTexts(tally.batches, context)),
  ].filter((line) => line !== '');
  return {
    lines,
    text: lines.join('\n'),
    steps: verb === 'discarded' ? DISCARDED_AGAIN : '',
    json: {
      done: tally.counts(),
      ...(isKept && { changed }),
      ...(verb === 'sent again' && { listCheck: checkText(check) }),
    },
    needsPerson: isPartial || tally.isPartial() || (isKept && changed.length > 0),
    isInVain: tally.text() === '',
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

const checkText = ({ trouble = 'ok' }: ListCheck): string => trouble;

/** What would become of each dead letter. `first`: one of them. */
async function judged(filter: DeadLetterFilter, onPage: OnPage, context: OperationContext) {
  const tally = createTally();
  const numbers = new Set<string>();
  let first: FoundDeadLetter | undefined;
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    const verdicts = await onPage(page, 0);
    for (const [i, letter] of page.entries()) {
      first ??= letter;
      numbers.add(letter.purchaseOrderNumber);
      tally.add(judgedOf(letter, verdicts[i]));
    }
  }
  return { tally, numbers, first };
}

/** Who names one dead letter wants that one. PoSyncError `order-in-progress`, `dead-letter-…`. */
async function refuseOne(
  { tally, first: letter }: Awaited<ReturnType<typeof judged>>,
  context: OperationContext,
): Promise<void> {
  const [why] = tally.left();
  if (letter === undefined || why === undefined) return;
  const name = letter.purchaseOrderNumber || `Line ${letter.location.line}`;
  const other = await findInProgress(letter, context);
  if (other !== undefined) throw orderInProgress(name, other);
  throw new PoSyncError(`dead-letter-${why[0]}`, `${name}: ${verdictText(why[0])}.`, {
    facts: { order: letter.purchaseOrderNumber, verdict: why[0] },
  });
}

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

/** A dead letter with what would become, or became, of it. `key`: what its order is counted by. */
type Judged = Pick<FoundDeadLetter, 'kind' | 'batch'> & {
  id: string;
  key: string;
  order: string;
  verdict: Verdict;
  isNameless: boolean;
};

function judgedOf(letter: FoundDeadLetter, verdict: Verdict = 'settled'): Judged {
  const { id, purchaseOrderNumber: order, batch, kind } = letter;
  const nameless = isNameless(letter);
  return {
    id,
    key: nameless || order === '' ? id : order,
    order,
    batch,
    kind,
    verdict,
    isNameless: nameless,
  };
}

type Tally = ReturnType<typeof createTally>;

/** Counts orders by verdict: a second dead letter of an order with which something is done shares the outcome. */
function createTally() {
  const all = new Map<string, Judged>();
  const batches = new Set<string>();
  let again = 0;

  const orders = () =>
    [...Map.groupBy(all.values(), ({ key }) => key).values()].map((some) => ({
      verdicts: new Set(some.map(({ verdict }) => verdict)),
      isNameless: some.some((one) => one.isNameless),
    }));
  const acted = () => [...all.values()].filter(({ verdict }) => isDoing(verdict));
  const counts = () => countsOf(orders());
  const left = () => Object.entries(counts()).filter(([one]) => !isDoing(one as Verdict)) as Left;

  function openOf(does: readonly Verdict[]): string {
    const some = orders().filter(({ verdicts }) => does.some((one) => verdicts.has(one)));
    const nameless = some.filter((one) => one.isNameless).length;
    const text = some.length === 0 ? '' : openText(some.length, nameless);
    const letters = acted().length;
    const isMore = does.includes('discarded') && letters > some.length && some.length > 0;
    return isMore ? `${text} (${counted(letters, 'dead letter')})` : text;
  }

  return {
    verdictOf: (id: string) => all.get(id)?.verdict,
    planned: (): Planned => new Map(acted().map(({ id, order }) => [id, order])),
    batches,
    retried: () => again,
    counts,
    add(one: Judged): void {
      all.set(one.id, one);
      if (one.verdict !== 'retried') return;
      batches.add(one.batch);
      again += 1;
    },
    left,
    isPartial: () => left().length > 0,
    /** `3 orders and 1 row without an order number`; empty where nothing is done. */
    text: () => openOf(DOES),
    /** A line for each verdict with which something is done. */
    texts: (verb: string) =>
      DOES.flatMap((one) => {
        const text = openOf([one]);
        return text === '' ? [] : [`${text} ${verb}${verdictText(one)}.`];
      }),
    kinds: (): Partial<Record<DeadLetterKind, number>> =>
      Object.fromEntries(
        [...Map.groupBy(acted(), ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]),
      ),
  };
}

/** Of an order with which something is done, what else it shares is not counted. */
function countsOf(all: readonly { verdicts: ReadonlySet<Verdict> }[]) {
  const found: Partial<Record<Verdict, number>> = {};
  for (const { verdicts } of all) {
    const does = DOES.find((one) => verdicts.has(one));
    for (const verdict of verdicts) {
      const isShared = isDoing(verdict) || verdict === 'under-way' || verdict === 'settled';
      if (verdict === does || does === undefined || !isShared)
        found[verdict] = (found[verdict] ?? 0) + 1;
    }
  }
  return found;
}

type Left = [why: Verdict, orders: number][];

function wouldTexts(planned: Tally): string[] {
  if (!planned.counts().discarded) return planned.texts('would be ');
  const kinds = Object.entries(planned.kinds()).map(
    ([kind, number]) => `${count(number)} ${outcomeWord(kind as DeadLetterKind)}`,
  );
  const text = `${planned.text()} would be discarded: ${kinds.join(', ')}.`;
  return [text, DISCARDED_AGAIN];
}

function leftTexts(left: Left, verb: BulkJob['verb']): string[] {
  return left.map(([why, number]) => `${orders(number)} cannot be ${verb}: ${verdictText(why)}.`);
}

/** Why nothing is done to some of the named orders, or to any; empty where everything is. */
async function noneOf(
  found: ReadonlySet<string>,
  filter: DeadLetterFilter,
  context: OperationContext,
): Promise<string[]> {
  if (found.size === 0) return [await noneText(filter, context)];
  const { keyOf } = context.store.keys;
  const keys = new Set([...found].map(keyOf));
  const others =
    filter.limit === undefined
      ? [...(filter.orders ?? [])].filter((one) => !keys.has(keyOf(one)))
      : [];
  return await unmatchedTexts(others, context);
}

/** Orders of a held batch that were queued again are sent after its release. */
async function heldTexts(
  batches: ReadonlySet<string>,
  context: OperationContext,
): Promise<string[]> {
  const found = await Promise.all([...batches].map(context.batches.find));
  return found.flatMap((one) =>
    one?.held
      ? [
          `${one.batch} is held: its orders wait until po-sync batches release ${one.batch.slice(-8)}.`,
        ]
      : [],
  );
}
