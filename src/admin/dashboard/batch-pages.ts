import { orders, outcomeWord } from '../../core/format.ts';
import { FIX_WORKBOOK } from '../../correct/fix-workbook.ts';
import { isFinished, totalOrders } from '../../ledger/batches/batches.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { inboxText } from '../../operate/delivery/source-status.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { readReport } from '../../report/report.ts';
import { batchTable, batchView } from '../../views/batch.ts';
import {
  type ListedOrder,
  readBatch,
  readBatchPage,
  readOrderPage,
  STANDINGS,
} from '../api/batch-routes.ts';
import type { Content, PageRequest } from './frame.ts';
import {
  actForm,
  batchPath,
  cell,
  closedText,
  filterForm,
  isFiltered,
  letterPath,
  link,
  nextLink,
  numberLink,
  select,
  table,
  textField,
} from './parts.ts';
import { stateBadge, viewPart } from './view-part.ts';

/** Every batch, newest first, by state, source and name. */
export async function batchesPage({ api, url }: PageRequest): Promise<Content> {
  const { items, next } = await readBatchPage(api, url);
  const names = api.base.config.sources.map(({ name }) => name);
  const form = filterForm(url, '/batches', [
    textField(url, 'q', 'File or batch'),
    select(url, 'state', 'State', STANDINGS),
    select(url, 'source', 'Source', names),
    select(url, 'open', 'Needs a person', ['true'], ['yes']),
  ]);
  const inInbox = inboxText((await api.snapshot()).status);
  const list = viewPart([batchTable(items, api.base.store.time.now())], 'Batches');
  const none = html`<p>${isFiltered(url) ? 'No batches match.' : 'No file was taken yet. Each file is listed here as soon as po-sync takes it.'}</p>`;
  const note = inInbox && html`<p role="status">${inInbox}.</p>`;
  return {
    title: 'Batches',
    body: html`<h1>Batches</h1>${form}${note}${items.length === 0 ? none : list}${nextLink(url, next)}`,
  };
}

/** One batch: facts, outcomes, what can be done, and its orders. */
export async function batchPage({
  api,
  url,
  params,
  mayOperate,
  back,
  confirm,
}: PageRequest): Promise<Content> {
  const name = params['batch'] ?? '';
  const view = await readBatch(api, name);
  const { items, next } = await readOrderPage(api, name, url);
  const { batch } = view;
  const report = await readReport(view.report).catch(() => undefined);
  const { state, blocks } = batchView(view, api.base.store.time.now(), report?.nameless);
  const listed = items
    .toSorted((a, b) => a.line - b.line)
    .map((order) => [
      cell(order.line),
      rowLink(order),
      html`${outcomeWord(order.outcome)}${order.closed && html`<div>settled since: ${closedText(order.closed)}</div>`}`,
      html`${order.message}`,
      timeText(order.at),
    ]);
  const open = `/dead-letters?batch=${encodeURIComponent(name)}`;
  const body = html`<h1>${batch.name}</h1>
<p>${stateBadge(state)}</p>
${batch.open === 0 ? undefined : html`<p><strong>${link(open, `${orders(batch.open)} ${batch.open === 1 ? 'needs' : 'need'} a person`)}</strong></p>`}
${viewPart(blocks, 'Facts')}
${downloads(view)}
${mayOperate ? batchActs(view, back, confirm) : undefined}
${ordersHead(view, url)}
${listed.length === 0 ? unlisted(view, url) : table('Orders', ['line', 'order', 'outcome', 'message', 'at'], listed)}
${nextLink(url, next)}`;
  return { title: batch.name, body };
}

/** The page of an order; of one without a number, that on which it is corrected. */
function rowLink({ purchaseOrderNumber: number, letter }: ListedOrder): Html {
  return number !== '' || letter === undefined
    ? numberLink(number)
    : link(letterPath(letter), 'no number');
}

function downloads({ batch }: BatchView): Html | undefined {
  if (batch.state !== 'done') return undefined;
  const results = totalOrders(batch) === undefined ? [] : ['results.csv'];
  const files = ['report.html', ...results, ...(batch.open > 0 ? [FIX_WORKBOOK] : [])];
  const links = files.map(
    (file) => html` <a download href="/api/v1${batchPath(batch.batch)}/files/${file}">${file}</a>`,
  );
  return html`<p>Downloads:${links}</p>`;
}

/** The buttons of a batch that is held, or not finished. */
function batchActs(
  { batch, standing, over, endedWith }: BatchView,
  back: string,
  confirm: string | undefined,
): Html {
  const fields = html`<input type="hidden" name="batch" value="${batch.batch}">`;
  const act = (name: string, button: string, more: { tone?: 'bad'; sure?: string } = {}) =>
    actForm({ action: `/batches/${name}`, fields, back, button, confirm, ...more });
  const isOver = endedWith || batch.cancelled || batch.state === 'done' || isFinished(batch);
  return html`<div class="acts">${standing === 'waiting' ? act('release', 'Release: send the remaining orders') : undefined}${standing === 'unreadable' && over === undefined ? act('cancel', 'Close: nobody needs it') : undefined}${
    isOver
      ? undefined
      : act('cancel', 'Cancel orders that were not sent', {
          tone: 'bad',
          sure: `Cancel: these orders are not sent, and are in no fix file. ${batch.kind === 'export' ? CANCELLED_IN_EXPORT : 'To send them, drop the complete file again.'} Rows that failed a check and orders that the API refused stay open.`,
        })
  }</div>`;
}

/** An unreadable file has no orders. */
function ordersHead({ batch, standing }: BatchView, url: URL): Html | undefined {
  if (standing === 'unreadable' && totalOrders(batch) === undefined) return undefined;
  const form = filterForm(url, batchPath(batch.batch), [
    select(url, 'outcome', 'Outcome', OUTCOMES, OUTCOMES.map(outcomeWord)),
  ]);
  return html`<h2>Orders</h2>${batch.state === 'done' ? form : html`<p>Listed when the batch is finished.</p>`}`;
}

/** Why no order is listed. */
function unlisted({ batch }: BatchView, url: URL): Html | undefined {
  if (batch.state !== 'done' || !totalOrders(batch)) return undefined;
  return html`<p>${isFiltered(url) ? 'No orders match.' : `Its orders cannot be listed: ${batch.name} was missing when its report was written, or the report was removed.`}</p>`;
}
