import { PoSyncError } from '../core/errors.ts';
import { count, counted, orders, outcomeWord } from '../core/format.ts';
import {
  type DeadLetterFilter,
  deadLetters,
  noneText,
  unmatchedTexts,
} from '../operate/dead-letters/dead-letters.ts';
import { judgeRetries, retryDeadLetters } from '../operate/dead-letters/retry-dead-letters.ts';
import { type ListCheck, listTroubleText } from '../operate/delivery/api-list.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import { createDiscard, orderInProgress } from '../operate/orders/discard-order.ts';
import { findInProgress } from '../operate/orders/in-progress.ts';
import { discardedAgain } from '../order/fixing.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import { pages } from '../report/lines.ts';
import { isNameless, openText } from '../report/story.ts';
import { type FilterInput, hasFilter, readFilter, selectedText } from './dead-letter-filter.ts';
import { findPlan, keepPlan, type Planned } from './kept-plans.ts';
import type { Act, Done, Plan } from './operation.ts';
import { DOES, isDoing, type Verdict, verdictText } from './verdicts.ts';

type BulkInput = FilterInput & {
  dryRun: boolean;
  yes: boolean;
  all?: boolean;
  rate?: number | undefined;
  plan?: string | undefined;
};

type BulkPlan = Plan & {
  filter: DeadLetterFilter;
  planned: Tally;
  /** What was planned before, if that is to be done. */
  kept: Planned | undefined;
  check: ListCheck;
  rate: number | undefined;
};

type OnPage = (page: readonly FoundDeadLetter[], done: number) => Promise<Verdict[]>;

/** What is done with many dead letters, and how it is judged before. */
type BulkAction = {
  verb: 'sent again' | 'discarded';
  judge(check: ListCheck, context: OperationContext): OnPage;
  act(check: ListCheck, rate: number | undefined, context: OperationContext): OnPage;
};

/** Sends orders again unchanged, after checking ledger and list. */
export const retry = bulk({
  verb: 'sent again',
  judge:
    ({ listed }, context) =>
    async (page) =>
      (await judgeRetries(page, listed, context)).map(({ verdict }) => verdict),
  act:
    ({ listed }, rate, context) =>
    (page, done) =>
      retryDeadLetters(page, done, { listed, rate }, context),
});

/** Closes dead letters without sending. PoSyncError `usage-missing-filter` where nothing says which. */
export const discard = bulk({
  verb: 'discarded',
  judge: (_, context) => (page) => Promise.all(page.map(createDiscard(context).wouldDiscard)),
  act: (_, __, context) => (page) => Promise.all(page.map(createDiscard(context).discard)),
});

const PAGE = 100;

function bulk(action: BulkAction): Act<BulkInput, BulkPlan> {
  return {
    plan: (input, context) => planBulk(action, input, context),
    run: (plan, context) => runBulk(action, plan, context),
  };
}

async function planBulk(
  { verb, judge }: BulkAction,
  input: BulkInput,
  context: OperationContext,
): Promise<BulkPlan> {
  const { plan: known, dryRun } = input;
  if (known !== undefined && hasFilter(input)) throw filteredPlan();
  const isLimited =
    verb === 'sent again' || input.all === true || hasFilter(input) || known !== undefined;
  if (input.yes && !dryRun && !isLimited) throw missingFilter();
  const kept = known === undefined ? undefined : await findPlan(verb, known, context);
  const filter = {
    ...(await readFilter(input, context)),
    ...(kept && { ids: new Set(kept.keys()) }),
  };
  const check = await checkOf(verb, filter, context);
  const found = await tallied(filter, judge(check, context), context);
  const one = found.first();
  if (input.id?.length === 1 && one) await refuseOne(one, found, context);
  const text = found.text();
  const isKept = dryRun && text !== '';
  const id = isKept ? await keepPlan(verb, found.planned(), context) : undefined;
  const shown =
    id === undefined ? '' : `\nTo do exactly this, add --yes --plan ${id} in place of the filters.`;
  return {
    on: known === undefined ? selectedText(filter) : `plan ${known}`,
    question: verb === 'discarded' ? `Discard ${text}?` : `Send ${text} again?`,
    ...(isLimited ? {} : { remedy: FILTER_REMEDY }),
    would: wouldText(found) + shown,
    left: [
      listTroubleText(check),
      await noneOf(found.numbers, filter, context),
      ...leftTexts(found.left(), verb),
    ]
      .filter((line) => line !== '')
      .join('\n'),
    json: {
      dryRun,
      id,
      plan: found.counts(),
      ...(verb === 'discarded' ? { kinds: found.kinds() } : { listCheck: checkText(check) }),
    },
    isEmpty: text === '',
    needsPerson: found.isPartial(),
    filter,
    planned: found,
    kept,
    check,
    rate: input.rate,
  };
}

