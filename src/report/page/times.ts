import { moment, timeOfDay } from '../../core/format.ts';
import { type Html, html } from './html.ts';

/** A time on the page: UTC, until `TIME_SCRIPT` shows it in the reader's time zone with UTC on hover. */
export function timeText(stamp: string): Html {
  return html`<time datetime="${stamp}">${moment(stamp)}</time>`;
}

/** A time of the timeline, with its date only when it is not on the day of `reference`. */
export function shortTime(stamp: string, reference: string): Html {
  return html`<time datetime="${stamp}" data-day="${reference}">${timeOfDay(stamp, reference)}</time>`;
}

/** The name of the time zone in which `shortTime` is shown. */
export const ZONE: Html = html`<span data-zone>UTC</span>`;

/**
 * The page's only script. It changes only times and needs no network; the page is complete without it.
 * The page's policy allows it by its hash.
 */
export const TIME_SCRIPT = `
const two = (number) => String(number).padStart(2, '0');
const dayOf = (at) => at.getFullYear() + '-' + two(at.getMonth() + 1) + '-' + two(at.getDate());
const clockOf = (at) => two(at.getHours()) + ':' + two(at.getMinutes()) + ':' + two(at.getSeconds());
const zoneOf = (at) => new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(at).find((part) => part.type === 'timeZoneName').value;
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  const day = time.dataset.day;
  time.title = at.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
  if (day === undefined) time.textContent = dayOf(at) + ' ' + clockOf(at) + ' ' + zoneOf(at);
  else time.textContent = (dayOf(at) === dayOf(new Date(day)) ? '' : dayOf(at) + ' ') + clockOf(at);
}
for (const zone of document.querySelectorAll('[data-zone]')) {
  zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
}
`;
