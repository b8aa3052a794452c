import { join } from 'node:path';
import { counted, outcomeWord, stamp } from '../../core/format.ts';
import type { PastAttempt } from '../../ledger/entry.ts';
import { type Appearance, handedIn } from '../../operate/orders/appearances.ts';
import {
  actionText,
  explainOrder,
  historyJson,
  isWaiting,
  lastOutcome,
  type OpenOrder,
  type OrderHistory,
  otherActions,
  usedLines,
} from '../../operate/orders/explain-order.ts';
import { untilText, waitText } from '../../operate/orders/wait-of.ts';
import { changeTexts } from '../../order/closing-text.ts';
import type { Closed, DeadLetter, End } from '../../order/dead-letter.ts';
import type { Order } from '../../order/order.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { createPaint, type Paint, printable, printJson, type Tone } from '../terminal/print.ts';

/** `explain ORDER`: the complete history of an order number. Throws PoSyncError `order-unknown`. */
export async function explainCommand(args: CommonArgs & { order: string }, shell: Shell): Promise<number> {
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const history = await explainOrder(args.order, context);
  const now = context.store.time.now();
  if (args.json) printJson(shell, historyJson(history));
  else shell.out(orderHistoryText(history, { now, reports: context.config.reports.path, paint: createPaint(shell) }));
  return 0;
}

type TextSetting = { now: number; reports: string; paint: Paint };
type HistoryEvent = { at: number; text: string; more?: string[] };

/** An order's history for people: its state, its content, what happened when, and what to do. */
export function orderHistoryText(history: OrderHistory, { now, reports, paint }: TextSetting): string {
  const [tone, state] = stateOf(history);
  const lines = eventsOf(history).flatMap(({ at, text, more = [] }) => [
    `  ${stamp(at)}  ${printable(text)}`,
    ...more.map((line) => `${' '.repeat(27)}${printable(line)}`),
  ]);
  const parts = [
    `${paint('strong', printable(history.order))}  ${paint(tone, state)}`,
    ...contentOf(history),
    '',
    ...lines,
  ];
  const next = nextStep(history, reports, now);
  return `${[...parts, ...(next.length === 0 ? [] : ['', ...next.map(printable)])].join('\n')}\n`;
}

