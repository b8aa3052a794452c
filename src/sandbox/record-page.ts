import type { Exchange } from './exchanges.ts';

/** What happened to one order number; times in milliseconds since 1970. */
export type OrderRecord = { received: number[]; stored: number[]; faults: string[] };

/** What the page shows. */
export type RecordView = {
  environment: string;
  counters: Readonly<Record<string, number>>;
  statuses: Readonly<Record<string, number>>;
  orders: ReadonlyMap<string, OrderRecord>;
  exchanges: readonly Exchange[];
};

/** Maximum number of order numbers on the page; the JSON has all of them. */
const ORDERS = 200;
/** Pause between two refreshes, in milliseconds. */
const REFRESH = 2000;

/** The record of a sandbox as a self-contained page, which loads itself again and keeps open what a reader opened. */
export function recordPage(view: RecordView): string {
  const title = `Sandbox ${escaped(view.environment)}`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style>
<noscript><meta http-equiv="refresh" content="${REFRESH / 1000}"></noscript>
<main><h1>${title}</h1><p>${counts(view.counters)}<br>${counts(view.statuses)}</p>
${ordersTable(view.orders)}<h2>Last calls</h2>${view.exchanges.map(exchangeDetails).join('') || '<p>None yet.</p>'}</main>
<script>${SCRIPT}</script></html>`;
}

function counts(named: Readonly<Record<string, number>>): string {
  return Object.entries(named)
    .map(([name, count]) => `${escaped(name)}: <b>${count}</b>`)
    .join(' · ');
}

function ordersTable(orders: ReadonlyMap<string, OrderRecord>): string {
  const shown = [...orders].slice(-ORDERS).reverse();
  const rows = shown.map(([number, { received, stored, faults }]) => {
    const name = number === '' ? '(no number)' : escaped(number);
    const link =
      number === '' ? name : `<a href="/rehearsal/orders/${encoded(number)}">${name}</a>`;
    const twice = stored.length > 1 ? ' class="twice"' : '';
    const times = stored.map((at) => new Date(at).toISOString()).join('<br>');
    return `<tr${twice}><td>${link}<td>${received.length}<td>${times || '–'}<td>${faults.map(escaped).join(', ')}`;
  });
  const count = orders.size > ORDERS ? `, the last ${ORDERS} of ${orders.size}` : '';
  return `<h2>Orders by number${count}</h2><table><tr><th>Number<th>Received<th>Created at<th>Faults${rows.join('')}</table>`;
}

function exchangeDetails({ nr, at, durationMs, from, request, response }: Exchange): string {
  const status = response.status === 0 ? 'no answer' : String(response.status);
  const kind = response.status >= 200 && response.status < 400 ? 'good' : 'bad';
  const head = `${new Date(at).toISOString()} ${escaped(request.method)} ${escaped(request.target)}`;
  return `<details id="call-${nr}"><summary>${head} <b class="${kind}">${status}</b> ${durationMs.toFixed(1)} ms</summary>
<p>From ${escaped(from)}</p><pre>${message(request.headers, request.body)}</pre>${answer(response)}</details>`;
}

function answer({ status, headers, body }: Exchange['response']): string {
  return status === 0 ? '<p>No answer.</p>' : `<pre>${message(headers, body)}</pre>`;
}

function message(headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return escaped([...lines, '', body].join('\n'));
}

function encoded(number: string): string {
  return encodeURIComponent(number.toWellFormed());
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:14px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}' +
  'table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0}th{white-space:nowrap}' +
  'pre{background:light-dark(#f4f4f4,#222);padding:.5rem;white-space:pre-wrap}' +
  'summary{cursor:pointer}.good{color:light-dark(#060,#7c7)}.bad,.twice td{color:light-dark(#a00,#f88)}';

/** An unchanged page stays, with its selection; a new one keeps what is open and the focus of the keyboard. */
const SCRIPT = `let seen;
setInterval(async () => {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  if (!answer?.ok) return;
  const text = await answer.text();
  if (text === seen) return;
  seen = text;
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  const focused = document.activeElement.closest('details')?.id;
  for (const open of document.querySelectorAll('details[open]')) fresh.querySelector('#' + open.id)?.setAttribute('open', '');
  document.querySelector('main').replaceWith(fresh);
  if (focused) document.getElementById(focused)?.querySelector('summary').focus();
}, ${REFRESH});`;