async function runBulk(
  { verb, act }: BulkAction,
  { filter, planned, kept, check, rate }: BulkPlan,
  context: OperationContext,
): Promise<Done> {
  const { limit: _, ...all } = filter;
  const only = { ...all, ids: new Set(planned.planned().keys()) };
  const end = await tallied(only, act(check, rate, context), context);
  const before = planned.left();
  const news = end.left().filter(([why, number]) => {
    return number > (before.find(([one]) => one === why)?.[1] ?? 0);
  });
  const changed = changedSince(kept, [planned, end]);
  const lines = [
    ...end.texts(''),
    ...(kept ? changedTexts(changed) : leftTexts(news, verb)),
    ...(await heldTexts(end, context)),
  ];
  return {
    text: lines.join('\n'),
    steps: verb === 'discarded' ? discardedAgain(planned.samples()) : '',
    json: {
      done: end.counts(),
      ...(kept && { changed }),
      ...(verb === 'sent again' && { listCheck: checkText(check) }),
    },
    needsPerson: end.isPartial() || planned.isPartial() || changed.length > 0,
  };
}

/** Only sending again needs the API's list. */
async function checkOf(
  verb: BulkAction['verb'],
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

async function tallied(
  filter: DeadLetterFilter,
  onPage: OnPage,
  context: OperationContext,
): Promise<Tally> {
  const tally = createTally();
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    const verdicts = await onPage(page, tally.counts().retried ?? 0);
    for (const [i, letter] of page.entries()) tally.add(letter, verdicts[i] ?? 'settled');
  }
  return tally;
}

/** Who names one dead letter wants that one. PoSyncError `order-in-progress`, `dead-letter-…`. */
async function refuseOne(
  letter: FoundDeadLetter,
  planned: Tally,
  context: OperationContext,
): Promise<void> {
  const [why] = planned.left();
  if (why === undefined) return;
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

type Changed = { id: string; order: string; verdict: Verdict };

/** What was planned and is not done, because it changed meanwhile; what is closed is no longer found. */
function changedSince(kept: Planned | undefined, [now, done]: [Tally, Tally]): Changed[] {
  return [...(kept ?? [])].flatMap(([id, order]) => {
    const verdict = done.verdictOf(id) ?? now.verdictOf(id) ?? 'settled';
    return isDoing(verdict) ? [] : [{ id, order, verdict }];
  });
}

/** Orders that changed and are named. */
const NAMED = 10;

function changedTexts(changed: readonly Changed[]): string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, NAMED).map(({ id, order }) => order || id);
  const more = changed.length > NAMED ? ` and ${count(changed.length - NAMED)} more` : '';
  return [`Left as they are, because they changed since the plan: ${named.join(', ')}${more}.`];
}

type Tally = ReturnType<typeof createTally>;

