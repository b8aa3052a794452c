import { showConfig } from '../../config/show.ts';
import { count, duration, plainPause } from '../../core/format.ts';
import { endOf } from '../../deliver/pause-rules.ts';
import { TWICE_REMEDY, twiceText } from '../../ledger/adopt.ts';
import { NOTICES_REMEDY, noticesText, type ReceiverTrouble } from '../../notify/outbox.ts';
import { noDelivery } from '../../operate/delivery/pause-delivery.ts';
import { type Status, tokenText } from '../../operate/delivery/read-status.ts';
import { inboxText } from '../../operate/delivery/source-status.ts';
import { readActions } from '../../operate/operator-context.ts';
import { untilText, waitText } from '../../operate/orders/wait-of.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { namelessIn } from '../api/batch-routes.ts';
import { batchTable } from './batch-pages.ts';
import { openIn } from './dead-letter-list.ts';
import { pauseBox } from './delivery-part.ts';
import type { Content, PageRequest } from './frame.ts';
import { unsentNote } from './letter-message.ts';
import { actForm, agoText, batchPath, cell, facts, link, nextLink, table } from './parts.ts';
import { hoursIn, picturePart } from './picture-part.ts';
import { silenceBadge, stateText } from './sources-page.ts';

/** The current state: pauses, figures, batches in progress, what waits, sources. */
export async function overviewPage({
  api,
  url,
  mayOperate,
  back,
  confirm,
}: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const hours = await api.hours(hoursIn(url));
  const { deadLetters, daemons, pauses, now } = status;
  // While the lists are being read, it is not known which are rows without an order number.
  const open =
    deadLetters > 0
      ? await openIn(api, deadLetters, {}).catch(() => count(deadLetters))
      : undefined;
  const nameless = await namelessIn(api, status.batches);
  // A person who has to stop a file must not look for it below figures and plots.
  const batches = html`<h2>Batches in progress</h2>
<div>${status.batches.length === 0 ? html`<p>None. See <a href="/batches">all batches</a>.</p>` : batchTable('Batches in progress', status.batches, { now, nameless, status })}</div>`;
  const body = html`<h1>Overview</h1>
<div>${pauses.map((pause) => pauseBox(pause, now))}</div>
${daemons.flatMap(({ notices = [] }) => notices.map(noticeBox))}
${status.createdTwice > 0 ? twiceBox(status) : undefined}
${mayOperate && pauses.length > 0 ? switchForm(status, back, confirm) : undefined}
${status.batches.length === 0 ? undefined : batches}
<div>${open ? html`<p><strong><a href="/dead-letters">${open}</a></strong> ${deadLetters === 1 ? 'needs' : 'need'} a person.</p>` : undefined}${unsentNote(api)}${unreadableFiles(status)}</div>
<ul class="figures">${figuresOf(status)}</ul>
${picturePart(hours)}
${status.batches.length === 0 ? batches : undefined}
${inboxNote(status)}
<div>${waits(status, open, await oldestFiles(api, status))}</div>
<h2>Sources</h2>
<div>${sources(status)}</div>
${mayOperate && pauses.length === 0 ? html`<section class="screen"><h2>Delivery</h2>${switchForm(status, back, confirm)}</section>` : undefined}`;
  return { title: 'Overview', body };
}

/** What delivery does now. Orders of long files wait unread: without them, the figure before looks like all that is left. */
function figuresOf({ queue, deadLetters, daemons }: Status): Html[] {
  const figures: [name: string, value: number][] = [
    ['in progress (orders)', queue.unsettledOrders],
    ...(queue.unreadOrders > 0
      ? [['more not read yet (orders)', queue.unreadOrders] as [string, number]]
      : []),
    ['being verified (orders)', queue.ordersInDoubt],
    ['need a person', deadLetters],
    ['running (daemons)', daemons.length],
  ];
  return figures.map(([name, value]) => html`<li><b>${count(value)}</b> ${name}</li>`);
}

function noticeBox(trouble: ReceiverTrouble): Html {
  return html`<div class="box bad" role="alert"><strong>Notices</strong> ${noticesText(trouble)}.
<br>${NOTICES_REMEDY}</div>`;
}

function twiceBox({ createdTwice }: Status): Html {
  return html`<div class="box bad" role="alert"><strong>Created twice</strong> ${twiceText(createdTwice)}.
<br>${TWICE_REMEDY}</div>`;
}

/** Pausing and resuming, where it is seen whether it is needed. */
function switchForm(
  { pauses }: Pick<Status, 'pauses'>,
  back: string,
  confirm: string | undefined,
): Html {
  if (pauses.length > 0) {
    const button = pauses.every((pause) => endOf(pause) === 'automatic' && !pause.waitsForOrder)
      ? 'Try again now'
      : 'Resume delivery';
    return actForm({ action: '/resume', back, button, confirm });
  }
  const fields = html`<label>Reason <input name="reason" maxlength="500"></label>`;
  return actForm({ action: '/pause', back, button: 'Pause delivery', fields });
}

