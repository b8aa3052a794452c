import { counted, duration } from '../../core/format.ts';
import { isNetworkCode } from '../../core/network-error.ts';
import { asText } from '../../order/sentence.ts';
import { type Report, wasChanged } from '../report.ts';
import type { Story } from '../story.ts';
import { type Html, html, reportLink, timeText, visible } from './html.ts';

const MOST_PAUSES = 20;

type Stop = { at: string; text: string; paused?: true };

/** When the file was taken, when the first and last outcome were known, who cancelled it, and when and why delivery was paused. */
export function timelineSection(report: Report, story: Story): Html {
  const stops = stopsOf(report, story);
  const pauses = report.pauses.slice(0, MOST_PAUSES).map(stopOfPause);
  const hidden = report.pauses.length - pauses.length;
  const shown = [...stops, ...pauses].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return html`<section aria-labelledby="timeline">
<h2 id="timeline">Timeline</h2>
<ol class="stops">
${shown.map((stop) => html`<li class="${stop.paused ? 'pause' : 'stop'}">${timeText(stop.at)} ${stop.text}</li>`)}
${hidden > 0 ? html`<li>${counted(hidden, 'more pause')} in ${reportLink('report.json')}</li>` : undefined}
</ol>
</section>`;
}

function stopsOf(report: Report, story: Story): Stop[] {
  const stops: Stop[] = [{ at: report.startedAt, text: 'File taken' }];
  // Of a file that was read before, an outcome may be older than the file.
  if (story.firstAt !== undefined && Date.parse(story.firstAt) >= Date.parse(report.startedAt))
    stops.push({ at: story.firstAt, text: 'First outcome' });
  if (report.cancelledBy !== undefined)
    stops.push({
      at: report.cancelledBy.at,
      text: visible(`Cancelled by ${report.cancelledBy.who}`, 120),
    });
  const isUnread = report.state === 'unreadable' && !wasChanged(report);
  const last = `Last outcome${took(report.startedAt, report.finishedAt)}`;
  stops.push({ at: report.finishedAt, text: isUnread ? 'Found unreadable' : last });
  return stops;
}

function took(from: string, to: string): string {
  // The times are shown without their fractions of a second.
  const [start, end] = [from, to].map((at) => Math.floor(Date.parse(at) / 1000));
  return Date.parse(to) > Date.parse(from)
    ? `, after ${duration(((end ?? 0) - (start ?? 0)) * 1000)}`
    : '';
}

const AWAY: ReadonlySet<string> = new Set(['api-down', 'token-unavailable']);

function stopOfPause({ from, to, code, message }: Report['pauses'][number]): Stop {
  const open = 'until after the last outcome';
  const length = to === null ? open : `for ${duration(Date.parse(to) - Date.parse(from))}`;
  // Clerks cannot look at the servers: `status` and the log have the words of the network.
  const isAway = AWAY.has(code) || isNetworkCode(code);
  const why = isAway ? 'the order API gave no usable answer' : asText(message);
  return { at: from, text: visible(`Paused ${length}: ${why}`, 300), paused: true };
}
