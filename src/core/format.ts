import type { Outcome } from '../order/outcome.ts';

const COUNT = new Intl.NumberFormat('en-US');

/** `5,000`. */
export function count(number: number): string {
  return COUNT.format(number);
}

/** `1 batch`, `5,000 batches`: a number with its noun. The plural defaults to the noun with an s. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `1 order`, `5,000 orders`. */
export function orders(number: number): string {
  return counted(number, 'order');
}

/** An outcome in words. */
export function outcomeWord(outcome: Outcome): string {
  return outcome === 'inDoubt' ? 'in doubt' : outcome;
}

/** What an outcome means, in a few words (docs/how-it-works.md, "What becomes of an order"). */
export const MEANINGS: Record<Outcome, string> = {
  accepted: 'created at the API',
  duplicate: 'already known with the same content; nothing sent',
  conflict: 'already known with different content',
  invalid: 'failed a check; never sent',
  refused: 'refused by the API; not sent again automatically',
  failed: 'attempts used up',
  inDoubt: 'may or may not exist at the API',
  cancelled: 'withdrawn; the API does not have it',
};

/** ISO 8601 in UTC, for data, from milliseconds since 1970. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** `2026-11-21 07:15:00 UTC` for milliseconds since 1970. */
export function stamp(at: number): string {
  return moment(iso(at));
}

/** `3 min 12 s ago`; both arguments in milliseconds. */
export function ago(at: number, now: number): string {
  return `${duration(Math.max(0, now - at))} ago`;
}

/** `2026-11-21 07:15:00 UTC` for an ISO 8601 timestamp; any other text unchanged. */
export function moment(stamp: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(stamp);
  return parts === null ? stamp : `${parts[1]} ${parts[2]} UTC`;
}

/** `07:15:00` for an ISO 8601 timestamp on the day of `reference`; with its date on another day. */
export function timeOfDay(stamp: string, reference: string): string {
  return stamp.slice(0, 10) === reference.slice(0, 10)
    ? moment(stamp).slice(11, 19)
    : moment(stamp).slice(0, 19);
}

/** `3 min 12 s` for milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return 'less than 1 s';
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = units.findIndex(([amount]) => amount > 0);
  return units
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}

/** `12.3 kB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), 4);
  return `${(bytes / 1000 ** power).toFixed(1)} ${['bytes', 'kB', 'MB', 'GB', 'TB'][power]}`;
}

/** The text without the stop at its end, for a sentence that continues after it. */
export function withoutStop(text: string): string {
  return text.replace(/[.;:,\s]+$/, '');
}

/** Clauses of one sentence. Those of others, such as the words of an API, may end with a stop. */
export function clauses(...texts: readonly string[]): string {
  return texts
    .map(withoutStop)
    .filter((text) => text !== '')
    .join('; ');
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that take two columns on a terminal. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text, cut to `places` columns at its start or end, with an ellipsis there. */
export function cutText(text: string, places: number, at: 'start' | 'end'): string {
  if (textWidth(text) <= places) return text;
  const segments = [...SEGMENTS.segment(text)].map(({ segment }) => segment);
  if (at === 'start') segments.reverse();
  let kept: string[] = [];
  let width = 1;
  for (const segment of segments) {
    width += textWidth(segment);
    if (width > places) break;
    kept.push(segment);
  }
  if (at === 'start') kept = kept.reverse();
  return at === 'start' ? `…${kept.join('')}` : `${kept.join('')}…`;
}
