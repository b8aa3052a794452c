import { PoSyncError } from '../../core/errors.ts';
import { count, counted, orders, outcomeWord } from '../../core/format.ts';
import {
  type DeadLetterFilter,
  deadLetters,
  noneText,
  unmatchedTexts,
} from '../../operate/dead-letters/dead-letters.ts';
import { checkList, listTroubleText } from '../../operate/delivery/api-list.ts';
import { type OperatorContext, recorded } from '../../operate/operator-context.ts';
import { createDiscard, type DiscardVerdict } from '../../operate/orders/discard-order.ts';
import { findInDoubt, type Resolution, resolveOrder } from '../../operate/orders/resolve-order.ts';
import {
  type FilterInput,
  hasFilter,
  readFilter,
  selectedText,
} from '../../operations/dead-letter-filter.ts';
import { discardedAgain, NUMBER_KNOWN } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { shellWords } from '../../order/text.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { pages } from '../../report/lines.ts';
import { isNameless, openText } from '../../report/story.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { confirmation, printable, printJson, sentences } from '../terminal/print.ts';

/** The arguments of a command that changes something: filters, confirmation and dry run. */
export type ActingArgs = CommonArgs & FilterInput & { yes: boolean; dryRun: boolean };

/** How often each verdict occurred. */
type Tally<Verdict extends string> = {
  add(verdict: Verdict): void;
  counts(): Partial<Record<Verdict, number>>;
  total(): number;
};

function tallyOf<Verdict extends string>(): Tally<Verdict> {
  const counts: Partial<Record<Verdict, number>> = {};
  let total = 0;
  return {
    add(verdict) {
      counts[verdict] = (counts[verdict] ?? 0) + 1;
      total += 1;
    },
    counts: () => ({ ...counts }),
    total: () => total,
  };
}

/**
 * `dead-letters discard`: closes dead letters without sending. 0: all of them; 2: some cannot be discarded.
 * Throws PoSyncError `usage-missing-filter` when neither a filter nor `--all` says what to discard.
 */
export async function deadLettersDiscardCommand(
  args: ActingArgs & { all: boolean },
  shell: Shell,
): Promise<number> {
  const isLimited = args.all || hasFilter(args);
  if (args.yes && !args.dryRun && !isLimited) throw missingFilter();
  await using context = await openOperatorContext(args, shell, { confirm: !args.dryRun });
  const filter = await readFilter(args, context);
  const { discard, wouldDiscard } = createDiscard(context);
  const kinds = tallyOf<DeadLetterKind>();
  const planned: Planned = new Map();
  const would = createDiscardCount();
  const found = new Set<string>();
  const plan = await forEach(
    filter,
    async (one) => {
      found.add(one.purchaseOrderNumber);
      return would.add(noted(await wouldDiscard(one), one, { kinds, planned }), one);
    },
    context,
  );
  const isFinal = args.yes && !args.dryRun;
  if (!args.json) shell.out(sentences(await noneOf(found, filter, context), shell));
  if (!args.json)
    shell.out(sentences(planText(plan, { kinds, planned, what: would.text() }, isFinal), shell));
  const { discarded = 0 } = plan.counts();
  if (args.dryRun || discarded === 0) {
    if (args.json)
      printJson(shell, { dryRun: args.dryRun, plan: plan.counts(), kinds: kinds.counts() });
    return discarded < plan.total() ? 2 : 0;
  }
  const remedy = isLimited ? {} : { remedy: FILTER_REMEDY };
  if (!(await confirmation(`Discard ${would.text()}?`, { ...args, ...remedy }, shell))) return 1;
  const { done, text } = await recorded(
    { what: 'discard', on: selectedText(filter) },
    context,
    async () => {
      const are = createDiscardCount();
      const done = await forEach(filter, async (one) => are.add(await discard(one), one), context);
      return { done, text: `${are.text()} discarded.` };
    },
  );
  if (args.json) printJson(shell, { done: done.counts() });
  // Who was asked has read that.
  else
    shell.out(
      sentences(`${text}\n${isFinal ? `${discardedAgain([...planned.values()])}\n` : ''}`, shell),
    );
  return (done.counts().discarded ?? 0) < done.total() ? 2 : 0;
}

const FILTER_REMEDY =
  'Add --yes and a filter, such as --kind invalid or --batch 3f2a91c0, or --all for every order that needs a person. --dry-run shows what would happen.';

function missingFilter(): PoSyncError {
  return new PoSyncError(
    'usage-missing-filter',
    'Without a filter, every order that needs a person would be discarded.',
    {
      remedy: FILTER_REMEDY,
      facts: { option: '--all' },
    },
  );
}

/** One of those that would be discarded of each kind, and of each kind one whose number another file has. */
type Planned = Map<string, Pick<FoundDeadLetter, 'kind' | 'problems'>>;

type Planning = { kinds: Tally<DeadLetterKind>; planned: Planned };

/** Counts orders that are discarded: one that needs a person in several files has several dead letters. */
function createDiscardCount() {
  const numbers = new Set<string>();
  let letters = 0;
  let nameless = 0;
  return {
    add(verdict: DiscardVerdict, letter: FoundDeadLetter): DiscardVerdict {
      if (verdict !== 'discarded') return verdict;
      letters += 1;
      if (isNameless(letter)) nameless += 1;
      else numbers.add(letter.purchaseOrderNumber);
      return verdict;
    },
    /** `1 order`, `1 order (2 dead letters)`, `1 order and 2 rows without an order number`. */
    text(): string {
      const all = numbers.size + nameless;
      const text = openText(all, nameless);
      return all === letters ? text : `${text} (${counted(letters, 'dead letter')})`;
    },
  };
}

