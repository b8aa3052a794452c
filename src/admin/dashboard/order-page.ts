import { PoSyncError } from '../../core/errors.ts';
import { count, iso, outcomeWord, plainPause, plainReason } from '../../core/format.ts';
import { attemptsOf } from '../../ledger/operator-actions.ts';
import {
  type Appearance,
  firstLine,
  handedIn,
  leftOutEvent,
  leftOutNote,
  lineText,
  onAttempt,
  outcomeAt,
} from '../../operate/orders/appearances.ts';
import {
  isWaiting,
  lastOutcome,
  type OpenOrder,
  type OrderHistory,
  otherActions,
} from '../../operate/orders/explain-order.ts';
import { waitClause } from '../../operate/orders/wait-of.ts';
import { needsPerson } from '../../order/outcome.ts';
import { shellWords } from '../../order/text.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { actionText } from '../../wording/closing.ts';
import { readHistory } from '../api/dead-letter-routes.ts';
import { itemsOf } from '../api/plans.ts';
import type { Content, PageRequest } from './frame.ts';
import {
  badge,
  batchPath,
  cell,
  closedText,
  facts,
  fileLink,
  filterForm,
  letterPath,
  link,
  table,
  textField,
} from './parts.ts';

/** The history of one order: where it came from, every attempt, its outcome, what people did. */
export async function orderPage({ api, url }: PageRequest): Promise<Content> {
  const form = filterForm(
    url,
    '/order',
    [textField(url, 'number', 'Order number')],
    'Show history',
  );
  if (!url.searchParams.get('number'))
    return { title: 'Order', body: html`<h1>Order</h1>${form}${articlesPart()}` };
  const found = await readHistory(api, url).catch(notFound);
  if (found instanceof PoSyncError) return missingOrder(found, form);
  const history = found;
  const now = api.base.store.time.now();
  const events = eventsOf(history)
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ at, text }) => [timeText(at), text]);
  const body = html`<h1>${history.order}</h1>
${form}
<p>${stateOf(history)}${twiceOf(history)}</p>
${leftOutPart(history)}
${acceptedPart(history)}
${history.state === 'accepted' ? html`<p>The API cannot change an accepted order. If it is wrong, agree on the change with the supplier: a file with other items for it is a conflict, and nothing of that is sent. A missing item can be a new order with a new number, if the supplier agrees.</p>` : undefined}
${openFacts(history, now)}
${itemsPart(history)}
<h2>What happened</h2>
${events.length === 0 ? html`<p>Nothing is recorded.</p>` : table('What happened', ['at', 'event'], events)}`;
  return { title: history.order, body };
}

/** That no history has an order, or that it is in a file which is not read to it yet. */
function notFound(error: unknown): PoSyncError {
  if (error instanceof PoSyncError && error.code === 'order-unknown') return error;
  throw error;
}

/** With the field to search again: a number that is not found is often misspelled. */
function missingOrder(
  { message, remedy, facts: { order, batch } }: PoSyncError,
  form: Html,
): Content {
  const state = batch === undefined ? badge('doubt', 'not found') : badge('quiet', 'not read yet');
  const onward = batch === undefined ? undefined : link(batchPath(String(batch)), 'Open its batch');
  const body = html`<h1>${String(order)}</h1>
${form}
<p>${state}</p>
<p role="${batch === undefined ? 'alert' : 'status'}">${message} ${remedy} ${onward}</p>`;
  return { title: String(order), body, ...(batch === undefined && { status: 404 }) };
}

function articlesPart(): Html {
  return html`<p>Only order numbers are searched, not articles. To find which accepted orders contain an article, download "accepted orders with articles and quantities" of some days on the page ${link('/batches', 'Batches')}, and search that list. The page ${link('/dead-letters', 'Orders that need you')} is also searched by article.</p>`;
}

