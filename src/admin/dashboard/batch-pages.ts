import { basename } from 'node:path';
import { count, counted, iso, MEANINGS, outcomeWord, size } from '../../core/format.ts';
import { FIX_WORKBOOK } from '../../correct/fix-workbook.ts';
import { totalOrders } from '../../ledger/batches/batches.ts';
import { cancelledBy } from '../../operate/batches/cancel-batch.ts';
import {
  type BatchView,
  CORRECT_FILE,
  ENDED_BEFORE,
  readingText,
  settledIn,
  standingText,
  unsettledText,
} from '../../operate/batches/list-batches.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import { inboxText } from '../../operate/delivery/source-status.ts';
import { formatText } from '../../order/batch.ts';
import { OUTCOMES, type Outcome } from '../../order/outcome.ts';
import { type Html, html, localTimes, timeText } from '../../report/page/html.ts';
import { openText } from '../../report/story.ts';
import { DECLARE, printUndeclared } from '../../setup/print.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import {
  type ListedOrder,
  namelessIn,
  readBatch,
  readBatchPage,
  readOrderPage,
} from '../api/batch-routes.ts';
import { orderedSince, sentPart } from './batch-parts.ts';
import { openIn } from './dead-letter-list.ts';
import { STANDING_TONES, standingBadge, waitingNote } from './delivery-part.ts';
import type { Content, PageRequest } from './frame.ts';
import { heldArticles } from './letter-message.ts';
import {
  agoText,
  batchActs,
  batchPath,
  cell,
  closedText,
  dayFields,
  facts,
  filterForm,
  isFiltered,
  letterPath,
  link,
  nextLink,
  numberLink,
  select,
  settledNote,
  table,
  textField,
  withTime,
} from './parts.ts';

/** Every batch, newest first, by state, source and name. */
export async function batchesPage({ api, url }: PageRequest): Promise<Content> {
  const { items, next } = await readBatchPage(api, url);
  const now = api.base.store.time.now();
  const names = api.base.config.sources.map(({ name }) => name);
  const form = filterForm(url, '/batches', [
    dayFields(url),
    textField(url, 'q', 'File or batch'),
    select(
      url,
      'state',
      'State',
      Object.keys(STANDING_TONES),
      Object.keys(STANDING_TONES).map((one) =>
        one === 'finished' ? 'finished, also cancelled' : one,
      ),
    ),
    select(url, 'source', 'Source', names),
    select(url, 'open', 'Needs a person', ['true'], ['yes']),
  ]);
  const nameless = await namelessIn(api, items);
  const { status } = await api.snapshot();
  const inInbox = inboxText(status);
  const list = batchTable('Batches', items, { now, nameless, status });
  const none = html`<p>${isFiltered(url) ? 'No batches match.' : 'No file was taken yet. Each file is listed here as soon as po-sync takes it.'}</p>`;
  const note = inInbox && html`<p role="status">${inInbox}.</p>`;
  return {
    title: 'Batches',
    body: html`<h1>Batches</h1>${form}${note}${items.length === 0 ? none : list}${nextLink(url, next)}`,
  };
}

type TableFacts = {
  now: number;
  nameless?: readonly number[];
  status: Pick<Status, 'pauses'>;
};

/** Batches, one a row. */
export function batchTable(
  caption: string,
  batches: readonly BatchView[],
  { now, nameless, status }: TableFacts,
): Html {
  const rows = batches.map((view, i) => {
    const { batch } = view;
    const { accepted } = batch.counts;
    return [
      html`${link(batchPath(batch.batch), batch.name)}${placedName(batch)}`,
      html`${batch.source}`,
      html`${standingBadge(view, status)}${batch.unsettled && html` ${batch.unsettled.reason}`}`,
      progressOf(view, nameless?.[i]),
      cell(accepted),
      batch.open > 0 ? html`<strong>${count(batch.open)}</strong>` : cell(0),
      agoText(batch.startedAt, now),
    ];
  });
  return table(caption, ['file', 'source', 'state', 'done', 'accepted', 'open', 'taken'], rows);
}

/** Its name in the folder, where another file has the name under which it was dropped. */
function placedName({ name, settledPath = name }: BatchView['batch']): Html | undefined {
  const placed = basename(settledPath);
  return placed === name ? undefined : html`<div class="quiet">in the folder: ${placed}</div>`;
}

function progressOf({ batch, standing }: BatchView, nameless = 0): Html {
  if (standing === 'unreadable') return html`–`;
  const [done, all] = [settledIn(batch), totalOrders(batch)];
  if (all === undefined) return html`${count(done)} of ?`;
  return html`<span class="progress"><progress max="${Math.max(1, all)}" value="${done}">${done}</progress> ${count(done)} of ${count(all)}</span>${rowsNote(all, nameless)}`;
}

/** What a number counts where some of it are rows without an order number; they may belong to fewer orders. */
function rowsNote(all: number, nameless: number): Html | undefined {
  return nameless === 0
    ? undefined
    : html`<div class="quiet">${openText(Math.max(all, nameless), nameless)}</div>`;
}

