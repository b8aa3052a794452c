import { count, MEANINGS, outcomeWord, size } from '../../core/format.ts';
import { totalOrders } from '../../ledger/batches/batches.ts';
import { type BatchStanding, type BatchView, settledIn } from '../../operate/batches/list-batches.ts';
import { OUTCOMES, type Outcome } from '../../order/outcome.ts';
import { fixFilesIn } from '../../report/beside.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { readBatch, readBatchPage, readOrderPage } from '../api/batch-routes.ts';
import type { Content, PageRequest } from './frame.ts';
import {
  actForm,
  agoText,
  badge,
  batchPath,
  cell,
  facts,
  filterForm,
  link,
  nextLink,
  orderPath,
  select,
  table,
  textField,
} from './parts.ts';

const TONES: Record<BatchStanding, Parameters<typeof badge>[0]> = {
  reading: 'quiet',
  sending: 'quiet',
  held: 'bad',
  finished: 'good',
  unreadable: 'bad',
};

/** Every batch, newest first, by state, source and name. */
export async function batchesPage({ api, url }: PageRequest): Promise<Content> {
  const { items, next } = await readBatchPage(api, url);
  const now = api.base.store.time.now();
  const states = Object.keys(TONES);
  const names = api.base.config.sources.map(({ name }) => name);
  const form = filterForm(url, '/batches', [
    textField(url, 'q', 'File or batch'),
    select(url, 'state', 'State', states),
    select(url, 'source', 'Source', names),
    select(url, 'open', 'Needs a person', ['true'], ['yes']),
  ]);
  const list = items.length === 0 ? html`<p>No batches match.</p>` : batchTable('Batches', items, now);
  return { title: 'Batches', body: html`<h1>Batches</h1>${form}${list}${nextLink(url, next)}` };
}

/** Batches, one a row. `live`: where the live document of the page has them, in the same order. */
export function batchTable(caption: string, batches: readonly BatchView[], now: number, live?: string): Html {
  const rows = batches.map((view, i) => {
    const { batch, standing } = view;
    const { accepted } = batch.counts;
    return [
      link(batchPath(batch.batch), batch.name),
      html`${batch.source}`,
      badge(TONES[standing], standing),
      progressOf(view),
      live === undefined
        ? cell(accepted)
        : html`<span class="number" data-live="${live}.${i}.counts.accepted">${count(accepted)}</span>`,
      batch.open > 0 ? html`<strong>${count(batch.open)}</strong>` : cell(0),
      agoText(batch.startedAt, now),
    ];
  });
  return table(caption, ['file', 'source', 'state', 'done', 'accepted', 'open', 'taken'], rows);
}

function progressOf({ batch, standing }: BatchView): Html {
  if (standing === 'unreadable') return html`–`;
  const [done, all] = [settledIn(batch), totalOrders(batch)];
  if (all === undefined) return html`${count(done)} of ?`;
  return html`<progress max="${Math.max(1, all)}" value="${done}">${done}</progress> ${count(done)} of ${count(all)}`;
}

/** One batch: facts, outcomes, its orders, what can be done. */
export async function batchPage({ api, url, params, mayOperate, back, confirm }: PageRequest): Promise<Content> {
  const name = params['batch'] ?? '';
  const view = await readBatch(api, name);
  const { items, next } = await readOrderPage(api, name, url);
  const { batch, standing } = view;
  const orders = items.map((order) => [
    cell(order.line),
    link(orderPath(order.purchaseOrderNumber), order.purchaseOrderNumber || '–'),
    html`${outcomeWord(order.outcome)}`,
    html`${order.message}`,
    timeText(order.at),
  ]);
  const body = html`<h1>${batch.name}</h1>
<p>${badge(TONES[standing], standing)} ${progressOf(view)}</p>
${factsOf(view, await fixFilesIn(view.report))}
${mayOperate ? actions(view, back, confirm) : undefined}
<h2>Outcomes</h2>
${outcomes(view)}
${batch.open > 0 ? html`<p>${link(`/dead-letters?batch=${encodeURIComponent(name)}`, `${count(batch.open)} ${batch.open === 1 ? 'needs' : 'need'} a person`)}</p>` : undefined}
<h2>Orders</h2>
${batch.state === 'done' ? filterForm(url, batchPath(name), [select(url, 'outcome', 'Outcome', OUTCOMES)]) : html`<p>Listed when the batch is finished.</p>`}
${orders.length === 0 ? undefined : table('Orders', ['line', 'order', 'outcome', 'message', 'at'], orders)}
${nextLink(url, next)}`;
  return { title: batch.name, body, live: `/api/v1${batchPath(name)}` };
}

function factsOf({ batch, report, error }: BatchView, fixes: readonly string[]): Html {
  const { inspection, held } = batch;
  const files = batch.state === 'done' ? ['report.html', 'results.csv', ...fixes] : [];
  const downloads = files.map(
    (file) => html`<a download href="/api/v1${batchPath(batch.batch)}/files/${file}">${file}</a> `,
  );
  return facts([
    ['batch', html`<code>${batch.batch}</code>`],
    ['source', batch.source],
    ['handed in by', batch.by],
    ['taken', timeText(new Date(batch.startedAt).toISOString())],
    ['last outcome', settledIn(batch) === 0 ? undefined : timeText(new Date(batch.lastAt).toISOString())],
    [
      'file',
      inspection && `${inspection.shape.format.type}, ${count(inspection.records)} records, ${size(inspection.bytes)}`,
    ],
    ['unreadable', error && `${error.message} ${error.remedy ?? ''}`],
    ['held', held && html`since ${timeText(new Date(held.since).toISOString())}: ${held.reason}`],
    ['cancelled', batch.cancelled ? 'orders that were not sent are cancelled' : undefined],
    ['warnings', inspection?.warnings.length ? inspection.warnings.join(' · ') : undefined],
    ['report', html`<code>${report}</code>`],
    ['downloads', downloads.length === 0 ? undefined : html`${downloads}`],
  ]);
}

function outcomes({ batch }: BatchView): Html {
  const found: Outcome[] = OUTCOMES.filter((outcome) => batch.counts[outcome] > 0);
  if (found.length === 0) return html`<p>None yet.</p>`;
  const rows = found.map((one) => [cell(batch.counts[one]), html`${outcomeWord(one)}`, html`${MEANINGS[one]}`]);
  return table('Outcomes', ['orders', 'outcome', 'meaning'], rows);
}

function actions({ batch, standing }: BatchView, back: string, confirm: string | undefined): Html {
  const path = batchPath(batch.batch);
  const release =
    standing === 'held'
      ? actForm({ action: `${path}/release`, back, button: 'Release: send the remaining orders', confirm })
      : undefined;
  const cancel =
    batch.state === 'done'
      ? undefined
      : actForm({
          action: `${path}/cancel`,
          back,
          button: 'Cancel orders that were not sent',
          confirm,
          tone: 'bad',
          sure: 'These orders are not sent, and are in no fix file. To send them, drop the complete file again.',
        });
  return html`<div class="acts">${release}${cancel}</div>`;
}
