import { count, orders } from '../../core/format.ts';
import { type DeadLetterFilter, deadLetters } from '../../operate/dead-letters/dead-letters.ts';
import {
  judgeRetries,
  type LeftAlone,
  type RetryVerdict,
  retryDeadLetters,
} from '../../operate/dead-letters/retry-dead-letters.ts';
import { checkList, type ListCheck, listTroubleText } from '../../operate/delivery/api-list.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import { readFilter, selectedText } from '../../operations/dead-letter-filter.ts';
import { intoInbox } from '../../order/fixing.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { pages } from '../../report/lines.ts';
import { openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { confirmation, printable, printJson, sentences } from '../terminal/print.ts';
import { type ActingArgs, noneOf } from './dead-letters-close.ts';
import { sentAsSteps } from './next-step.ts';

type RetryArgs = ActingArgs & { rate?: number };

/**
 * `dead-letters retry`: sends orders again unchanged, after checking ledger and list.
 * 0: all of them; 2: some cannot be sent again.
 */
export async function deadLettersRetryCommand(args: RetryArgs, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: !args.dryRun });
  const filter = await readFilter(args, context);
  const check = await checkList(await numbersOf(filter, context), context, shell.env);
  const plan = await planRetry(filter, check, context);
  const reasons = reasonsOf(intoInbox(context.config));
  if (!args.json) shell.out(sentences(await noneOf(plan.numbers, filter, context), shell));
  if (!args.json)
    shell.out(sentences(planText(plan, check, reasons, args.yes && !args.dryRun), shell));
  if (args.dryRun || actable(plan) === 0) {
    if (args.json)
      printJson(shell, {
        dryRun: args.dryRun,
        plan: plan.counts(),
        listCheck: check.trouble ?? 'ok',
      });
    return actable(plan) < plan.total() ? 2 : 0;
  }
  if (!(await confirmation(`Continue with ${orders(actable(plan))}?`, args, shell))) return 1;
  const { done } = await recorded(
    { what: 'retry', on: selectedText(filter) },
    context,
    async () => {
      const done = await retry(filter, check, args.rate, context);
      return { done, text: doneText(done, plan, reasons).trimEnd().replaceAll('\n', ' ') };
    },
  );
  if (args.json) printJson(shell, { done: done.counts(), listCheck: check.trouble ?? 'ok' });
  else shell.out(sentences(doneText(done, plan, reasons) + (await heldText(done, context)), shell));
  return actable(done) < done.total() ? 2 : 0;
}

const PAGE = 100;

/** The numbers to look up in the API's list. */
async function numbersOf(filter: DeadLetterFilter, context: OperatorContext): Promise<Set<string>> {
  const numbers = new Set<string>();
  for await (const { kind, purchaseOrderNumber } of deadLetters(filter, context)) {
    if (kind !== 'invalid') numbers.add(purchaseOrderNumber);
  }
  return numbers;
}

async function planRetry(
  filter: DeadLetterFilter,
  { listed }: ListCheck,
  context: OperatorContext,
): Promise<OrderTally> {
  const plan = tallyOrders();
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    const judged = await judgeRetries(page, listed, context);
    for (const [i, deadLetter] of page.entries())
      plan.add(deadLetter, judged[i]?.verdict ?? 'forgotten');
  }
  return plan;
}

async function retry(
  filter: DeadLetterFilter,
  { listed }: ListCheck,
  rate: number | undefined,
  context: OperatorContext,
): Promise<OrderTally> {
  const done = tallyOrders();
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    const verdicts = await retryDeadLetters(
      page,
      done.counts().retried ?? 0,
      { listed, rate },
      context,
    );
    for (const [i, deadLetter] of page.entries()) {
      const verdict = verdicts[i];
      if (verdict !== undefined) done.add(deadLetter, verdict);
    }
  }
  return done;
}

function actable(tally: OrderTally): number {
  const { retried = 0, asked = 0, found = 0 } = tally.counts();
  return retried + asked + found;
}

/** Names the held batches: orders of them that were queued again are sent after the release. */
async function heldText(done: OrderTally, { batches }: OperatorContext): Promise<string> {
  const { retried = 0 } = done.counts();
  const found = retried === 0 ? [] : await Promise.all([...done.batches].map(batches.find));
  return found
    .flatMap((batch) => (batch?.held ? [batch.batch] : []))
    .map(
      (batch) =>
        `${batch} is held: its orders wait until po-sync batches release ${batch.slice(-8)}.\n`,
    )
    .join('');
}

type OrderTally = {
  /** The numbers of those that match. */
  numbers: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;
  /** Batches of the orders that are sent again. */
  batches: ReadonlySet<string>;
  /** Those that a fix file sent under another number, as far as they are named. */
  sent: readonly SentOrder[];
  add(deadLetter: FoundDeadLetter, verdict: RetryVerdict): void;
  counts(): Partial<Record<RetryVerdict, number>>;
  total(): number;
};