/** Counts what would be discarded by kind. */
function noted(
  verdict: DiscardVerdict,
  letter: FoundDeadLetter,
  { kinds, planned }: Planning,
): DiscardVerdict {
  if (verdict !== 'discarded') return verdict;
  const { kind, problems = [] } = letter;
  kinds.add(kind);
  planned.set(`${kind} ${problems.some(({ code }) => code === NUMBER_KNOWN)}`, { kind, problems });
  return verdict;
}

const PAGE = 100;

async function forEach(
  filter: DeadLetterFilter,
  act: (deadLetter: FoundDeadLetter) => Promise<DiscardVerdict>,
  context: OperatorContext,
): Promise<Tally<DiscardVerdict>> {
  const tally = tallyOf<DiscardVerdict>();
  for await (const page of pages(deadLetters(filter, context), PAGE)) {
    for (const verdict of await Promise.all(page.map(act))) tally.add(verdict);
  }
  return tally;
}

/** Why nothing is done, or nothing to some of the named orders; empty where everything is. `found`: the numbers of those that match. */
export async function noneOf(
  found: Pick<ReadonlySet<string>, 'has' | 'size'>,
  filter: DeadLetterFilter,
  context: OperatorContext,
): Promise<string> {
  if (found.size === 0) return `${printable(await noneText(filter, context))}\n`;
  const others =
    filter.limit === undefined ? [...(filter.orders ?? [])].filter((one) => !found.has(one)) : [];
  return (await unmatchedTexts(others, context)).map((text) => `${printable(text)}\n`).join('');
}

/** `isFinal`: nobody is asked, so that only what is left out is listed. */
function planText(
  plan: Tally<DiscardVerdict>,
  { kinds, planned, what }: Planning & { what: string },
  isFinal: boolean,
): string {
  const { discarded = 0, ...left } = plan.counts();
  const lines = Object.entries(left).map(
    ([why, number]) =>
      `${orders(number)} cannot be discarded: ${REASONS[why as keyof typeof REASONS]}\n`,
  );
  return [
    discarded === 0 || isFinal
      ? ''
      : `${what} would be discarded: ${kindsText(kinds)}.\n${discardedAgain([...planned.values()])}\n`,
    ...lines,
  ].join('');
}

/** `3 invalid, 1 conflict`. */
function kindsText(kinds: Tally<DeadLetterKind>): string {
  const each = Object.entries(kinds.counts()).map(
    ([kind, number]) => `${count(number)} ${outcomeWord(kind as DeadLetterKind)}`,
  );
  return each.join(', ');
}

const REASONS: Record<Exclude<DiscardVerdict, 'discarded'>, string> = {
  'in-doubt':
    'in doubt. Run po-sync dead-letters resolve ORDER --as accepted, or --as resend, first.',
  'under-way': 'being sent again. Wait for the outcome.',
  'in-progress':
    'in progress in another file. po-sync explain ORDER shows its batch. Wait for the outcome, or cancel that batch.',
  settled: 'already settled.',
  forgotten:
    'Redis does not have the batch yet. Start the daemon: it enters the batch from its report.',
};

type ResolveArgs = CommonArgs & { order: string; as: Resolution; yes: boolean; dryRun: boolean };

/** `dead-letters resolve ORDER --as accepted|resend`: settles an order in doubt as the person found it at the API. */
export async function deadLettersResolveCommand(
  { order, as, ...args }: ResolveArgs,
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: !args.dryRun });
  const entry = await findInDoubt(order, context.ledger, as);
  const check = await checkList(new Set([order]), context, shell.env);
  // For a conflict, the list shows the other content: the person decides whether to send the order anyway.
  const isShown = check.listed?.has(order);
  if (as === 'resend' && entry.state !== 'conflict' && isShown) throw isListed(order);
  if (!args.json && check.trouble !== undefined && !isShown)
    shell.out(`${printable(listTroubleText(check))}\n`);
  if (!args.dryRun && !(await confirmation(questionOf(order, as), args, shell))) return 1;
  if (!args.dryRun) {
    await recorded({ what: 'resolve', on: order }, context, async () => {
      await resolveOrder(entry, as, context);
      return { text: `${order} is ${RESULTS[as]}` };
    });
  }
  if (args.json)
    printJson(shell, { order, as, dryRun: args.dryRun, listCheck: check.trouble ?? 'ok' });
  else shell.out(`${printable(order)} ${args.dryRun ? 'would be' : 'is'} ${RESULTS[as]}\n`);
  return 0;
}

const RESULTS: Record<Resolution, string> = {
  accepted: 'settled as accepted; it is not sent again.',
  resend: 'queued to be sent again. If the API has it, it is created twice.',
};

function questionOf(order: string, as: Resolution): string {
  return as === 'accepted'
    ? `Does the API have order ${order}? It will never be sent again.`
    : `Is order ${order} certainly not at the API? If the API has it, sending it again creates it twice.`;
}

function isListed(order: string): PoSyncError {
  const message = `The API's list contains order ${order}: sending it again would create it twice.`;
  return new PoSyncError('order-at-the-api', message, {
    remedy: `Run po-sync dead-letters resolve ${shellWords(order, '--as', 'accepted')}.`,
    facts: { order },
  });
}