function stateOf({ state, accepted, open, appearances }: OrderHistory): [Tone, string] {
  switch (state) {
    case 'accepted':
      return ['good', accepted?.batch === undefined ? 'accepted: the API already had it' : 'accepted'];
    case 'nothing':
      return [appearances.some(isWaiting) ? 'bad' : 'plain', lastOutcome(appearances)];
    case 'queued':
    case 'retry':
      return open?.heldBecause === undefined ? ['plain', 'waits to be sent'] : ['bad', 'its batch is held'];
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

/** Maximum number of items shown. */
const ITEMS_SHOWN = 20;

function contentOf({ open }: OrderHistory): string[] {
  return open === undefined ? [] : itemTexts(open.content.items).map((text) => `  ${printable(text)}`);
}

function itemTexts(items: Order['items']): string[] {
  const shown = items.slice(0, ITEMS_SHOWN).map(({ articleCode, quantity }) => `${quantity} × ${articleCode}`);
  return items.length > shown.length ? [...shown, `… and ${items.length - shown.length} more`] : shown;
}

/** In chronological order; simultaneous events are in the sequence in which they happen to an order. */
function eventsOf(history: OrderHistory): HistoryEvent[] {
  const { accepted, open, appearances } = history;
  const isReported = (batch: string | undefined) => appearances.some((one) => one.batch === batch);
  const all: HistoryEvent[] = [
    ...appearances.map(takenEvent),
    ...(open === undefined || isReported(open.batch) ? [] : [openEvent(open)]),
    ...(open === undefined ? [] : open.history.map(attemptEvent)),
    ...appearances.flatMap(outcomeEvents),
    ...(accepted === undefined || isReported(accepted.batch) ? [] : [acceptedEvent(accepted)]),
    ...otherActions(history).map((action) => ({ at: action.at, text: actionText(action) })),
  ];
  // Each file with a dead letter of the order shows the same closing, and the one that came back what was changed.
  const isRepeated = ({ at, text, more }: HistoryEvent, index: number) =>
    !more && all.some((one, i) => one.at === at && one.text === text && (i < index || one.more));
  return all.filter((one, index) => !isRepeated(one, index)).sort((a, b) => a.at - b.at);
}

function openEvent({ file, line, batch, takenAt, by }: OpenOrder): HistoryEvent {
  return { at: takenAt, text: `in ${file ?? 'a file'}, line ${line}, batch ${batch}${handedIn(by)}` };
}

function takenEvent({ batch, source, file, startedAt, by, result, deadLetter }: Appearance): HistoryEvent {
  const lines = deadLetter?.location.lines;
  const where = lines === undefined ? `line ${result.line}` : `lines ${lines.join(', ')}`;
  return { at: Date.parse(startedAt), text: `in ${file} (source ${source}), ${where}, batch ${batch}${handedIn(by)}` };
}

function outcomeEvents({ result, deadLetter }: Appearance): HistoryEvent[] {
  const { outcome, attempts, at, message } = result;
  // The message of an unclear answer names its attempt.
  const times = attempts > 0 && !message.startsWith('attempt ') ? ` after ${counted(attempts, 'attempt')}` : '';
  const reason = message === '' || deadLetter?.problems ? '' : `: ${message}`;
  const more = deadLetter ? { more: detailsOf(deadLetter) } : {};
  return [
    { at: Date.parse(at), text: `${outcomeWord(outcome)}${times}${reason}`, ...more },
    ...(deadLetter?.closed ? [closedEvent(deadLetter.closed)] : []),
  ];
}

function detailsOf({ problems = [], httpStatus, response, payload, known }: DeadLetter): string[] {
  const answer = httpStatus === undefined ? [] : [`HTTP ${httpStatus}${response === undefined ? '' : ` ${response}`}`];
  const wrong = problems.map(({ line, field, value, message }) => {
    const cell = [field, value === '' ? '' : `"${value}"`].filter((part) => part !== '').join(' ');
    return `line ${line}${cell === '' ? '' : `, ${cell}`}: ${message}`;
  });
  const contents =
    known === undefined ? [] : [`in this file:  ${itemsText(payload)}`, `already known: ${itemsText(known)}`];
  return [...wrong, ...answer, ...contents];
}

/** `3 × ART-7, 1 × ART-8`. `content` is an order that a report of ours contains. */
function itemsText(content: unknown): string {
  const { items = [] } = (content ?? {}) as Partial<Order>;
  return itemTexts(items).join(', ');
}

function closedEvent({ at, waitsIn, number = '', changes, end, ...closed }: Closed): HistoryEvent {
  const more = changeTexts(changes);
  const list = more.length === 0 ? {} : { more };
  const text =
    waitsIn !== undefined
      ? `its rows came back and still wait in batch ${waitsIn}`
      : `its dead letter was closed: ${endText(closed)}${number === '' ? '' : ` as ${number}`}${end === undefined ? '' : `; then ${endText(end)}`}`;
  return { at: Date.parse(at), text, ...list };
}

function endText({ by, who, batch }: Omit<End, 'at'>): string {
  return `${by}${who === undefined ? '' : ` by ${who}`}${batch === undefined ? '' : `, batch ${batch}`}`;
}

function attemptEvent({ attempt, at, message, httpStatus }: PastAttempt): HistoryEvent {
  return { at, text: `attempt ${attempt}: ${message}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}` };
}

function acceptedEvent({ at, attempts, batch, by }: NonNullable<OrderHistory['accepted']>): HistoryEvent {
  if (batch === undefined) return { at, text: "found in the API's list; po-sync had not sent it" };
  const again = attempts > 1 ? ` on attempt ${attempts}` : '';
  return { at, text: `accepted by the API${again}, batch ${batch}${handedIn(by)}` };
}

function nextStep({ order, state, open, appearances }: OrderHistory, reports: string, now: number): string[] {
  switch (state) {
    case 'accepted': {
      // The order is settled, but a file with other content for its number is not.
      const waiting = appearances.find(isWaiting);
      if (waiting === undefined) return [];
      return [
        `Other content with this number waits. Correct the fix file in ${join(reports, waiting.batch)}`,
        'and drop it into the inbox, or discard that content:',
        `  po-sync dead-letters discard --order ${order}`,
      ];
    }
    case 'sending':
    case 'queued':
    case 'retry':
    case 'unknown':
      return open === undefined ? [] : [...usedLines(open, state), ...waitLines(open, now)];
    case 'refused':
      return [
        `Correct the fix file in ${join(reports, open?.batch ?? '')}`,
        'and drop it into the inbox, or send the order again unchanged:',
        `  po-sync dead-letters retry --order ${order}`,
      ];
    case 'failed':
      return [
        ...(open === undefined ? [] : usedLines(open, state)),
        'When the API works again, send the order again:',
        `  po-sync dead-letters retry --order ${order}`,
      ];
    case 'conflict':
      return [
        'The API has this number with different items. Give the order a new number in the fix file, or discard it:',
        `  po-sync dead-letters discard --order ${order}`,
      ];
    case 'inDoubt':
      return [
        'Check whether the API has the order, then resolve it:',
        `  po-sync dead-letters resolve ${order} --as accepted    the API has it`,
        `  po-sync dead-letters resolve ${order} --as resend      the API does not have it`,
      ];
    case 'nothing': {
      const waiting = appearances.find(isWaiting);
      if (waiting === undefined) return [];
      return [`Correct the fix file in ${join(reports, waiting.batch)}`, 'and drop it into the inbox.'];
    }
  }
}

/** What an order without an outcome waits for, and what a person can do about it. */
function waitLines({ waitsFor, batch, followedBy }: OpenOrder, now: number): string[] {
  const until = untilText(waitsFor, now);
  return [
    `Waits for ${waitText(waitsFor)}${until === '' ? '' : `; next check ${until}`}.`,
    ...(followedBy.length === 0 ? [] : [`The same order is in batch ${followedBy.join(', ')}.`]),
    remedyOf(waitsFor, batch),
  ];
}

function remedyOf({ for: kind, until }: OpenOrder['waitsFor'], batch: string): string {
  switch (kind) {
    case 'release':
      return `To resume it, run po-sync batches release ${batch}.`;
    case 'daemon':
      return 'Run po-sync start.';
    case 'pause':
      // Only an operator's pause has no next try.
      return until === undefined
        ? 'To resume delivery, run po-sync resume.'
        : 'Run po-sync status to see what ends the pause.';
    case 'slow-down':
    case 'first-list':
    case 'retry':
      return 'Run po-sync status to see whether delivery is paused, and what ends it.';
    case 'person':
    case 'rate-limit':
    case 'turn':
    case 'answer':
    case 'list':
    case 'order':
    case 'unexamined':
      return 'Nothing to do.';
  }
}