const SENT = ['retried', 'asked', 'found'] as const;

/** Counts orders: a second dead letter of an order that is sent again or settled is not left out, it shares the outcome. */
function tallyOrders(): OrderTally {
  const orders = new Map<string, Set<RetryVerdict>>();
  const batches = new Set<string>();
  const sent: SentOrder[] = [];
  function counts(): Partial<Record<RetryVerdict, number>> {
    const found: Partial<Record<RetryVerdict, number>> = {};
    for (const verdicts of orders.values()) {
      const sent = SENT.find((one) => verdicts.has(one));
      for (const verdict of verdicts) {
        const isShared =
          verdict !== sent && (isSent(verdict) || verdict === 'under-way' || verdict === 'settled');
        if (sent === undefined || !isShared) found[verdict] = (found[verdict] ?? 0) + 1;
      }
    }
    return found;
  }
  return {
    numbers: orders,
    batches,
    sent,
    add({ purchaseOrderNumber: number, batch, location, sentAs }, verdict) {
      if (verdict === 'corrected' && sentAs && sent.length < SENT_KEPT)
        sent.push({ order: number, sentAs });
      if (verdict === 'retried') batches.add(batch);
      // Orders without a number are told apart by their place.
      const key = number || JSON.stringify([batch, location]);
      orders.set(key, (orders.get(key) ?? new Set()).add(verdict));
    },
    counts,
    total: () => Object.values(counts()).reduce((sum, one) => sum + one, 0),
  };
}

function isSent(verdict: RetryVerdict): boolean {
  return SENT.some((one) => one === verdict);
}

/** `isFinal`: nobody is asked, so that only what is left out is listed. */
function planText(plan: OrderTally, check: ListCheck, reasons: Reasons, isFinal: boolean): string {
  const { retried = 0, asked = 0, found = 0, ...left } = plan.counts();
  const planned = [
    line(retried, 'would be sent again.'),
    line(asked, "in doubt would be looked up in the API's list again."),
    line(found, "would be settled as accepted: already in the API's list."),
  ];
  return [
    check.trouble === undefined ? '' : `${printable(listTroubleText(check))}\n`,
    ...(isFinal ? [] : planned),
    leftText(left, reasons),
    ...(plan.sent.length === 0 ? [] : sentAsSteps(plan.sent).map((text) => `${printable(text)}\n`)),
  ].join('');
}

/** Shows only what the plan did not contain. */
function doneText(done: OrderTally, plan: OrderTally, reasons: Reasons): string {
  const { retried = 0, asked = 0, found = 0, ...left } = done.counts();
  const before = plan.counts();
  const news = Object.entries(left).filter(
    ([why, count]) => count > (before[why as LeftAlone] ?? 0),
  );
  return [
    line(retried, 'queued to be sent again.'),
    line(asked, "in doubt: waiting for the API's list."),
    line(found, 'settled as accepted.'),
    leftText(Object.fromEntries(news), reasons),
  ].join('');
}

function leftText(left: Partial<Record<LeftAlone, number>>, reasons: Reasons): string {
  return Object.entries(left)
    .map(([why, count]) => line(count, `cannot be sent again: ${reasons[why as LeftAlone]}`))
    .join('');
}

function line(count: number, text: string): string {
  return count === 0 ? '' : `${orders(count)} ${text}\n`;
}

type Reasons = Record<LeftAlone, string>;

/** `into`: where a corrected file belongs. */
const reasonsOf = (into: string): Reasons => ({
  invalid: `failed a check. Correct the fix file in the report and drop it ${into}.`,
  'number-taken':
    'the number was sent with other items, and the API cannot change an order. Agree on the change with the supplier, then discard the order; give it another number in the fix file if it really is another order.',
  corrected: 'a fix file brought the same rows back as another order.',
  'under-way': 'already being sent.',
  settled: 'already settled.',
  forgotten: `the ledger no longer has the content. Drop the fix file of the report ${into}.`,
});

/** An order that was sent under another number. */
type SentOrder = Parameters<typeof sentAsSteps>[0][number];

/** Orders sent under another number that are kept to be named. */
const SENT_KEPT = 1_000;

/** Dead letters of which the list asks whether a retry would send their order. */
const JUDGED = 1_000;

/** What a retry would do; nothing where it would send none of the `open` orders. */
export async function retryTexts(
  mayRetry: readonly FoundDeadLetter[],
  open: number,
  context: OperatorContext,
) {
  const judged = await judgeRetries(mayRetry.slice(0, JUDGED), undefined, context);
  const again = mayRetry.filter((_, i) => judged[i]?.verdict === 'retried');
  const retried = new Set(again.map(({ purchaseOrderNumber }) => purchaseOrderNumber)).size;
  if (retried === 0) return [];
  const only =
    retried === open || mayRetry.length >= JUDGED
      ? ''
      : ` (only ${count(retried)} of ${count(open)} can be)`;
  return [`send them again unchanged${only}`];
}
