import { iso, outcomeWord } from '../../core/format.ts';
import { type Appearance, handedIn } from '../../operate/orders/appearances.ts';
import {
  actionText,
  isWaiting,
  lastOutcome,
  type OrderHistory,
  otherActions,
} from '../../operate/orders/explain-order.ts';
import { untilText, waitText } from '../../operate/orders/wait-of.ts';
import { placeText } from '../../order/fixing.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { readHistory } from '../api/dead-letter-routes.ts';
import { idOf } from '../read-model/dead-letter-table.ts';
import type { SettledRow } from '../read-model/settled-table.ts';
import { changeList, closedText } from './corrections-page.ts';
import type { Content, PageRequest } from './frame.ts';
import { badge, batchPath, facts, filterForm, letterPath, link, orderPath, table, textField } from './parts.ts';

/** The history of one order: where it came from, every attempt, its outcome, what people did. */
export async function orderPage({ api, url }: PageRequest): Promise<Content> {
  const form = filterForm(url, '/order', [textField(url, 'number', 'Order number')], 'Show history');
  if (!url.searchParams.get('number')) return { title: 'Order', body: html`<h1>Order</h1>${form}` };
  const { history, settled, unread } = await readHistory(api, url);
  const now = api.base.store.time.now();
  const events = [...eventsOf(history), ...settled.flatMap((row) => wasEvent(row, history.order))]
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ at, text }) => [timeText(at), text]);
  const isAll = url.searchParams.get('reports') === 'all';
  const body = html`<h1>${history.order}</h1>
${form}
<p>${stateOf(history)}</p>
${openFacts(history, now)}
<h2>What happened</h2>
${events.length === 0 ? html`<p>Nothing is recorded.</p>` : table('What happened', ['at', 'event'], events)}
${unread === 0 ? undefined : html`<p role="status">Older events may be missing: some reports are not read yet.</p>`}
${isAll ? undefined : html`<p>Also ${link(`${orderPath(history.order)}&reports=all`, 'search every report')} (takes seconds where there are thousands).</p>`}`;
  return { title: history.order, body };
}

function stateOf({ state, appearances }: OrderHistory): Html {
  switch (state) {
    case 'accepted':
      return badge('good', 'accepted');
    case 'nothing':
      return badge(appearances.some(isWaiting) ? 'bad' : 'quiet', lastOutcome(appearances));
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

function openFacts({ open }: OrderHistory, now: number): Html | undefined {
  if (open === undefined) return undefined;
  const items = open.content.items.slice(0, 50).map(({ articleCode, quantity }) => `${quantity} × ${articleCode}`);
  return facts([
    [
      'waits for',
      `${waitText(open.waitsFor)}${untilText(open.waitsFor, now) === '' ? '' : `; next check ${untilText(open.waitsFor, now)}`}`,
    ],
    ['items', items.join(', ')],
    ['file', html`${link(batchPath(open.batch), open.file ?? open.batch)}, line ${open.line}${handedIn(open.by)}`],
    ['batch held', open.heldBecause],
    ['same order in', open.followedBy.length === 0 ? undefined : open.followedBy.join(', ')],
  ]);
}

type HistoryEvent = { at: string; text: Html };

function eventsOf(history: OrderHistory): HistoryEvent[] {
  const { accepted, open, appearances } = history;
  const attempts = (open?.history ?? []).map(({ at, attempt, message, httpStatus }) => ({
    at: iso(at),
    text: html`attempt ${attempt}: ${message}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}`,
  }));
  const isReported = appearances.some(
    ({ batch, result }) => batch === accepted?.batch && result.outcome === 'accepted',
  );
  const done = accepted && !isReported ? [acceptedEvent(accepted)] : [];
  const people = otherActions(history).map((action) => ({ at: iso(action.at), text: html`${actionText(action)}` }));
  return [...appearances.flatMap(appearanceEvents), ...attempts, ...done, ...people];
}

function acceptedEvent({ at, batch, by }: NonNullable<OrderHistory['accepted']>): HistoryEvent {
  return {
    at: iso(at),
    text: html`accepted by the API${batch === undefined ? ' before po-sync sent it' : handedIn(by)}`,
  };
}

function appearanceEvents({ batch, file, startedAt, by, result, deadLetter }: Appearance): HistoryEvent[] {
  const taken = { at: startedAt, text: html`in ${link(batchPath(batch), file)}, line ${result.line}${handedIn(by)}` };
  const outcome = html`${outcomeWord(result.outcome)}${result.message === '' ? '' : `: ${result.message}`}`;
  const text = deadLetter
    ? html`${outcome} (${link(letterPath(idOf(batch, deadLetter)), isWaiting({ deadLetter }) ? 'correct or settle it' : 'details')})`
    : outcome;
  const closed = deadLetter?.closed;
  const end = closed && { at: closed.at, text: html`the rows of ${file}: ${closedText(closed)}` };
  return [taken, { at: result.at, text }, ...(end ? [end] : [])];
}

/** An order that got its number by a correction. */
function wasEvent({ id, purchaseOrderNumber: was, file, location, closed }: SettledRow, number: string) {
  if (closed.number !== number || was === number) return [];
  const name = was === '' ? html`no number` : link(orderPath(was), was);
  const text = html`corrected: was ${name} in ${link(letterPath(id), `${file}, ${placeText(location)}`)}${changeList(closed.changes)}`;
  return [{ at: closed.at, text }];
}