/** One batch: facts, outcomes, its orders, what can be done. */
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
  const { status } = await api.snapshot();
  const { items, next } = await readOrderPage(api, name, url);
  const { batch } = view;
  const [nameless = 0] = await namelessIn(api, [view]);
  const since = await orderedSince(api, items);
  const inLines = items.toSorted((a, b) => a.line - b.line);
  const listed = inLines.map((order) => [
    cell(order.line),
    rowLink(order),
    html`${outcomeWord(order.outcome)}${order.closed && html`<div>settled since: ${closedText(order.closed)}</div>`}${since.has(order.purchaseOrderNumber) ? html`<div>accepted since, from another file</div>` : ''}`,
    html`${order.message}`,
    timeText(order.at),
  ]);
  const open = batch.open === 0 ? undefined : await openIn(api, batch.open, { batch: name });
  const body = html`<h1>${batch.name}</h1>
<div><p>${standingBadge(view, status)} ${view.standing === 'unreadable' ? undefined : progressOf(view, nameless)}</p>
${waitingNote(view, status)}</div>
${waitingBox(view, mayOperate, await heldArticles(api, batch))}
${factsOf(view)}
${mayOperate ? batchActs(view, back, confirm) : undefined}
<div>${outcomes(view, nameless)}
${settledNote(view)}
${open && html`<p>${link(`/dead-letters?batch=${encodeURIComponent(name)}`, `${open} ${batch.open === 1 ? 'needs' : 'need'} a person`)}${batch.cancelled ? '. The cancellation left this open: if the complete file was wrong, drop it again when it is corrected, or discard all of this at once there.' : ''}</p>`}</div>
${sentPart(batch)}
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

const FOR_OPERATOR = 'Somebody with the role operate must release or cancel it';

/** What waits for a person comes before the facts. */
function waitingBox(
  { batch: { held } }: BatchView,
  mayOperate: boolean,
  articles?: Html,
): Html | undefined {
  if (held === undefined) return undefined;
  const who = mayOperate ? 'You may decide' : FOR_OPERATOR;
  const lines = printUndeclared(held.facts);
  return html`<div class="box bad" role="alert"><strong>Waits</strong> ${from({ since: held.since, reason: fileWaitText(held) })}
${articles ?? html`<br>`}${lines && html`${DECLARE}:<pre tabindex="0">${lines}</pre>`}${who}: release it to send it as it is, or cancel it. Orders that were sent stay sent.</div>`;
}

function factsOf(view: BatchView): Html {
  const { batch, report, error, endedWith } = view;
  const { inspection, unsettled } = batch;
  const results = totalOrders(batch) === undefined ? [] : ['results.csv'];
  const fixes = batch.open > 0 ? [FIX_WORKBOOK] : [];
  const files = batch.state === 'done' ? ['report.html', ...results, ...fixes] : [];
  const downloads = files.map(
    (file, i) =>
      html`${i > 0 ? ' · ' : ''}<a download href="/api/v1${batchPath(batch.batch)}/files/${file}">${file}</a>`,
  );
  return facts([
    ['batch', html`<code>${batch.batch}</code>`],
    ['in the folder', placedName(batch) && basename(batch.settledPath ?? '')],
    ['source', batch.source],
    ['submitted by', batch.by],
    ['taken', timeText(new Date(batch.startedAt).toISOString())],
    [
      'last outcome',
      settledIn(batch) === 0 ? undefined : timeText(new Date(batch.lastAt).toISOString()),
    ],
    [
      'file',
      inspection &&
        `${formatText(inspection.shape.format)}; ${counted(inspection.records, 'record')}, ${size(inspection.bytes)}`,
    ],
    ['reading', readingText(batch)],
    ['unreadable', error && `${error.message} ${error.remedy ?? CORRECT_FILE}`],
    [
      standingText(view),
      unsettled ? html`${from(unsettled)}. ${unsettledText(batch)}` : endedWith && ENDED_BEFORE,
    ],
    ['cancelled', withTime(cancelledBy(batch), batch.cancelledBy?.at)],
    [
      'warnings',
      inspection?.warnings.length ? localTimes(inspection.warnings.join(' · ')) : undefined,
    ],
    ['for your operator: report', html`<code>${report}</code>`],
    ['downloads', downloads.length === 0 ? undefined : html`${downloads}`],
  ]);
}

const from = ({ since, reason }: { since: number; reason: string }) =>
  html`since ${timeText(iso(since))}: ${reason}`;

function outcomes({ batch, standing }: BatchView, nameless: number): Html | undefined {
  const found: Outcome[] = OUTCOMES.filter((outcome) => batch.counts[outcome] > 0);
  if (found.length === 0)
    return standing === 'unreadable' ? undefined : html`<h2>Outcomes</h2><p>None yet.</p>`;
  const rows = found.map((one) => [
    cell(batch.counts[one]),
    html`${outcomeWord(one)}`,
    html`${MEANINGS[one]}${one === 'invalid' ? rowsNote(batch.counts[one], nameless) : undefined}`,
  ]);
  return html`<h2>Outcomes</h2>${table('Outcomes', ['orders', 'outcome', 'meaning'], rows)}`;
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