/** Counts orders by verdict: a second dead letter of an order with which something is done shares the outcome. */
function createTally() {
  const all = new Map<string, { verdicts: Set<Verdict>; isNameless: boolean }>();
  const numbers = new Set<string>();
  const verdicts = new Map<string, { order: string; verdict: Verdict }>();
  let acted = 0;
  const samples = new Map<string, Pick<FoundDeadLetter, 'kind' | 'problems'>>();
  let first: FoundDeadLetter | undefined;
  const batches = new Set<string>();
  const kinds = new Map<DeadLetterKind, number>();

  const counts = () => countsOf([...all.values()]);

  function havingAny(does: readonly Verdict[]) {
    return [...all.values()].filter(({ verdicts }) => does.some((one) => verdicts.has(one)));
  }

  function openOf(does: readonly Verdict[]): string {
    const some = havingAny(does);
    const nameless = some.filter((one) => one.isNameless).length;
    const text = some.length === 0 ? '' : openText(some.length, nameless);
    const isMore = does.includes('discarded') && acted > some.length && some.length > 0;
    return isMore ? `${text} (${counted(acted, 'dead letter')})` : text;
  }

  return {
    numbers,
    verdictOf: (id: string) => verdicts.get(id)?.verdict,
    planned: (): Planned =>
      new Map(
        [...verdicts].flatMap(([id, { order, verdict }]) =>
          isDoing(verdict) ? [[id, order] as const] : [],
        ),
      ),
    batches,
    counts,
    first: () => first,
    /** One of each kind, and of each kind one whose number another file has. */
    samples: () => [...samples.values()],
    add(letter: FoundDeadLetter, verdict: Verdict): void {
      const { purchaseOrderNumber: number, batch, kind, problems = [] } = letter;
      first ??= letter;
      numbers.add(number);
      const key = isNameless(letter) || number === '' ? letter.id : number;
      const one = all.get(key) ?? { verdicts: new Set(), isNameless: isNameless(letter) };
      one.verdicts.add(verdict);
      all.set(key, one);
      verdicts.set(letter.id, { order: number, verdict });
      if (verdict === 'retried') batches.add(batch);
      if (!isDoing(verdict)) return;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      acted += 1;
      const isKnown = problems.some(({ code }) => code === 'number-known');
      samples.set(`${kind} ${isKnown}`, { kind, problems });
    },
    left: () => Object.entries(counts()).filter(([one]) => !isDoing(one as Verdict)) as Left,
    isPartial: () => Object.keys(counts()).some((one) => !isDoing(one as Verdict)),
    /** `3 orders and 1 row without an order number`; empty where nothing is done. */
    text: () => openOf(DOES),
    /** A line for each verdict with which something is done. */
    texts: (verb: string) =>
      DOES.flatMap((one) => {
        const text = openOf([one]);
        return text === '' ? [] : [`${text} ${verb}${verdictText(one)}.`];
      }),
    kinds: () => Object.fromEntries(kinds),
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

function wouldText(planned: Tally): string {
  const discarded = planned.counts().discarded ?? 0;
  if (discarded === 0) return planned.texts('would be ').join('\n');
  const kinds = Object.entries(planned.kinds()).map(
    ([kind, number]) => `${count(number)} ${outcomeWord(kind as DeadLetterKind)}`,
  );
  return `${planned.text()} would be discarded: ${kinds.join(', ')}.\n${discardedAgain(planned.samples())}`;
}

function leftTexts(left: Left, verb: BulkAction['verb']): string[] {
  return left.map(([why, number]) => `${orders(number)} cannot be ${verb}: ${verdictText(why)}.`);
}

/** Why nothing is done to some of the named orders, or to any; empty where everything is. */
async function noneOf(
  found: ReadonlySet<string>,
  filter: DeadLetterFilter,
  context: OperationContext,
): Promise<string> {
  if (found.size === 0) return await noneText(filter, context);
  const { keyOf } = context.store.keys;
  const keys = new Set([...found].map(keyOf));
  const others =
    filter.limit === undefined
      ? [...(filter.orders ?? [])].filter((one) => !keys.has(keyOf(one)))
      : [];
  return (await unmatchedTexts(others, context)).join('\n');
}

/** Orders of a held batch that were queued again are sent after its release. */
async function heldTexts({ batches }: Tally, context: OperationContext): Promise<string[]> {
  const found = await Promise.all([...batches].map(context.batches.find));
  return found.flatMap((one) =>
    one?.held
      ? [
          `${one.batch} is held: its orders wait until po-sync batches release ${one.batch.slice(-8)}.`,
        ]
      : [],
  );
}
