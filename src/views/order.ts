import { counted, outcomeWord } from '../core/format.ts';
import type { PastAttempt } from '../ledger/entry.ts';
import { attemptsOf } from '../ledger/operator-actions.ts';
import { type Appearance, handedIn, lineText } from '../operate/orders/appearances.ts';
import {
  isWaiting,
  lastOutcome,
  type OpenOrder,
  type OrderHistory,
  otherActions,
} from '../operate/orders/explain-order.ts';
import type { Closed, DeadLetter } from '../order/dead-letter.ts';
import { byArticle, type Item, itemsIn, type Order } from '../order/order.ts';
import { asText } from '../order/sentence.ts';
import { actionText, answerLines, closingText } from '../wording/closing.ts';
import { problemText } from '../wording/problem.ts';
import { nextStep, twiceOf } from './next-step.ts';
import type { HistoryEvent, Tone, View } from './view.ts';

/** An order's history: its state, its content, what happened when, and what to do. */
export function orderView(history: OrderHistory, place: Parameters<typeof nextStep>[1]): View {
  const [tone, text] = stateOf(history);
  const contents = [
    ...twiceOf(history).map((one) => [{ text: one, tone: 'bad' as const }]),
    ...itemTexts(history.state === 'conflict' ? byArticle(itemsOf(history)) : itemsOf(history)),
  ];
  return {
    title: history.order,
    state: { text, tone },
    blocks: [
      { kind: 'list', texts: contents },
      { kind: 'timeline', events: eventsOf(history) },
      { kind: 'steps', lines: nextStep(history, place) },
    ],
  };
}

function stateOf(history: OrderHistory): [Tone, string] {
  const { state, accepted, open, appearances } = history;
  switch (state) {
    case 'accepted':
      return [
        'good',
        accepted?.batch === undefined ? "accepted: the API's list shows it" : 'accepted',
      ];
    case 'nothing':
      return [appearances.some(isWaiting) ? 'bad' : 'plain', lastOutcome(history)];
    case 'queued':
    case 'retry':
      return open?.isHeld ? ['bad', 'its batch is held'] : ['plain', 'waits to be sent'];
    case 'sending':
      return ['plain', 'is being sent'];
    case 'unknown':
      return ['doubtful', "may have been sent; being verified with the API's list"];
    case 'conflict':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return ['bad', `${outcomeWord(state)}, waits for a person`];
  }
}

/** Its items, as far as they are known here: the file of one that was accepted has them. */
function itemsOf({ state, open, appearances }: OrderHistory): readonly Item[] {
  const last = appearances.findLast((one) => state === 'nothing' || isWaiting(one));
  return open?.content.items ?? itemsIn(last?.deadLetter?.payload);
}

/** In chronological order; simultaneous events are in the sequence in which they happen to an order. */
function eventsOf(history: OrderHistory): HistoryEvent[] {
  const { accepted, open, appearances } = history;
  const isReported = (batch: string | undefined) => appearances.some((one) => one.batch === batch);
  const all: HistoryEvent[] = [
    ...otherActions(history).map((action) => ({ at: action.at, text: actionText(action) })),
    ...appearances.map(takenEvent),
    ...(open === undefined || isReported(open.batch) ? [] : [openEvent(open)]),
    ...attemptsOf(history).map(attemptEvent),
    ...(open === undefined ? [] : endOfAttempts(open, history)),
    ...appearances.flatMap(outcomeEvents),
    ...(accepted === undefined || isReported(accepted.batch) ? [] : [acceptedEvent(accepted)]),
  ];
  // Each file with a dead letter of the order shows the same closing, and the one that came back what was changed.
  const isRepeated = ({ at, text, more }: HistoryEvent, index: number) =>
    !more && all.some((one, i) => one.at === at && one.text === text && (i < index || one.more));
  return all.filter((one, index) => !isRepeated(one, index)).sort((a, b) => a.at - b.at);
}

function openEvent({ file, line, batch, takenAt, by }: OpenOrder): HistoryEvent {
  const text = `in ${file ?? 'a file'}, line ${line}, batch ${batch}${handedIn(by)}`;
  return { at: takenAt, text, link: linkTo(batch) };
}

function takenEvent(appearance: Appearance): HistoryEvent {
  const { batch, source, file, startedAt, by } = appearance;
  return {
    at: Date.parse(startedAt),
    text: `in ${file} (source ${source})${lineText(appearance)}, batch ${batch}${handedIn(by)}`,
    link: linkTo(batch),
  };
}

