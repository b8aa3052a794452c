import { OPERATOR, type Pause } from '../deliver/gate.ts';
import type { Batch } from '../ledger/batches.ts';
import { neededPerson, settledIn, standingOf } from '../operate/list-batches.ts';
import { OUTCOMES } from '../order/outcome.ts';
import { count, duration, orders, outcomeWord } from '../report/page/wording.ts';
import type { Paint, Tone } from './paint.ts';
import { printable } from './printable.ts';
import { cutText, textWidth } from './text-width.ts';

/** What goes on; times are milliseconds since 1970. `pace` is orders a second, undefined while unknown. */
export type LiveState = {
  now: number;
  pause: Pause | undefined;
  batches: readonly { batch: Batch; pace: number | undefined }[];
};

type Format = { paint: Paint; columns: number };
type Part = { tone: Tone; text: string };

/** More batches than these are only counted. */
const MOST_SHOWN = 8;
const MOST_NAME = 32;
const BAR = { least: 8, most: 24 };

/** One line for a pause, one for each batch under way, none wider than the terminal. */
export function liveLines({ now, pause, batches }: LiveState, format: Format): string[] {
  const shown = batches.slice(0, MOST_SHOWN);
  const widest = Math.max(0, ...shown.map(({ batch }) => textWidth(printable(batch.name))));
  const name = Math.min(widest, MOST_NAME, Math.floor(format.columns / 3));
  const lines = shown.map((one) => batchParts({ ...one, name, columns: format.columns, paused: pause !== undefined }));
  const more = batches.length - shown.length;
  return [
    ...(pause === undefined ? [] : [pauseParts(pause, now)]),
    ...lines,
    ...(more === 0 ? [] : [[{ tone: 'quiet' as const, text: `and ${count(more)} more; po-sync batches list` }]]),
  ].map((parts) => fitted(parts, format));
}

function pauseParts({ code, reason, since }: Pause, now: number): Part[] {
  const end = code === OPERATOR ? 'po-sync resume ends it' : 'goes on by itself';
  return [
    { tone: 'bad', text: 'paused' },
    { tone: 'plain', text: `for ${duration(Math.max(0, now - since))}, ${end}: ${printable(reason)}` },
  ];
}

type Line = { batch: Batch; pace: number | undefined; name: number; columns: number; paused: boolean };

function batchParts({ batch, pace, name, columns, paused }: Line): Part[] {
  const title = cutText(printable(batch.name), name, 'end');
  const head: Part = { tone: 'strong', text: title + ' '.repeat(name - textWidth(title)) };
  const needed = neededPerson(batch);
  const facts: Part[] = [
    ...standing(batch),
    ...(batch.held || paused ? [] : speed(batch, pace)),
    ...(needed === 0
      ? []
      : [{ tone: 'bad' as const, text: `${count(needed)} need${needed === 1 ? 's' : ''} a person` }]),
  ];
  const free = columns - 1 - [head, ...facts].reduce((sum, { text }) => sum + textWidth(text) + 2, 0);
  const bar =
    batch.total === undefined || free < BAR.least ? [] : [barOf(batch, batch.total, Math.min(free, BAR.most))];
  return [head, ...bar, ...facts];
}

function standing(batch: Batch): Part[] {
  const settled = settledIn(batch);
  const parts: Part[] =
    batch.total === undefined
      ? [{ tone: 'plain', text: settled === 0 ? 'reading' : `reading, ${count(settled)} done` }]
      : [
          { tone: 'plain', text: `${Math.floor(share(settled, batch.total) * 100)}%`.padStart(4) },
          { tone: 'plain', text: `${count(settled)}/${count(batch.total)}` },
        ];
  if (batch.cancelled) parts.push({ tone: 'doubtful', text: 'cancelled' });
  if (standingOf(batch) === 'held') parts.push({ tone: 'bad', text: `held: ${printable(batch.held?.reason ?? '')}` });
  return parts;
}

function speed(batch: Batch, pace: number | undefined): Part[] {
  if (pace === undefined) return [];
  const rate: Part = {
    tone: 'quiet',
    text: pace >= 1 ? `${count(Math.round(pace))}/s` : `${count(Math.round(pace * 60))}/min`,
  };
  if (pace === 0 || batch.total === undefined) return [rate];
  const left = ((batch.total - settledIn(batch)) * 1000) / pace;
  return [rate, { tone: 'quiet', text: `${duration(left)} left` }];
}

function barOf(batch: Batch, total: number, width: number): Part {
  const filled = Math.floor(share(settledIn(batch), total) * width);
  return { tone: batch.held ? 'bad' : 'good', text: '█'.repeat(filled) + '░'.repeat(width - filled) };
}

function share(settled: number, total: number): number {
  return total === 0 ? 1 : Math.min(1, settled / total);
}

/** One place stays free: a full line makes some terminals begin the next. */
function fitted(parts: readonly Part[], { paint, columns }: Format): string {
  let left = columns - 1;
  const texts: string[] = [];
  for (const { tone, text } of parts) {
    if (left < 4) break;
    const cut = cutText(text, left, 'end');
    texts.push(paint(tone, cut));
    left -= textWidth(cut) + 2;
  }
  return texts.join('  ');
}

/** What became of a batch that is done: outcomes and where the report is, in a line that stays. */
export function finalLine(batch: Batch, page: string, paint: Paint): string {
  const { total, counts, startedAt, lastAt } = batch;
  const name = paint('strong', printable(batch.name));
  if (total === undefined) {
    return `${paint('bad', '✗')} ${name}  ${paint('bad', 'unreadable')}, nothing of it was sent  ${printable(page)}\n`;
  }
  const needed = neededPerson(batch);
  const became = OUTCOMES.filter((outcome) => counts[outcome] > 0).map(
    (outcome) => `${count(counts[outcome])} ${outcomeWord(outcome)}`,
  );
  const told = [
    `${orders(total)} in ${duration(lastAt - startedAt)}`,
    ...(total === 0 ? [] : [became.join(', ')]),
  ].join(': ');
  const call = needed === 0 ? '' : `; ${paint('bad', `${count(needed)} ${needed === 1 ? 'needs' : 'need'} a person`)}`;
  return `${needed === 0 ? paint('good', '✓') : paint('bad', '!')} ${name}  ${told}${call}  ${printable(page)}\n`;
}