function stateOf(history: OrderHistory): Html {
  const { state, appearances } = history;
  switch (state) {
    case 'accepted':
      return badge('good', 'accepted');
    case 'nothing':
      return badge(appearances.some(isWaiting) ? 'bad' : 'quiet', lastOutcome(history));
    case 'queued':
    case 'retry':
      return badge('quiet', 'waits to be sent');
    case 'sending':
      return badge('quiet', 'is being sent');
    case 'unknown':
      return badge('doubt', "may have been sent; being verified with the API's list");
    case 'conflict':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return badge('bad', `${outcomeWord(state)}, waits for a person`);
  }
}

/** Since when the API has it, by what po-sync keeps: nobody asks the API for this page. */
function acceptedPart({
  order,
  accepted,
  appearances,
  operatorActions,
}: OrderHistory): Html | undefined {
  if (accepted === undefined) return undefined;
  const own = appearances.find(
    ({ batch, result }) => batch === accepted.batch && result.outcome === 'accepted',
  );
  const isListed =
    accepted.batch === undefined || ['listed', 'created-twice'].includes(own?.result.code ?? '');
  const who = operatorActions.findLast(({ what }) => what === 'confirmed')?.who;
  // Before its report, nothing says how a list or an answer showed it.
  const answered = own === undefined ? 'the API had it' : 'the API answered po-sync that it has it';
  const how = isListed
    ? "the API's list showed it to po-sync"
    : who === undefined
      ? answered
      : `${who} confirmed that the API has it`;
  return html`<p>Accepted since ${timeText(iso(accepted.at))}: then ${how}. po-sync does not keep whether later lists of the API show it. For your operator: <code>po-sync explain ${shellWords(order, '--list')}</code> reads the API's list now. Help: ${link('/for-clerks#the-supplier-says-that-an-order-never-arrived', 'The supplier says that an order never arrived')}.</p>`;
}

function twiceOf({ timesListed }: OrderHistory): Html | undefined {
  if (timesListed === undefined) return undefined;
  return html` ${badge('bad', 'created twice')} The API's last list shows it ${timesListed} times. Ask the API's owner to remove all but one.`;
}

function leftOutPart(history: OrderHistory): Html | undefined {
  const note = leftOutNote(history);
  return note === undefined ? undefined : html`<p>${note}</p>`;
}

function openFacts({ open }: OrderHistory, now: number): Html | undefined {
  if (open === undefined) return undefined;
  return facts([
    ['waits for', waitClause(plainPause(open.waitsFor), now)],
    [
      'file',
      html`${link(batchPath(open.batch), open.file ?? open.batch)}, ${firstLine(open.line, open.content.items)}${handedIn(open.by)}`,
    ],
    ['batch held', open.waitsFor.for === 'release' ? undefined : open.heldBecause],
    [
      'same order in',
      open.followedBy.length === 0 ? undefined : html`${open.followedBy.map(batchItem)}`,
    ],
  ]);
}

function batchItem(batch: string, at: number): Html {
  return html`${at === 0 ? '' : ', '}${link(batchPath(batch), batch)}`;
}

/** Items shown; the file and the JSON have all. */
const ITEMS_SHOWN = 100;

export function itemsPart({ content }: OrderHistory, title = 'Items'): Html | undefined {
  if (content === undefined) return undefined;
  const { items = [], message, batch } = content;
  const rows = items.slice(0, ITEMS_SHOWN).map(({ articleCode, quantity }) => [
    html`${articleCode}`,
    // Without separators: 1,200 reads as 1.2 where the comma is the decimal sign.
    cell(String(quantity)),
  ]);
  const more = items.length - rows.length;
  return html`<h2>${title}</h2>
${rows.length === 0 ? undefined : table(title, ['article', 'quantity'], rows)}
${more > 0 ? html`<p>… and ${count(more)} more.</p>` : undefined}
<p>${message} ${batch && link(batchPath(batch), 'Open its batch')}</p>`;
}

type HistoryEvent = { at: string; text: Html };

