import { count, iso } from '../../core/format.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import type { Hour } from '../picture/hours.ts';
import { cell, link, table } from './parts.ts';

/** Width and height of a plot, and room for the hour of a bar. */
const [WIDTH, HEIGHT] = [480, 110];

/** Days that the picture can show. */
const SPANS = [
  ['day', 1],
  ['week', 7],
] as const;

/** Hours that the picture of an address shows. */
export function hoursIn({ searchParams }: URL): number {
  return searchParams.get('picture') === 'week' ? 168 : 24;
}

/** Orders an hour by outcome and answer times, as pictures and as a table. */
export function picturePart(hours: readonly Hour[]): Html {
  const days = hours.length / 24;
  const spans = SPANS.map(([name, long]) =>
    long === days
      ? html`<strong aria-current="true">${name}</strong> `
      : html`${link(`/?picture=${name}`, name)} `,
  );
  const busy = hours.filter((one) => one.accepted + one.needPerson > 0 || one.median !== undefined);
  const rows = busy
    .toReversed()
    .map(({ at, accepted, needPerson, median, slowest }) => [
      timeText(iso(at)),
      cell(accepted),
      cell(needPerson),
      cell(median ?? '–'),
      cell(slowest ?? '–'),
    ]);
  const titles = ['hour', 'accepted', 'need a person', 'median ms', '95% ms'];
  return html`<h2>The last ${days === 1 ? 'day' : 'week'}</h2>
<p class="windows">${spans}</p>
${
  rows.length === 0
    ? html`<p>Nothing was sent.</p>`
    : html`<div class="plots">${ordersPlot(hours)}${answersPlot(hours)}</div>
<details><summary>As a table</summary>${table('Hours', titles, rows)}</details>`
}`;
}

function ordersPlot(hours: readonly Hour[]): Html {
  const most = Math.max(1, ...hours.map(({ accepted, needPerson }) => accepted + needPerson));
  const [wide, high] = [WIDTH / hours.length, HEIGHT / most];
  const bars = hours.map(({ accepted, needPerson }, i) => {
    const bar = (from: number, orders: number, tone: string) =>
      orders === 0
        ? html``
        : html`<rect class="${tone}" x="${(i * wide).toFixed(1)}" width="${(wide * 0.8).toFixed(1)}" y="${(HEIGHT - (from + orders) * high).toFixed(1)}" height="${Math.max(1, orders * high).toFixed(1)}"/>`;
    return html`${bar(0, accepted, 'good')}${bar(accepted, needPerson, 'bad')}`;
  });
  const sum = (of: 'accepted' | 'needPerson') =>
    count(hours.reduce((all, one) => all + one[of], 0));
  const text = `Orders an hour, at most ${count(most)}: ${sum('accepted')} accepted, ${sum('needPerson')} need a person`;
  return plot(text, bars);
}

function answersPlot(hours: readonly Hour[]): Html | undefined {
  const most = Math.max(0, ...hours.map(({ slowest = 0 }) => slowest));
  if (most === 0) return undefined;
  const line = (of: 'median' | 'slowest', tone: string) => {
    const points = hours.flatMap((one, i) => {
      const x = ((i + 0.4) * WIDTH) / hours.length;
      const y = HEIGHT - ((one[of] ?? 0) * HEIGHT) / most;
      return one[of] === undefined ? [] : [`${x.toFixed(1)},${y.toFixed(1)}`];
    });
    const dots = points.map((point) => {
      const [x = '', y = ''] = point.split(',');
      return html`<circle class="${tone}" cx="${x}" cy="${y}" r="2"/>`;
    });
    return html`<polyline class="${tone}" points="${points.join(' ')}"/>${dots}`;
  };
  const text = `Answer time of the API, at most ${count(most)} ms: median, and slowest 5%`;
  return plot(text, [line('slowest', 'doubt'), line('median', 'link')]);
}

function plot(text: string, shapes: readonly Html[]): Html {
  return html`<figure><figcaption>${text}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${text}">${shapes}</svg></figure>`;
}
