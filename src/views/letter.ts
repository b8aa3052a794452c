import { count, moment, outcomeWord } from '../core/format.ts';
import { reasonOf } from '../operate/lists/letter-row.ts';
import { errorLine, type LetterRow } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import { byArticle, type Item, itemsIn } from '../order/order.ts';
import type { Problem } from '../order/problem.ts';
import { asText } from '../order/sentence.ts';
import { asShown } from '../order/text.ts';
import type { FoundDeadLetter } from '../put-away/dead-letters-in-progress.ts';
import type { ErrorGroup } from '../report/story.ts';
import { closingText } from '../wording/closing.ts';
import { NUMBER_TAKEN, problemText } from '../wording/problem.ts';
import { type Block, type Column, section, type Text, tableOf, type View } from './view.ts';

/** A dead letter of a list. `line`: of its first problem. `items`: what it is told apart by, as text. */
export type ListedLetter = Pick<
  FoundDeadLetter,
  'id' | 'purchaseOrderNumber' | 'kind' | 'message' | 'batch' | 'file' | 'lastAt' | 'closed' | 'now'
> & { line: number; items?: string };

/** Dead letters, one a row; where some are closed, with by what and whom. */
export function letterTable(letters: readonly ListedLetter[]): Block {
  const settled: Column<ListedLetter> = {
    title: 'settled',
    of: ({ closed }) => (closed === undefined ? '–' : closingText(closed)),
    cut: 'end',
    wish: 24,
    leaves: 5,
  };
  return tableOf<ListedLetter>(letters, [
    {
      title: 'order',
      of: ({ id, purchaseOrderNumber: number }) => [
        { text: number || '(none)', about: { letter: id } },
      ],
      cut: 'end',
      wish: 12,
    },
    {
      title: 'kind',
      of: (letter) => [
        {
          text: stateOf(letter),
          tone: letter.closed ? 'quiet' : letter.now ? 'doubtful' : 'bad',
        },
      ],
    },
    { title: 'batch', of: ({ batch }) => batch, cut: 'start', wish: 9, leaves: 3 },
    {
      title: 'file',
      of: ({ file, batch }) => [{ text: file, about: { batch } }],
      cut: 'end',
      wish: 10,
      leaves: 1,
    },
    { title: 'line', of: ({ line }) => (line === 0 ? '–' : count(line)), right: true, leaves: 4 },
    { title: 'last', of: ({ lastAt }) => moment(lastAt), leaves: 2 },
    ...(letters.some(({ closed }) => closed) ? [settled] : []),
    {
      title: 'what is wrong',
      of: ({ message, items = '' }) => `${asText(message)}${items && ` (${items})`}`,
      cut: 'end',
      wish: 44,
    },
  ]);
}

type ShownGroup = Pick<
  ErrorGroup,
  'kind' | 'signature' | 'message' | 'count' | 'firstAt' | 'lastAt'
>;

/** Dead letters by kind and error, one a row. */
export function groupTable(groups: readonly ShownGroup[]): Block {
  return tableOf(groups, [
    {
      title: 'orders',
      of: ({ count: all, kind, signature }) => [
        { text: count(all), about: { letters: { kind, signature } } },
      ],
      right: true,
    },
    { title: 'kind', of: ({ kind }) => outcomeWord(kind), leaves: 4 },
    { title: 'signature', of: ({ signature }) => signature || '–' },
    { title: 'first', of: ({ firstAt }) => moment(firstAt), leaves: 1 },
    { title: 'last', of: ({ lastAt }) => moment(lastAt), leaves: 2 },
    { title: 'for example', of: ({ message }) => asText(message), cut: 'end', wish: 24, leaves: 3 },
  ]);
}

/** One dead letter: where it is from, what is wrong, and its rows where they are asked for. */
export function letterView(letter: FoundDeadLetter): View {
  const { purchaseOrderNumber: number, kind, problems = [], rows = [], closed, known } = letter;
  const names = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
  return {
    title: number || '(none)',
    state: { text: stateOf(letter), tone: closed ? 'quiet' : 'bad' },
    blocks: [
      { kind: 'facts', facts: factsOf(letter, outcomeWord(kind)) },
      section(
        'What is wrong',
        tableOf<Problem>(problems, [
          { title: 'line', of: ({ line }) => count(line), right: true },
          { title: 'column', of: ({ field }) => field },
          { title: 'value', of: ({ value }) => asShown(value), cut: 'end' },
          {
            title: 'problem',
            of: (one) => asText(problemText({ ...one, field: '' })),
            cut: 'end',
            wish: 44,
          },
        ]),
      ),
      section('Items', itemTable(itemsIn(letter.payload))),
      section('Items that are already known', itemTable(known?.items ?? [])),
      { kind: 'steps', lines: known === undefined || closed ? [] : [NUMBER_TAKEN] },
      section(
        'Rows',
        tableOf<LetterRow>(rows, [
          { title: 'row', of: ({ row }) => count(row), right: true },
          { title: 'line', of: ({ line }) => count(line), right: true },
          ...names.map((title): Column<LetterRow> => {
            return { title, of: ({ cells }) => cells[title] ?? '', cut: 'end' };
          }),
        ]),
      ),
    ],
  };
}

const MOST_ITEMS = 200;

/** Sorted, so that both contents of a conflict can be compared. */
const itemTable = (items: readonly Item[]): Block =>
  tableOf<Item>(byArticle(items).slice(0, MOST_ITEMS), [
    { title: 'article', of: ({ articleCode }) => articleCode },
    { title: 'quantity', of: ({ quantity }) => String(quantity), right: true },
  ]);

function factsOf(letter: FoundDeadLetter, kind: string) {
  const { purchaseOrderNumber: number, message, problems = [], httpStatus, response } = letter;
  const { batch, file, source, location } = letter;
  const facts: [name: string, text: Text | undefined][] = [
    ['kind', kind],
    // The table of problems follows.
    ['message', problems.length === 0 ? asText(message) : undefined],
    ['API', httpStatus === undefined ? undefined : `HTTP ${httpStatus} ${response ?? ''}`],
    ['attempts', count(letter.attempts)],
    ['file', [{ text: file, about: { batch } }, `, ${placeText(location)} (source ${source})`]],
    ['last', moment(letter.lastAt)],
    ['order', number === '' ? undefined : [{ text: number, about: { order: number } }]],
  ];
  return facts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/** What an order that needs a person is now. */
function stateOf({ kind, closed, now }: Pick<ListedLetter, 'kind' | 'closed' | 'now'>): string {
  if (closed) return `${outcomeWord(kind)}, closed`;
  return now === undefined ? outcomeWord(kind) : `${outcomeWord(kind)}, now ${now}`;
}

/** A dead letter as a list shows it. */
export function listed(letter: FoundDeadLetter): ListedLetter {
  return { ...letter, message: reasonOf(letter), line: errorLine(letter) };
}