function eventsOf(history: OrderHistory): HistoryEvent[] {
  const { accepted, open, appearances } = history;
  // Before its outcome no report says where an order came from.
  const taken =
    open && appearances.every(({ batch }) => batch !== open.batch)
      ? [takenEvent(open, history)]
      : [];
  const attempts = attemptsOf(history).map(({ at, attempt, message, httpStatus }) => ({
    at: iso(at),
    text: html`attempt ${attempt}: ${plainReason(message)}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}`,
  }));
  const isReported = appearances.some(
    (one) => one.batch === accepted?.batch && one.result.outcome === 'accepted',
  );
  const done = accepted && !isReported ? [acceptedEvent(accepted, history)] : [];
  const people = otherActions(history).map((action) => ({
    at: iso(action.at),
    text: html`${actionText(action)}`,
  }));
  const without = (history.leftOut ?? []).map((one) => ({
    at: one.startedAt,
    text: html`${leftOutEvent(one).text}`,
  }));
  const inFiles = appearances.flatMap((one) => appearanceEvents(one, history));
  // Of the same moment, what a person did is before its file, and the attempt before its outcome.
  return [...people, ...taken, ...attempts, ...inFiles, ...done, ...without];
}

/** The files of a history: those of the same name are told apart. */
const filesOf = ({ appearances, open }: OrderHistory) => [...appearances, ...(open ? [open] : [])];

function takenEvent(
  { takenAt, batch, file, line, content, by }: OpenOrder,
  history: OrderHistory,
): HistoryEvent {
  const text = html`in ${fileLink({ batch, file }, filesOf(history))}, ${firstLine(line, content.items)}${handedIn(by)}`;
  return { at: iso(takenAt), text };
}

function acceptedEvent(
  accepted: NonNullable<OrderHistory['accepted']>,
  history: OrderHistory,
): HistoryEvent {
  const { at, attempts, batch, by } = accepted;
  const text = html`accepted by the API${batch === undefined ? ': its list shows it' : handedIn(by)}${failedBefore(attempts, history)}`;
  return { at: iso(at), text };
}

/** After its acceptance, the ledger keeps only the number of attempts. Those that were answered for good are events themselves. */
function failedBefore(attempts: number, history: OrderHistory): Html | undefined {
  if (attempts < 2) return undefined;
  const { appearances } = history;
  const answered = appearances.filter(
    ({ result }) => needsPerson(result.outcome) && result.attempts > 0,
  );
  if (attempts - 1 <= answered.length + attemptsOf(history).length)
    return html`${onAttempt(attempts, appearances)}`;
  return html` on attempt ${attempts}: at first the API did not answer or could not take it, and po-sync tried again automatically. Pauses of the last hour are on the page ${link('/', 'Overview')}.`;
}

function appearanceEvents(appearance: Appearance, history: OrderHistory): HistoryEvent[] {
  const { content, operatorActions } = history;
  const { file, startedAt, by, result, deadLetter, sentAs } = appearance;
  const where = html`in ${fileLink(appearance, filesOf(history))}${lineText(appearance, content)}${handedIn(by)}`;
  const taken = { at: startedAt, text: where };
  const tried = result.outcome === 'accepted' ? failedBefore(result.attempts, history) : undefined;
  const outcome = html`${outcomeWord(result.outcome)}${result.message === '' ? tried : `: ${result.message}`}`;
  // A dead letter of a batch in progress has no page: its rows are known with the report.
  const hasPage = deadLetter !== undefined && result.line > 0;
  const advice = sentAs ? `already sent as ${sentAs.number}: discard it` : 'correct or settle it';
  const text = hasPage
    ? html`${outcome} (${link(letterPath(deadLetter.id), isWaiting({ deadLetter }) ? advice : 'details')})`
    : outcome;
  const items = deadLetter && itemsOf(deadLetter);
  const withItems = html`${text}${items ? html`<div class="quiet">${items}</div>` : undefined}`;
  const closed = deadLetter?.closed;
  const end = closed && {
    at: closed.at,
    text: html`the rows of ${file}: ${closedText(closed)}`,
  };
  return [
    taken,
    { at: iso(outcomeAt(result, operatorActions)), text: withItems },
    ...(end ? [end] : []),
  ];
}
