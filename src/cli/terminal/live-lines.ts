import { join } from 'node:path';
import {
  count,
  counted,
  cutText,
  duration,
  orders,
  outcomeWord,
  withoutStop,
} from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { PauseCause } from '../../ledger/pause-cause.ts';
import { neededPerson, standingOf } from '../../operate/batches/list-batches.ts';
import type { End } from '../../operate/daemon.ts';
import { OUTCOMES, type OutcomeCounts } from '../../order/outcome.ts';
import { asText } from '../../order/sentence.ts';
import { batchTable } from '../../views/batch.ts';
import { pauseEndText } from '../../views/pause.ts';
import type { Tone } from '../../views/view.ts';
import { pauseText } from '../../wording/pause.ts';
import { type Format, type Paint, printable } from './print.ts';
import { blockText } from './view-text.ts';

type ShownPause = PauseCause & Pick<Pause, 'since' | 'nextTryAt'>;

/** The current work. Times are milliseconds since 1970. */
export type LiveState = {
  now: number;
  pause: ShownPause | undefined;
  batches: readonly Batch[];
};

/** Further batches are only counted. */
const MOST_SHOWN = 8;

/** A line for a pause, and the batches in progress, none wider than the terminal. */
export function liveLines(
  { now, pause, batches }: LiveState,
  { paint, columns: width = 80 }: Format,
): string[] {
  // The last column stays free: some terminals start a new line after a full one.
  const columns = width - 1;
  const shown = batches.slice(0, MOST_SHOWN).map((batch) => {
    return { batch, standing: standingOf(batch), report: '' };
  });
  const more = batches.length - shown.length;
  const rest = more > 0 ? [`and ${count(more)} more; po-sync batches list`] : [];
  return [
    ...(pause === undefined ? [] : [paint('bad', cutText(pauseLine(pause, now), columns, 'end'))]),
    ...blockText(batchTable(shown, now), { paint, columns }).split('\n').slice(0, -1),
    ...rest.map((text) => paint('quiet', cutText(text, columns, 'end'))),
  ];
}

function pauseLine(pause: ShownPause, now: number): string {
  return `paused for ${duration(Math.max(0, now - pause.since))} (${pauseEndText(pause, now)}): ${printable(asText(pauseText(pause)))}`;
}

/** What remains for a finished batch: its outcomes and, below, its report. */
export function finalLine(batch: Batch, page: string, paint: Paint): string {
  const { total, counts, startedAt, lastAt } = batch;
  const end = (tone: Tone, sign: string, text: string) =>
    `${paint(tone, sign)} ${paint('strong', printable(batch.name))}  ${text}\n  ${printable(page)}\n`;
  if (total === undefined || batch.unreadable) {
    const sent = total === undefined ? 'nothing was sent' : `${orders(total)} admitted before`;
    return end('bad', '✗', `${paint('bad', 'unreadable')}, ${sent}`);
  }
  const needed = neededPerson(batch);
  const outcomes = OUTCOMES.filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${count(counts[outcome])} ${outcomeWord(outcome)}`)
    .join(', ');
  const result = `${orders(total)} in ${duration(lastAt - startedAt)}${outcomes && ': '}${outcomes}`;
  if (needed === 0) return end('good', '✓', result);
  return end('bad', '!', `${result}; ${paint('bad', neededText(needed))}`);
}

function neededText(needed: number): string {
  return `${count(needed)} ${needed === 1 ? 'needs' : 'need'} a person`;
}

/** A batch in the output of `start --once --json`. */
export type SettledBatch = {
  batch: string;
  source: string;
  file: string;
  orders: number;
  counts: OutcomeCounts;
  needPerson: number;
};

/** Why a run with `--once` ended, and what is left. `reason`: why a person must decide, or why delivery is paused; `reports`: their folder. */
export function endText(
  end: End,
  batches: readonly SettledBatch[],
  { reason, reports }: { reason: string | undefined; reports: string },
): string {
  const why = printable(withoutStop(reason ?? ''));
  const rest = 'The rest is kept; run po-sync status.\n';
  switch (end) {
    case 'done':
      if (batches.length > 0) return personText(batches, reports);
      return `No files to process${why === '' ? '' : `, and nothing can be sent now: delivery is ${why}`}.\n`;
    case 'held':
      return `A person must decide: ${why || 'a batch is held'}. ${rest}${personText(batches, reports)}`;
    case 'waited':
      return `The maximum wait is over${why === '' ? '' : `; delivery is ${why}`}. ${rest}${personText(batches, reports)}`;
    case 'interrupted':
      return 'Interrupted. The rest is kept.\n';
  }
}

/** Files named among those that need a person. */
const NAMED = 3;

/** Which files need a person, and where their reports are; empty for none. */
export function personText(batches: readonly SettledBatch[], reports: string): string {
  const open = batches.filter(({ needPerson }) => needPerson > 0);
  if (open.length === 0) return '';
  const named = open.slice(0, NAMED).map(({ file, batch, orders: all, needPerson }) => {
    const what = all === 0 ? 'unreadable' : orders(needPerson);
    return `${printable(file)}: ${what}, batch ${batch.slice(-8)}`;
  });
  const more = open.length > NAMED ? [`${open.length - NAMED} more`] : [];
  const which = [...named, ...more].join('; ');
  const report = open[1]
    ? 'the reports'
    : printable(join(reports, open[0]?.batch ?? '', 'report.html'));
  return `${counted(open.length, 'file needs', 'files need')} a person (${which}): open ${report}, or run po-sync batches list --open.\n`;
}
