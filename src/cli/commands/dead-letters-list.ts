import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { count, counted } from '../../core/format.ts';
import { isGone } from '../../core/regular-file.ts';
import { FIX_WORKBOOK } from '../../correct/fix-workbook.ts';
import { withoutReportText } from '../../operate/batches/open-dead-letters.ts';
import { noneText } from '../../operate/dead-letters/dead-letters.ts';
import { judgeRetries } from '../../operate/dead-letters/retry-dead-letters.ts';
import type { OperatorContext } from '../../operate/operator-context.ts';
import { type FilterInput, readFilter } from '../../operations/dead-letter-filter.ts';
import type { Listed, Shown } from '../../operations/run-dead-letters.ts';
import { canBeOfSource } from '../../order/batch.ts';
import type { LetterRow } from '../../order/dead-letter.ts';
import { intoInbox } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { byWeight } from '../../report/story.ts';
import { groupTable, letterTable, listed, reasonOf, stateOf } from '../../views/letter.ts';
import { CONFLICT_STEPS, DOUBT_STEPS, otherWays } from '../../views/next-step.ts';
import { type Format, hanging, printable } from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';
import { blockText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

/** Rows of the table without `--limit`. */
const ROWS = 50;

/** What the tables need of the dead letters. `open`: the orders to settle, `older`: how many are of earlier versions of an export. */
function gather(letters: readonly FoundDeadLetter[], input: FilterInput, { sources }: Config) {
  const exports = new Set(sources.flatMap(({ name, type }) => (type === 'export' ? [name] : [])));
  const isComplete = input.batch === undefined && input.signature === undefined;
  const isOlder = ({ closed, newerIn, source }: FoundDeadLetter): boolean =>
    isComplete &&
    !closed &&
    newerIn !== undefined &&
    exports.has(source) &&
    canBeOfSource(newerIn, source);
  const open = letters.filter(({ closed }) => closed === undefined);
  // The fix file of orders in doubt has nothing to correct.
  const toCorrect = open.filter(({ kind }) => kind !== 'inDoubt');
  const shown = letters.filter((letter) => !isOlder(letter));
  return {
    shown: shown.slice(0, input.limit ?? ROWS),
    older: letters.length - shown.length,
    open: new Set(open.map(({ purchaseOrderNumber }, i) => purchaseOrderNumber || i)).size,
    mayRetry: open.filter(({ kind }) => RETRIED.has(kind)),
    batches: [...new Set(toCorrect.map(({ newerIn, batch }) => newerIn ?? batch))],
    kinds: new Set(open.map(({ kind }) => kind)),
    isRepeated: open.some((letter) => letter.newerIn !== undefined && !isOlder(letter)),
  };
}

/** Dead letters, one a line, then grouped by error. An order has one in each file in which it needs a person. */
export const listView: View<FilterInput & { all: boolean }, Listed> = {
  async text({ letters, groups, total, without }, { input, context, format }) {
    const all = gather(letters, input, context.config);
    const lost = without.map((one) => `${hanging(printable(withoutReportText(one)), 0, format)}\n`);
    if (total === 0 && lost.length > 0) return lost.join('\n');
    if (total === 0) {
      if (!input.order && !input.signature) return 'No orders need a person.\n';
      return `${printable(await noneText(await readFilter(input, context), context))}\n`;
    }
    const more = total - all.shown.length - all.older;
    return [
      blockText(letterTable(all.shown.map(listed)), format),
      more > 0 ? `… and ${counted(more, 'more dead letter')}; use --limit to see more.\n` : '',
      all.older > 0 ? `${hanging(olderText(all.older), 0, format)}\n` : '',
      `\n${format.paint('strong', `${counted(total, 'dead letter')}, grouped by error`)}\n`,
      blockText(groupTable(byWeight(groups)), format),
      ...lost.map((text) => `\n${text}`),
      await stepsText(all, context, format),
    ].join('');
  },
};

/** What a person can do next. */
async function stepsText(
  all: ReturnType<typeof gather>,
  context: OperatorContext,
  format: Format,
): Promise<string> {
  const { kinds } = all;
  const retry = await retryTexts(all.mayRetry, all.open, context);
  const parts = [
    ...(all.isRepeated ? [REPEATED] : []),
    ...(kinds.size > 0
      ? [await nextText(all.batches, { kinds, retry }, context)]
      : ['All of them are closed.']),
  ];
  // Commands and paths can be copied.
  const broken = (line: string) => (line.startsWith(' ') ? line : hanging(line, 0, format));
  return `\n${parts.join('\n\n').split('\n').map(broken).join('\n')}\n`;
}

function olderText(older: number): string {
  const what = older === 1 ? '1 older dead letter' : `${count(older)} older dead letters`;
  return `${what} of these orders, in earlier versions of an export, ${older === 1 ? 'is' : 'are'} not shown: commands with --order include them, and --json lists them.`;
}

/** One dead letter with its rows. */
export const showView: View<object, Shown> = {
  text(letter, { format }) {
    const { purchaseOrderNumber: number, batch, file, rows } = letter;
    const names = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
    const columns: Column<LetterRow>[] = [
      { title: 'row', of: ({ row }) => row, right: true },
      { title: 'line', of: ({ line }) => line, right: true },
      ...names.map(
        (name): Column<LetterRow> => ({
          title: name,
          of: ({ cells }) => cells[name] ?? '',
          cut: 'end',
        }),
      ),
    ];
    const lines = [
      `${format.paint('strong', printable(number || '(none)'))}  ${stateOf(letter)}`,
      hanging(`  ${printable(reasonOf(letter))}`, 2, format),
      `  in ${printable(file)}, batch ${batch}`,
    ];
    return `${lines.join('\n')}\n${rows.length > 0 ? `\n${table(rows, columns, format)}` : ''}`;
  },
};

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
  const file = join(folder, FIX_WORKBOOK);
  return (await isGone(file)) ? undefined : file;
}

/** Dead letters of which the list asks whether a retry would send their order. */
const JUDGED = 1_000;

/** What a retry would do; nothing where it would send none of the `open` orders. */
async function retryTexts(
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
