import { count } from '../../core/format.ts';
import type { WaitingJob } from '../../queue/queue.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { Content, PageRequest } from './frame.ts';
import { agoText, badge, batchPath, cell, link, orderPath, table } from './parts.ts';

/** Jobs that the page shows, and orders of each. */
const JOBS = 50;
const ORDERS = 3;

/** States that are shown without jobs too. */
const USED = ['active', 'waiting'];

/** The jobs as the queue has them: which a worker has, and which wait for one. Nothing here changes the queue. */
export async function queuePage({ api }: PageRequest): Promise<Content> {
  const { queue, store } = api.base;
  const { counts, jobs } = await queue.look(JOBS);
  // The other states of BullMQ are not used here.
  const used = Object.entries(counts).filter(([state, number]) => number > 0 || USED.includes(state));
  const states = used.map(([state, number]) => [html`${state}`, cell(number)]);
  const rows = jobs.map((job) => rowOf(job, store.time.now()));
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const body = html`<h1>Queue</h1>
<p>The queue only gives jobs to workers. The ledger knows which orders are due and what their outcomes are: see
<a href="/">what orders wait for</a>. A lost job is added again from the ledger.</p>
${table('Jobs by state', ['state', 'jobs'], states)}
<h2>Jobs</h2>
${rows.length === 0 ? html`<p>The queue is empty.</p>` : table('Jobs', ['job', 'state', 'batch', 'orders', 'added', 'with a worker'], rows)}
${all > jobs.length ? html`<p>The first ${count(jobs.length)} of ${count(all)} jobs.</p>` : undefined}`;
  return { title: 'Queue', body };
}

function rowOf({ id, state, batch, numbers, addedAt, startedAt }: WaitingJob, now: number): Html[] {
  const shown = numbers.slice(0, ORDERS).map((number) => html`${link(orderPath(number), number)} `);
  const more = numbers.length > ORDERS ? html`and ${count(numbers.length - ORDERS)} more` : undefined;
  return [
    html`<code>${id}</code>`,
    badge(state === 'active' ? 'good' : 'quiet', state),
    link(batchPath(batch), batch),
    html`${shown}${more}`,
    agoText(addedAt, now),
    startedAt === undefined ? html`–` : agoText(startedAt, now),
  ];
}
