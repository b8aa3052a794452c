import { join } from 'node:path';
import { count, counted, moment, outcomeWord } from '../../core/format.ts';
import { deadLetters } from '../../operate/dead-letters.ts';
import type { FoundDeadLetter } from '../../operate/found-dead-letter.ts';
import { escapeHiddenInJson } from '../../order/hidden-characters.ts';
import { fixFileIn } from '../../report/beside.ts';
import { addError, byWeight, type ErrorGroup, type ErrorGroups } from '../../report/error-groups.ts';
import { type DeadLetterArgs, deadLetterFilter } from '../dead-letter-filter.ts';
import { type OperatorContext, openOperatorContext } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { type Column, table } from '../terminal/table.ts';

/** `dead-letters list`: what needs a person, one order a line, and then by kind of error. */
export async function deadLettersListCommand(
  args: DeadLetterArgs & { all: boolean; limit: number },
  shell: Shell,
): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const found = deadLetters({ ...deadLetterFilter(args, context.clock), all: args.all }, context);
  if (args.json) await printDocument(found, context, shell);
  else await printTables(found, args.limit, context, shell);
  return 0;
}

/** Piece by piece, so that its size does not matter. */
async function printDocument(
  deadLetters: AsyncIterable<FoundDeadLetter>,
  context: OperatorContext,
  shell: Shell,
): Promise<void> {
  const groups: ErrorGroups = new Map();
  let first = true;
  shell.out(`{"environment":${JSON.stringify(context.environment)},"deadLetters":[`);
  for await (const deadLetter of deadLetters) {
    addError(groups, deadLetter);
    shell.out(`${first ? '' : ','}\n${escapeHiddenInJson(JSON.stringify(deadLetter))}`);
    first = false;
  }
  const kinds = byWeight(groups).map(({ orders: _orders, ...group }) => group);
  shell.out(`${first ? '' : '\n'}],"groups":${escapeHiddenInJson(JSON.stringify(kinds))}}\n`);
}

async function printTables(
  deadLetters: AsyncIterable<FoundDeadLetter>,
  limit: number,
  { reports }: OperatorContext,
  shell: Shell,
): Promise<void> {
  const groups: ErrorGroups = new Map();
  const shown: FoundDeadLetter[] = [];
  const batches = new Set<string>();
  let total = 0;
  for await (const deadLetter of deadLetters) {
    total += 1;
    if (deadLetter.closed === undefined) batches.add(deadLetter.batch);
    addError(groups, deadLetter);
    if (shown.length < limit) shown.push(deadLetter);
  }
  if (total === 0) {
    shell.out('No order waits for a person here.\n');
    return;
  }
  const format = { paint: createPaint(shell), columns: shell.isTTY ? shell.columns : undefined };
  shell.out(table(shown, LETTER_COLUMNS, format));
  if (total > shown.length) shell.out(`… and ${counted(total - shown.length, 'order')} more; --limit shows more.\n`);
  shell.out(`\n${format.paint('strong', `${counted(total, 'order')}, by kind of error`)}\n`);
  shell.out(table(byWeight(groups), GROUP_COLUMNS, format));
  shell.out(`\n${await nextText([...batches], reports)}\n`);
}

/** What a person does now: the fix files first, as they are there. */
async function nextText(batches: readonly string[], reports: string): Promise<string> {
  const found = await Promise.all(batches.slice(-FIX_FILES_SHOWN).map((batch) => fixFileOf(join(reports, batch))));
  const files = found.filter((file) => file !== undefined);
  if (files.length === 0) return OR_ELSE;
  const more =
    batches.length > files.length
      ? [`  … and those of ${counted(batches.length - files.length, 'other batch', 'other batches')}`]
      : [];
  return ['Mend and drop into the inbox:', ...files.map((file) => `  ${printable(file)}`), ...more, OR_ELSE].join('\n');
}

const FIX_FILES_SHOWN = 5;

async function fixFileOf(folder: string): Promise<string | undefined> {
  const name = await fixFileIn(folder);
  return name === undefined ? undefined : join(folder, name);
}

const OR_ELSE = [
  'Or name some by --batch, --kind, --signature, --order:',
  '  po-sync dead-letters retry     send them again as they are',
  '  po-sync dead-letters discard   give them up',
  '  po-sync dead-letters resolve ORDER --as accepted|resend   settle one in doubt',
].join('\n');

const LETTER_COLUMNS: Column<FoundDeadLetter>[] = [
  { title: 'order', of: ({ purchaseOrderNumber }) => purchaseOrderNumber || '(none)', cut: 'end', wish: 12 },
  { title: 'kind', of: stateOf, tone: ({ closed, now }) => (closed ? 'quiet' : now ? 'doubtful' : 'bad') },
  { title: 'batch', of: ({ batch }) => batch, cut: 'start', wish: 9, leaves: 2 },
  { title: 'line', of: ({ location }) => location.line || '–', right: true, leaves: 3 },
  { title: 'last (UTC)', of: ({ lastAt }) => moment(lastAt).slice(0, 16), leaves: 1 },
  { title: 'what is wrong', of: reasonOf, cut: 'end', wish: 36 },
];

function stateOf({ kind, closed, now }: FoundDeadLetter): string {
  if (closed) return `${outcomeWord(kind)}, closed`;
  return now === undefined ? outcomeWord(kind) : `${outcomeWord(kind)}, now ${now}`;
}

function reasonOf({ message, problems = [] }: FoundDeadLetter): string {
  const [first, ...more] = problems;
  if (first === undefined) return message;
  const field = first.field === '' ? '' : `${first.field}: `;
  return `${field}${first.message}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
}

const GROUP_COLUMNS: Column<ErrorGroup>[] = [
  { title: 'orders', of: (group) => count(group.count), right: true },
  { title: 'kind', of: ({ kind }) => outcomeWord(kind), leaves: 4 },
  { title: 'signature', of: ({ signature }) => signature || '–' },
  { title: 'first (UTC)', of: ({ firstAt }) => moment(firstAt).slice(0, 16), leaves: 1 },
  { title: 'last (UTC)', of: ({ lastAt }) => moment(lastAt).slice(0, 16), leaves: 2 },
  { title: 'for example', of: ({ message }) => message, cut: 'end', wish: 24, leaves: 3 },
];