function outcomeEvents({ startedAt, file, result, deadLetter }: Appearance): HistoryEvent[] {
  const { outcome, attempts, message } = result;
  const [at, takenAt] = [Date.parse(result.at), Date.parse(startedAt)];
  // The message of an unclear answer names its attempt.
  const isNamed = attempts === 0 || result.code === 'listed';
  const times = isNamed ? '' : ` after ${counted(attempts, 'attempt')}`;
  const said = asText(message);
  const reason = said === '' || deadLetter?.problems ? '' : `: ${said}`;
  const more = deadLetter && { more: detailsOf(deadLetter, attempts) };
  // A dead letter of a file in progress has no page: its rows are known with the report.
  const link = deadLetter &&
    result.line > 0 && {
      link: {
        text: isWaiting({ deadLetter }) ? 'correct or settle it' : 'details',
        about: { letter: deadLetter.id },
      },
    };
  const text = `${outcomeWord(outcome)}${times}${reason}`;
  // The file repeats an order that had this outcome before it came.
  const event =
    deadLetter && at < takenAt
      ? { at: takenAt, text: `not sent: already ${text}`, ...link }
      : { at, text, ...more, ...link };
  return [event, ...(deadLetter?.closed ? [closedEvent(deadLetter.closed, file)] : [])];
}

/** `ofAttempt`: the dead letter has the last answer, which may be that of a later attempt. */
function detailsOf(
  { problems = [], payload, known, ...letter }: DeadLetter,
  ofAttempt: number,
): string[] {
  const answer = letter.attempts === ofAttempt ? answerLines(letter) : [];
  const wrong = problems.map((one) => {
    const { line, field, value } = one;
    if (value === '') return `line ${line}${field === '' ? ':' : ','} ${asText(problemText(one))}`;
    return `line ${line}, ${field}${field && ' '}"${value}": ${asText(problemText({ ...one, field: '' }))}`;
  });
  const contents = known
    ? [`in this file:  ${itemsText(payload)}`, `already known: ${itemsText(known)}`]
    : [];
  return [...wrong, ...answer, ...contents];
}

/** `3 × ART-7, 1 × ART-8`. `content` is an order that a report of ours contains. */
function itemsText(content: unknown): string {
  const { items = [] } = (content ?? {}) as Partial<Order>;
  return itemTexts(byArticle(items)).join(', ');
}

function closedEvent(closed: Closed, file: string): HistoryEvent {
  return {
    at: Date.parse(closed.at),
    text: `its dead letter of ${file} was closed: ${closingText(closed)}`,
  };
}

function attemptEvent({ attempt, at, message, httpStatus }: PastAttempt): HistoryEvent {
  return {
    at,
    text: `attempt ${attempt}: ${message}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}`,
  };
}

/** How an order ended that a person had sent again: its report has only the first outcome. */
function endOfAttempts(
  { attempts, history, answer }: OpenOrder,
  { state, appearances }: OrderHistory,
): HistoryEvent[] {
  const last = history.at(-1);
  const isReported = appearances.some(({ result }) => result.attempts === attempts);
  if (last === undefined || isReported || (state !== 'refused' && state !== 'failed')) return [];
  const text = `${outcomeWord(state)} after ${counted(attempts, 'attempt')}: ${last.message}`;
  return [{ at: last.at, text, more: answerLines(answer ?? {}) }];
}

function acceptedEvent({
  at,
  attempts,
  batch,
  by,
}: NonNullable<OrderHistory['accepted']>): HistoryEvent {
  if (batch === undefined) return { at, text: "found in the API's list" };
  const times = counted(attempts, 'attempt');
  return { at, text: `accepted by the API after ${times}, batch ${batch}${handedIn(by)}` };
}

const linkTo = (batch: string) => ({ text: 'the file', about: { batch } });

const ITEMS_SHOWN = 20;

/** `3 × ART-7` for each item. */
function itemTexts(items: readonly Item[]): string[] {
  const shown = items
    .slice(0, ITEMS_SHOWN)
    .map(({ articleCode, quantity }) => `${quantity} × ${articleCode}`);
  const more = items.length - shown.length;
  return more > 0 ? [...shown, `… and ${more} more`] : shown;
}
