// Draws the plots of the overview and keeps them moving while the page is seen. The table below has the same figures.

// oxlint-disable-next-line import/default -- its types export it in the older form
import UPlot from '/assets/uplot.js';

/** Milliseconds between two readings; the length of a step of the series. */
const PAUSE = 5_000;
/** Steps that are read again, because a daemon may have added to them. */
const AGAIN = 3;
const HEIGHT = 180;

/** @typedef {{ code: string, reason: string, from: string, to: string | null }} Pause */
/** @typedef {Record<string, (number | null)[]> & { at: number[] }} Columns */
/** @typedef {{ figure: HTMLElement, plot: UPlot, columns: string[] }} Drawn */

const holder = document.querySelector('[data-plots]');
const figures = [...(holder?.querySelectorAll('figure') ?? [])];
const minutes = Number(holder?.getAttribute('data-minutes'));

/** @type {Columns} */
let series = { at: [] };
/** @type {Pause[]} */
let pauses = [];
/** @type {Drawn[]} */
let drawn = [];
/** Seconds, by the clock of the series. */
let now = Date.now() / 1_000;

/** A color of the style sheet, which differs between the themes. @param {string} name */
const color = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Shades the time in which delivery was paused. @param {UPlot} plot */
function shadePauses({ ctx, bbox, valToPos, scales }) {
  const [min = 0, max = 0] = [scales.x?.min, scales.x?.max];
  ctx.save();
  ctx.fillStyle = color('bad');
  ctx.globalAlpha = 0.16;
  for (const { from, to } of pauses) {
    const begin = Math.max(min, Date.parse(from) / 1_000);
    const end = Math.min(max, to === null ? max : Date.parse(to) / 1_000);
    if (end <= begin) continue;
    const x = valToPos(begin, 'x', true);
    ctx.fillRect(x, bbox.top, Math.max(2, valToPos(end, 'x', true) - x), bbox.height);
  }
  ctx.restore();
}

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact' });

/** @param {number | null | undefined} value */
const shown = (value) => (value === null || value === undefined ? '–' : numbers.format(value));

/** Values without a neighbor: no line shows them. @param {ArrayLike<number | null | undefined>} values */
function alone(values) {
  const is = (/** @type {number} */ at) => values[at] !== null && values[at] !== undefined;
  return Array.from(values, (_, at) => at).filter((at) => is(at) && !is(at - 1) && !is(at + 1));
}

/** @param {HTMLElement} figure @returns {Drawn} */
function draw(figure) {
  /** @type {[column: string, name: string, color: string][]} */
  const lines = JSON.parse(figure.dataset['series'] ?? '[]');
  const axis = {
    stroke: color('quiet'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { stroke: color('line') },
  };
  const times = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const clock = new Intl.DateTimeFormat(
    undefined,
    /** @type {Intl.DateTimeFormatOptions} */ (times),
  );
  const exact = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
  const plot = new UPlot(
    {
      width: figure.clientWidth,
      height: HEIGHT,
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: { time: true, range: () => [now - minutes * 60, now] },
        y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.1)] },
      },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((at) => clock.format(at * 1_000)) },
        { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => compact.format(tick)) },
      ],
      series: [
        { label: 'at', value: (_, at) => (at === null ? '–' : exact.format(at * 1_000)) },
        ...lines.map(([, label, name], i) => ({
          label,
          stroke: color(name),
          width: 2,
          points: {
            size: 5,
            filter: (/** @type {UPlot} */ plot, /** @type {number} */ line) =>
              alone(plot.data[line] ?? []),
          },
          // Not only the color tells the lines apart.
          ...(i === 0 ? { fill: `${color(name)}22` } : { dash: i === 1 ? [6, 3] : [2, 3] }),
          /** @param {UPlot} _ @param {number | null} value */
          value: (_, value) => shown(value),
        })),
      ],
      hooks: { drawClear: [shadePauses] },
    },
    [[], ...lines.map(() => [])],
    figure,
  );
  const canvas = plot.root.querySelector('canvas');
  canvas?.setAttribute('role', 'img');
  return { figure, plot, columns: lines.map(([column]) => column) };
}

function drawAll() {
  for (const { plot } of drawn) plot.destroy();
  drawn = figures.map(draw);
  show();
}

function show() {
  for (const { figure, plot, columns } of drawn) {
    plot.setData(
      /** @type {any} */ ([series.at, ...columns.map((column) => series[column] ?? [])]),
    );
    const title = figure.querySelector('figcaption')?.textContent ?? '';
    const last = columns
      .map((column) => shown(series[column]?.findLast((value) => value !== null)))
      .join(' and ');
    plot.root.querySelector('canvas')?.setAttribute('aria-label', `${title}: ${last} at the end`);
  }
}

async function refresh() {
  const known = series.at.at(-AGAIN);
  const after = known === undefined ? '' : `?after=${new Date(known * 1_000).toISOString()}`;
  const answer = await fetch(`/api/v1/pace${after}`);
  if (!answer.ok) return;
  const { pauses: found, asOf, lastMinute, ...columns } = await answer.json();
  pauses = found;
  now = Date.parse(asOf) / 1_000;
  for (const element of document.querySelectorAll('[data-pace]')) {
    element.textContent = shown(lastMinute[element.getAttribute('data-pace') ?? '']);
  }
  const kept = series.at.indexOf(columns.at[0]);
  const from = series.at.findIndex((at) => at > now - 3_700);
  series =
    known === undefined || kept < 0 ? columns : joined(series, columns, Math.max(0, from), kept);
  show();
}

/** The steps from `from` to `to` of a series, and then another. @param {Columns} before @param {Columns} after @param {number} from @param {number} to @returns {Columns} */
function joined(before, after, from, to) {
  const names = Object.keys(before).filter((name) => Array.isArray(after[name]));
  const entries = names.map((name) => [
    name,
    [...(before[name] ?? []).slice(from, to), ...(after[name] ?? [])],
  ]);
  return Object.fromEntries(entries);
}

/** @param {() => void} then */
function onThemeChange(then) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', then);
}

if (figures.length > 0) {
  // Without this script there is nothing to see.
  holder?.removeAttribute('hidden');
  drawAll();
  refresh().catch(() => undefined);
  onThemeChange(drawAll);
  new ResizeObserver(() => {
    for (const { figure, plot } of drawn)
      plot.setSize({ width: figure.clientWidth, height: HEIGHT });
  }).observe(figures[0] ?? document.body);
  setInterval(() => {
    if (!document.hidden) refresh().catch(() => undefined);
  }, PAUSE);
  // The time of a page that was hidden goes on.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) refresh().catch(() => undefined);
  });
}
