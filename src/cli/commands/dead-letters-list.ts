import { join } from 'node:path';
import { count, counted, moment, outcomeWord } from '../../core/format.ts';
import {
  type LettersWithoutReport,
  withoutReportText,
} from '../../operate/batches/open-dead-letters.ts';
import {
  type DeadLetterFilter,
  deadLetters,
  lacking,
  noneText,
} from '../../operate/dead-letters/dead-letters.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { closingText } from '../../order/closing-text.ts';
import { errorLine } from '../../order/dead-letter.ts';
import { intoInbox, NUMBER_KNOWN, ROW_KNOWN } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { problemText } from '../../order/record.ts';
import { escapeHiddenInJson } from '../../order/text.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { fixFilesIn } from '../../report/fix-copies.ts';
import {
  addError,
  byWeight,
  type ErrorGroup,
  type ErrorGroups,
  fieldOf,
} from '../../report/story.ts';
import {
  type DeadLetterArgs,
  deadLetterFilter,
  olderText,
  olderVersions,
} from '../dead-letter-filter.ts';
import { openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { formatOf, hanging, printable } from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';
import { JUDGED, retryTexts, SENT_KEPT, type SentOrder } from './dead-letters-retry.ts';
import { CONFLICT_STEPS, DOUBT_STEPS, otherWays, sentAsSteps } from './next-step.ts';

/** Rows of the table without `--limit`. */
const ROWS = 50;

/** `dead-letters list`: dead letters, one a line, then grouped by error. An order has one in each file in which it needs a person. */
export async function deadLettersListCommand(
  args: DeadLetterArgs & { all: boolean },
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const { limit, ...filter } = await deadLetterFilter(args, context);
  const found = deadLetters({ ...filter, all: args.all }, context);
  const without = await lacking(filter, context);
  if (args.json)
    await printDocument(
      found,
      { limit: limit ?? Number.POSITIVE_INFINITY, without },
      context,
      shell,
    );
  else await printTables(found, { ...filter, limit: limit ?? ROWS, without }, context, shell);
  return 0;
}

/** Written piece by piece, so that its size does not matter. `total` and `groups` cover all that match. */
async function printDocument(
  found: AsyncIterable<FoundDeadLetter>,
  { limit, without }: { limit: number; without: readonly LettersWithoutReport[] },
  { config }: OperatorContext,
  shell: Shell,
): Promise<void> {
  const groups: ErrorGroups = new Map();
  let total = 0;
  shell.out(`{"environment":${JSON.stringify(config.environment)},"deadLetters":[`);
  for await (const deadLetter of found) {
    addError(groups, deadLetter);
    total += 1;
    if (total <= limit)
      shell.out(`${total === 1 ? '' : ','}\n${escapeHiddenInJson(JSON.stringify(deadLetter))}`);
  }
  // A dead letter that waits in a newer batch is closed here.
  const kinds = byWeight(groups).map(
    ({
      orders,
      nameless: _nameless,
      articles: _articles,
      taken: _taken,
      takenRows: _rows,
      brought: _brought,
      waiting,
      closed,
      ...group
    }) => {
      const field = fieldOf({ orders });
      return { ...group, ...(field === '' ? {} : { field }), closed: closed + waiting };
    },
  );
  const more = without.length > 0 ? { withoutReport: without } : {};
  const end = JSON.stringify({ total, groups: kinds, ...more }).slice(1);
  shell.out(`${total === 0 ? '' : '\n'}],${escapeHiddenInJson(end)}\n`);
}

/** What the tables need of all dead letters that match. `open`: the orders to settle, `older`: how many are of earlier versions of an export. */
async function gather(
  found: AsyncIterable<FoundDeadLetter>,
  { limit, ...filter }: DeadLetterFilter & { limit: number },
  { config }: OperatorContext,
) {
  const groups: ErrorGroups = new Map();
  const [shown, mayRetry]: [FoundDeadLetter[], FoundDeadLetter[]] = [[], []];
  const [batches, open] = [new Set<string>(), new Set<string>()];
  const kinds = new Set<DeadLetterKind>();
  const isOlder = olderVersions(filter, config);
  const sent: SentOrder[] = [];
  let [total, older, isRepeated] = [0, 0, false];
  for await (const deadLetter of found) {
    total += 1;
    if (isOlder(deadLetter)) older += 1;
    else if (shown.length < limit) shown.push(deadLetter);
    addError(groups, deadLetter);
    if (deadLetter.closed === undefined) {
      if (RETRIED.has(deadLetter.kind) && mayRetry.length < JUDGED) mayRetry.push(deadLetter);
      open.add(deadLetter.purchaseOrderNumber || `${total}`);
    }
    if (deadLetter.sentAs !== undefined) {
      if (sent.length < SENT_KEPT)
        sent.push({ order: deadLetter.purchaseOrderNumber, sentAs: deadLetter.sentAs });
    } else if (deadLetter.closed === undefined) {
      // The fix file of orders in doubt has nothing to correct.
      if (deadLetter.kind !== 'inDoubt') batches.add(deadLetter.newerIn ?? deadLetter.batch);
      kinds.add(deadLetter.kind);
      isRepeated ||= deadLetter.newerIn !== undefined && !isOlder(deadLetter);
    }
  }
  return { groups, shown, mayRetry, batches, kinds, sent, total, open, older, isRepeated };
}

async function printTables(
  found: AsyncIterable<FoundDeadLetter>,
  {
    limit,
    without,
    ...filter
  }: DeadLetterFilter & { limit: number; without: readonly LettersWithoutReport[] },
  context: OperatorContext,
  shell: Shell,
): Promise<void> {
  const { shown, kinds, sent, total, ...all } = await gather(found, { ...filter, limit }, context);
  const format = formatOf(shell);
  const lost = without.map((one) => `${hanging(printable(withoutReportText(one)), 0, format)}\n`);
  if (total === 0 && lost.length > 0) return shell.out(lost.join('\n'));
  if (total === 0) {
    const isFiltered = filter.orders !== undefined || filter.signature !== undefined;
    shell.out(
      isFiltered ? `${printable(await noneText(filter, context))}\n` : 'No orders need a person.\n',
    );
    return;
  }
  shell.out(table(shown, columnsFor(shown), format));
  const more = total - shown.length - all.older;
  if (more > 0) shell.out(`… and ${counted(more, 'more dead letter')}; use --limit to see more.\n`);
  if (all.older > 0) shell.out(`${hanging(olderText(all.older), 0, format)}\n`);
  shell.out(`\n${format.paint('strong', `${counted(total, 'dead letter')}, grouped by error`)}\n`);
  shell.out(table(byWeight(all.groups), GROUP_COLUMNS, format));
  for (const text of lost) shell.out(`\n${text}`);
  const none = sent.length > 0 ? [] : ['All of them are closed.'];
  const retry = await retryTexts(all.mayRetry, all.open.size, context);
  const next =
    kinds.size > 0 ? [await nextText([...all.batches], { kinds, retry }, context)] : none;
  const parts = [
    ...(all.isRepeated ? [REPEATED] : []),
    ...next,
    ...(sent.length > 0 ? [sentAsSteps(sent).map(printable).join('\n')] : []),
  ];
  // Commands and paths can be copied.
  const broken = (line: string) => (line.startsWith(' ') ? line : hanging(line, 0, format));
  shell.out(`\n${parts.join('\n\n').split('\n').map(broken).join('\n')}\n`);
}

/** Which of several dead letters of an order is to be corrected, and what becomes of the others. */
const REPEATED =
  'An order marked "again in" needs a person in a newer batch, too. Correct or resolve it there only. When it is accepted under its number, the older dead letter closes with it; under another number, discard the older one.';

const RETRIED: ReadonlySet<DeadLetterKind> = new Set(['refused', 'failed']);

/** Maximum number of fix files shown. */
const FIX_FILES_SHOWN = 5;

/** What to do next: the fix files first, if there are any and something in them is to be corrected. */
async function nextText(
  all: readonly string[],
  open: Parameters<typeof otherWays>[1],
  { config, batches: { underWay } }: OperatorContext,
): Promise<string> {
  const { kinds } = open;
  const unfinished = (await underWay()).filter(({ batch }) => all.includes(batch));
  const batches = all.filter((name) => unfinished.every(({ batch }) => batch !== name));
  const found = await Promise.all(
    batches.slice(-FIX_FILES_SHOWN).map((batch) => fixFileOf(join(config.reports.path, batch))),
  );
  const files = found.filter((file) => file !== undefined);
  const later = unfinished
    .slice(0, FIX_FILES_SHOWN)
    .map(({ name, batch, held }) => printable(noFixFileYet(name, batch, held !== undefined)));
  if (files.length === 0)
    return [...later, ...(later.length > 0 ? [''] : []), otherWays('Select', open)].join('\n');
  const others = batches.length - Math.min(batches.length, FIX_FILES_SHOWN);
  const more =
    others > 0 ? [`  … and those of ${counted(others, 'other batch', 'other batches')}`] : [];
  const shown = [...files.map((file) => `  ${printable(file)}`), ...more, ...later];
  const place = `${intoInbox(config)}${kinds.has('inDoubt') ? ', without the orders in doubt' : ''}:`;
  const conflict = kinds.has('conflict') ? [...CONFLICT_STEPS, ''] : [];
  if ([...kinds].some((kind) => kind !== 'conflict' && kind !== 'inDoubt'))
    return [
      `Correct and drop ${place}`,
      ...shown,
      '',
      ...conflict,
      otherWays('Or select', open),
    ].join('\n');
  const doubt = kinds.has('inDoubt') ? ['', ...DOUBT_STEPS] : [];
  return [...conflict, `Or enter another number and drop ${place}`, ...shown, ...doubt].join('\n');
}

function noFixFileYet(file: string, batch: string, isHeld: boolean): string {
  if (!isHeld) return `${file} (batch ${batch.slice(-8)}) has its fix file after its last order.`;
  return `${file} is held: it has its fix file after you release or cancel it and after its last order. Run po-sync batches show ${batch.slice(-8)} first.`;
}

async function fixFileOf(folder: string): Promise<string | undefined> {
  const [name] = await fixFilesIn(folder);
  return name === undefined ? undefined : join(folder, name);
}

const DEAD_LETTER_COLUMNS: Column<FoundDeadLetter>[] = [
  {
    title: 'order',
    of: ({ purchaseOrderNumber }) => purchaseOrderNumber || '(none)',
    cut: 'end',
    wish: 12,
  },
  {
    title: 'kind',
    of: stateOf,
    tone: ({ closed, now }) => (closed ? 'quiet' : now ? 'doubtful' : 'bad'),
  },
  { title: 'batch', of: ({ batch }) => batch, cut: 'start', wish: 9, leaves: 2 },
  { title: 'line', of: (letter) => errorLine(letter) || '–', right: true, leaves: 3 },
  { title: 'last (UTC)', of: ({ lastAt }) => moment(lastAt).slice(0, 16), leaves: 1 },
  { title: 'what is wrong', of: reasonOf, cut: 'end', wish: 44 },
];

/** Where some are closed, with a column that says by what and whom, as the page Corrections does. */
function columnsFor(shown: readonly FoundDeadLetter[]): Column<FoundDeadLetter>[] {
  if (shown.every(({ closed }) => closed === undefined)) return DEAD_LETTER_COLUMNS;
  const settled: Column<FoundDeadLetter> = {
    title: 'settled',
    of: ({ closed }) => (closed === undefined ? '–' : closingText(closed)),
    cut: 'end',
    wish: 24,
    leaves: 4,
  };
  return DEAD_LETTER_COLUMNS.toSpliced(-1, 0, settled);
}

function stateOf({ kind, closed, now, newerIn, sentAs }: FoundDeadLetter): string {
  if (closed) return `${outcomeWord(kind)}, closed`;
  if (sentAs !== undefined) return `${outcomeWord(kind)}, sent as ${sentAs.number}`;
  if (newerIn !== undefined) return `${outcomeWord(kind)}, again in ${newerIn.slice(-8)}`;
  return now === undefined ? outcomeWord(kind) : `${outcomeWord(kind)}, now ${now}`;
}

/** That the order or row is known already comes first: a cancelled order that was sent is a task, and a known row has nothing to correct. */
function reasonOf({ message, problems = [] }: FoundDeadLetter): string {
  const isKnown = ({ code }: { code: string }) =>
    Number(code === NUMBER_KNOWN || code === ROW_KNOWN);
  const [first, ...more] = problems.toSorted((a, b) => isKnown(b) - isKnown(a));
  if (first === undefined) return message;
  return `${problemText(first)}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
}

const GROUP_COLUMNS: Column<ErrorGroup>[] = [
  { title: 'orders', of: (group) => count(group.count), right: true },
  { title: 'kind', of: ({ kind }) => outcomeWord(kind), leaves: 4 },
  { title: 'signature', of: ({ signature }) => signature || '–' },
  { title: 'first (UTC)', of: ({ firstAt }) => moment(firstAt).slice(0, 16), leaves: 1 },
  { title: 'last (UTC)', of: ({ lastAt }) => moment(lastAt).slice(0, 16), leaves: 2 },
  {
    title: 'for example',
    of: (group) => problemText({ field: fieldOf(group), message: group.message }),
    cut: 'end',
    wish: 24,
    leaves: 3,
  },
];
