import { count, duration, iso, plainReasons } from '../../core/format.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { SPAN, STEP } from '../pace/pace.ts';
import type { PaceSeries, PaceSummary } from '../pace/pace-series.ts';
import { badge, cell, link, table } from './parts.ts';

/** A plot. `series`: columns of `/api/v1/pace` with the name that the reader sees. */
type Plot = {
  title: string;
  series: readonly (readonly [column: string, name: string, color: string])[];
};

const PLOTS: readonly Plot[] = [
  {
    title: 'Orders per second',
    series: [
      ['acceptedPerSecond', 'accepted', 'good'],
      ['needPersonPerSecond', 'need a person', 'bad'],
    ],
  },
  {
    title: 'Answer time of the API, ms',
    series: [
      ['createP50Ms', 'median', 'link'],
      ['createP95Ms', '95th percentile', 'doubt'],
    ],
  },
  {
    title: 'Queue',
    series: [
      ['unsettled', 'orders not settled', 'link'],
      ['waitingJobs', 'jobs waiting', 'quiet'],
      ['inDoubt', 'orders being verified', 'doubt'],
    ],
  },
];

/** Minutes that the plots can show. */
const WINDOWS = [5, 15, 60];
const USUAL = 15;

/** Rows of the table of figures. */
const ROWS = 12;

/** The plots of the overview, the pauses of their time, and the same figures as a table, which needs no script. */
export function pacePart(series: PaceSeries, url: URL): Html {
  const asked = Number(url.searchParams.get('minutes'));
  const minutes = WINDOWS.includes(asked) ? asked : USUAL;
  const windows = WINDOWS.map((one) =>
    one === minutes
      ? html`<strong aria-current="true">${one} min</strong> `
      : html`${link(`/?minutes=${one}`, `${one} min`)} `,
  );
  const end = series.end();
  const from = end - minutes * 60_000;
  return html`<h2>The last ${minutes} minutes</h2>
<p class="windows">${windows}</p>
<div class="plots" hidden data-plots="/api/v1/pace" data-minutes="${minutes}">${PLOTS.map(plot)}</div>
${pausesPart(series, from)}
<details><summary>Figures as a table</summary>${figuresTable(series, from, end)}</details>`;
}

function plot({ title, series }: Plot): Html {
  return html`<figure data-series="${JSON.stringify(series)}"><figcaption>${title}</figcaption></figure>`;
}

function pausesPart(series: PaceSeries, from: number): Html {
  const rows = series
    .pauses()
    .filter(({ to }) => to === undefined || to >= from)
    .map((one) => [
      timeText(iso(one.from)),
      one.to === undefined ? badge('bad', 'not ended') : html`${duration(one.to - one.from)}`,
      html`${plainReasons(one)}`,
    ]);
  if (rows.length === 0) return html`<p>Delivery was not paused.</p>`;
  return table('Pauses of delivery', ['paused at', 'for', 'reason'], rows);
}

function figuresTable(series: PaceSeries, from: number, end: number): Html {
  const every = Math.max(STEP, (Math.min(end - from, SPAN) / ROWS) | 0);
  const rows = Array.from({ length: ROWS }, (_, i) => end - (i + 1) * every).map((at) => {
    const row = series.summary(at, at + every);
    return [timeText(iso(at)), ...(row === undefined ? EMPTY : figures(row))];
  });
  const titles = [
    'from',
    'accepted per s',
    'need a person per s',
    'median ms',
    '95% ms',
    'not settled',
    'being verified',
  ];
  return table('Figures', titles, rows);
}

const EMPTY = Array.from({ length: 6 }, () => html`–`);

function figures({
  acceptedPerSecond,
  needPersonPerSecond,
  p50,
  p95,
  unsettled,
  inDoubt,
}: PaceSummary): Html[] {
  return [acceptedPerSecond, needPersonPerSecond, p50, p95, unsettled, inDoubt].map((value) =>
    cell(value === undefined ? '–' : Math.round(value * 10) / 10),
  );
}

/** `live` and `pace`: where a script finds the current value, in the status and in the series. */
export type Figure = [
  name: string,
  value: string | number,
  from?: { live: string } | { pace: string },
];

/** Orders of long files wait unread: without them, the figure before looks like all that is left. */
export function unreadFigure(orders: number): Figure {
  return ['more not read yet (orders)', orders, { live: 'queue.unreadOrders' }];
}

/** A figure of the overview, which a script keeps current. */
export function figure([name, value, from]: Figure): Html {
  const shown = typeof value === 'number' ? count(value) : value;
  if (from === undefined) return html`<li data-fresh="${name}"><b>${shown}</b> ${name}</li>`;
  if ('live' in from) return html`<li><b data-live="${from.live}">${shown}</b> ${name}</li>`;
  return html`<li><b data-pace="${from.pace}">${shown}</b> ${name}</li>`;
}