/** Files that were not taken yet are in no list of batches. */
function inboxNote(status: Status): Html | undefined {
  const text = inboxText(status);
  return text === undefined ? undefined : html`<p role="status">${text}.</p>`;
}

/** The files of the oldest orders that wait, by batch: as people know them, as long as Redis answers. */
async function oldestFiles(
  api: PageRequest['api'],
  { waits: groups }: Status,
): Promise<Map<string, string>> {
  const names = groups.flatMap(({ oldest }) => oldest?.batch ?? []);
  const found = await api
    .withRedis(() => Promise.all(names.map((name) => api.base.batches.find(name))))
    .catch(() => []);
  return new Map(found.flatMap((batch) => (batch ? [[batch.batch, batch.name] as const] : [])));
}

/** `open`: in words, how many orders and rows wait for a person. */
function waits(
  { waits: groups, now }: Status,
  open: string | undefined,
  files: ReadonlyMap<string, string>,
): Html | undefined {
  if (groups.length === 0) return undefined;
  const rows = groups.map((wait) => [
    wait.for === 'person' && open !== undefined ? html`${open}` : cell(wait.orders),
    html`${waitText(plainPause(wait))}`,
    html`${untilText(wait, now) || '–'}`,
    wait.oldest === undefined
      ? html`–`
      : html`${link(batchPath(wait.oldest.batch), wait.oldest.order ?? files.get(wait.oldest.batch) ?? wait.oldest.batch)}, ${agoText(wait.oldest.since, now)}`,
  ]);
  return html`<h2>Orders that wait</h2>${table('Orders that wait', ['orders', 'wait for', 'until', 'oldest'], rows)}`;
}

function unreadableFiles({ unreadable, now }: Status): Html | undefined {
  if (unreadable.length === 0) return undefined;
  const rows = unreadable.map(({ batch, error }) => [
    link(batchPath(batch.batch), batch.name),
    html`${batch.source}`,
    html`${error?.message}`,
    agoText(batch.startedAt, now),
  ]);
  return html`<h2>Unreadable files</h2>${table('Unreadable files', ['file', 'source', 'what is wrong', 'taken'], rows)}<p>A readable file of the same name closes an unreadable one; so does the button on its page.</p>`;
}

function sources({ sources: all, now }: Status): Html {
  const rows = all.map((source) => [
    link(`/sources#${source.name}`, source.name),
    html`${source.type}`,
    html`${stateText(source)}${silenceBadge(source, now)}`,
    html`<code>${source.path}</code>`,
    source.last === undefined
      ? html`–`
      : html`${link(batchPath(source.last.batch), source.last.file)}, ${agoText(source.last.at, now)}`,
  ]);
  return table('Sources', ['source', 'type', 'state', 'path', 'last readable file'], rows);
}

/** The environment: daemons, token, pausing, what operators did, and the resolved configuration. */
export async function environmentPage({
  api,
  url,
  mayOperate,
  back,
  confirm,
}: PageRequest): Promise<Content> {
  const { status } = await api.snapshot();
  const { config, store } = api.base;
  const actions = await readActions(store, 20, url.searchParams.get('after') ?? undefined);
  const daemons = status.daemons.map(({ host, pid, version, since, adminPort }) => [
    html`${host}`,
    html`${String(pid)}`,
    html`${adminPort === undefined ? '–' : String(adminPort)}`,
    html`${version}`,
    html`${duration(status.now - since)}`,
  ]);
  const acts = actions.items.map(({ at, who, what, on, result }) => [
    timeText(at),
    html`${who}`,
    html`${what}`,
    html`${on}`,
    html`${result}`,
  ]);
  // Line by line, because a line feed within a text is shown as an escape.
  const lines = showConfig(config)
    .split('\n')
    .map((line) => html`${line}\n`);
  const state = noDelivery(status.daemons) ?? 'running';
  const body = html`<h1>Environment ${status.environment}</h1>
${facts([
  ['API', html`<code>${status.baseUrl}</code>`],
  ['Redis', status.redis.private ? 'private' : 'configured'],
  ['token', tokenText(status.token)],
  ['delivery', status.pauses.map(({ reason }) => reason).join('; ') || state],
])}
${mayOperate ? switchForm(status, back, confirm) : undefined}
<h2>Daemons</h2>
${daemons.length === 0 ? html`<p>None is running.</p>` : table('Daemons', ['host', 'process', 'admin port', 'version', 'running for'], daemons)}
<h2>What operators did</h2>

${acts.length === 0 ? html`<p>Nothing yet.</p>` : table('Actions', ['at', 'who', 'what', 'on', 'result'], acts)}
${nextLink(url, actions.next)}
<h2>Configuration</h2>
<p><code>${config.file}</code>, secrets redacted</p>
<pre tabindex="0">${lines}</pre>`;
  return { title: 'Environment', body };
}
