import { createHash } from 'node:crypto';
import { count, orders, size } from '../../core/format.ts';
import { formatText } from '../../order/batch.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import { isTooLate, OUTCOMES } from '../../order/outcome.ts';
import { isCancelled, type Report, wasChanged } from '../report.ts';
import { shownBeforeTexts } from '../results.ts';
import { allNameless, broughtOf, elsewhereOf, openText, type Story } from '../story.ts';
import {
  broughtText,
  countsSection,
  wentOutText,
  whereTheyWait,
  withPageLink,
} from './counts-section.ts';
import { errorsSection } from './errors-section.ts';
import {
  batchMark,
  type Html,
  html,
  localTimes,
  reportLink,
  TIME_SCRIPT,
  timeText,
  visible,
} from './html.ts';
import { nextSection } from './next-section.ts';
import { PAGE_STYLE } from './page-style.ts';
import { timelineSection } from './timeline-section.ts';

export type PageFacts = {
  report: Report;
  story: Story;
  /** The names of the fix files in the report's folder; empty when there is none. */
  fixFiles: readonly string[];
};

/**
 * `report.html`: the report for people, one page that needs no other file. Its size is bounded, independent of the
 * number of orders; every text of the file or the API is escaped.
 */
export function reportPage({ report, story, fixFiles }: PageFacts): string {
  const policy = `default-src 'none'; style-src '${hashOf(PAGE_STYLE)}'; script-src '${hashOf(TIME_SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${{ markup: policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
${batchMark(report.batch)}
<title>${report.file} · po-sync report</title>
<style>${{ markup: PAGE_STYLE }}</style>
</head>
<body>
<main>
${heading(report, story)}
${countsSection(report, story)}
${nextSection(report, story, fixFiles)}
${warnings(report)}
${errorsSection(story, report.finishedAt !== null)}
${timelineSection(report, story)}
${particulars(report, story)}
</main>
<script>${{ markup: TIME_SCRIPT }}</script>
</body>
</html>
`.markup;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function heading(report: Report, story: Story): Html {
  const { mood, verdict, lead } = verdictOf(report, story);
  return html`<header class="${mood}">
<p class="where"><span>po-sync</span> <b class="environment">${report.environment}</b></p>
<h1>${verdict}</h1>
<p class="lead"><b><bdi>${visible(report.file, 120)}</bdi></b> from <bdi>${visible(report.source, 120)}</bdi>, taken ${timeText(report.startedAt)}.${lead === '' ? '' : html` ${withPageLink(lead, report)}`}</p>${wentOut(report)}
${whyItWaits(report)}${problem(report)}
</header>`;
}

function wentOut(report: Report): Html | undefined {
  const text = report.state === 'finished' ? wentOutText(report) : '';
  return text === '' ? undefined : html`\n<p class="lead"><b>${text}</b></p>`;
}

function whyItWaits({ waits }: Report): Html | undefined {
  if (waits === undefined) return undefined;
  return html`<p class="problem">${visible(waits.message, 500)} <span class="soft">Waits since ${timeText(waits.since)}.</span></p>`;
}

function problem({ error }: Report): Html | undefined {
  if (error === undefined) return undefined;
  const place = [
    error.line === undefined ? '' : `line ${count(error.line)}`,
    error.column === undefined ? '' : `column ${count(error.column)}`,
  ].filter((part) => part !== '');
  return html`<p class="problem">${error.message} <span class="soft"><code>${error.code}</code>${place.length === 0 ? '' : ` · ${place.join(', ')}`}</span>${error.text === undefined ? undefined : html`<code class="line">${visible(error.text, 200)}</code>`}</p>`;
}

function warnings(report: Report): Html | undefined {
  if (report.warnings.length === 0) return undefined;
  const shown = report.warnings.slice(0, 50);
  return html`<section aria-labelledby="warnings">
<h2 id="warnings">Warnings</h2>
<ul>${shown.map((warning) => html`<li>${localTimes(visible(warning, 500))}</li>`)}</ul>
</section>`;
}

function particulars(report: Report, story: Story): Html {
  const nameless = allNameless(story);
  const { format, counts, finishedAt } = report;
  const facts: [string, Html | string][] = [
    ['Batch', report.batch],
    ['State', report.state],
    ['Rows', count(counts.records)],
    ['Orders', count(Math.max(counts.orders - nameless, 0))],
    ...(nameless === 0
      ? []
      : [['Rows without an order number', count(nameless)] as [string, string]]),
    ['Finished', finishedAt === null ? 'not yet' : timeText(finishedAt)],
    ['Format', format === null ? 'unknown' : formatText(format)],
    ['Size', size(report.bytes)],
    ['SHA-256', report.sha256],
  ];
  return html`<footer aria-label="Particulars"><dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${finishedAt === null ? undefined : whereListed(counts.orders, story)}</footer>`;
}

/** A batch whose file was gone when its report was written has the results of those orders that the ledger knows. */
function whereListed(all: number, { listed }: Story): Html | undefined {
  if (all === 0) return undefined;
  if (listed === 0)
    return html`<p>No order of this file is listed in ${reportLink('results.csv')}.</p>`;
  const which = listed < all ? `${count(listed)} of ${orders(all)}` : 'All orders';
  return html`<p>${which} with their outcomes: ${reportLink('results.csv')} in the folder of reports, or the page of this file in the dashboard.</p>`;
}

/** The first line of the page and the sentence below it. `mood` sets its color. */
type Verdict = { mood: 'well' | 'care' | 'neutral'; verdict: string; lead: string };

/** The state of the batch in one line. */
function verdictOf(report: Report, story: Story): Verdict {
  switch (report.state) {
    case 'unreadable':
      return {
        mood: unreadableMood(report, story),
        verdict: wasChanged(report)
          ? 'This file was changed after it was read'
          : 'This file could not be read',
        lead: unreadableLead(report),
      };
    case 'waiting':
      return {
        mood: 'care',
        verdict: 'This file waits',
        lead: `A person must release or cancel it. ${soFar(report)}`,
      };
    case 'running':
      return { mood: 'neutral', verdict: 'This batch is in progress', lead: soFar(report) };
    case 'finished':
      return finishedVerdict(report, story);
  }
}

function outcomesIn({ counts }: Report): number {
  return OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
}

function unreadableMood({ replacedBy, removedAt }: Report, { open }: Story): Verdict['mood'] {
  if (open > 0) return 'care';
  if (replacedBy !== undefined) return 'well';
  return removedAt === undefined ? 'care' : 'neutral';
}

function unreadableLead(report: Report): string {
  const done = outcomesIn(report);
  if (report.replacedBy !== undefined)
    return `A later file of this name was read in batch ${report.replacedBy}.`;
  const removed =
    report.removedAt === undefined
      ? ''
      : ' The file was removed since: nobody has to do anything here.';
  if (done === 0) return `No orders were sent.${removed}`;
  return `${orders(done)} had ${done === 1 ? 'its' : 'their'} outcome before that; the rest was not sent.${removed}`;
}

/** The progress; the total is unknown while the file is read. */
function soFar(report: Report): string {
  const done = outcomesIn(report);
  const { orders: total } = report.counts;
  if (total > 0) return `${count(done)} of ${orders(total)} have an outcome.`;
  return done > 0
    ? `${orders(done)} have an outcome; the file is still being read.`
    : 'The file is being read.';
}

function finishedVerdict(report: Report, story: Story): Verdict {
  const { orders: total, accepted, cancelled } = report.counts;
  const waiting = elsewhereOf(story);
  const open = story.open + (waiting?.orders ?? 0);
  const brought = broughtOf(story).count;
  if (open > 0) {
    const verdict = verdictOfOpen(
      open,
      story.nameless + (waiting?.nameless ?? 0),
      total - allNameless(story),
    );
    const late =
      isCancelled(report) && isTooLate(report.counts) ? 'The file was cancelled too late.' : '';
    const leads = [
      doneText(total - open - brought - cancelled, cancelled),
      late,
      withdrawnText(report, story),
    ];
    leads.push(broughtText(story));
    if (waiting) leads.push(whereTheyWait(waiting));
    return { mood: 'care', verdict, lead: leads.join(' ').replace(/ +/g, ' ').trim() };
  }
  if (brought > 0)
    return { mood: 'neutral', verdict: 'Nothing needs you now', lead: broughtText(story) };
  if (total === 0) return { mood: 'neutral', verdict: 'This file has no orders', lead: '' };
  if (accepted === total && !isCancelled(report)) {
    const verdict = total === 1 ? 'The order was accepted' : `All ${orders(total)} were accepted`;
    return { mood: 'well', verdict, lead: '' };
  }
  if (story.shownBefore.waiting > 0) {
    const lead = [...shownBeforeTexts(story.shownBefore), withdrawnText(report, story)]
      .join(' ')
      .trim();
    return { mood: 'neutral', verdict: 'Nothing new needs you', lead };
  }
  const lead =
    story.groups.size > 0 ? 'Every order that needed a person has been settled since.' : '';
  const settled = `${lead} ${withdrawnText(report, story)}`.trim();
  // Green would say that all is as if the file had not been dropped.
  if (isCancelled(report) && accepted > 0)
    return { mood: 'neutral', verdict: cancelledVerdict(report), lead: settled };
  return { mood: 'well', verdict: 'Nothing here needs you', lead: settled };
}

/** `others`: neither open nor cancelled. */
function doneText(others: number, cancelled: number): string {
  if (others <= 0) return '';
  if (cancelled > 0) return `${orders(others)} ${others === 1 ? 'is' : 'are'} done.`;
  return others === 1 ? 'The other order is done.' : 'The others are done.';
}

/** The first line of the page of a cancelled file of which orders were accepted. */
function cancelledVerdict({ counts }: Report): string {
  const { orders: total, accepted } = counts;
  const when = isTooLate(counts) ? 'Cancelled too late' : 'Partly cancelled';
  const all = accepted === total && total > 1 ? 'all ' : '';
  return `${when}: ${all}${orders(accepted)} ${accepted === 1 ? 'was' : 'were'} accepted`;
}

/** Withdrawn orders are in no fix file. Later files may have sent them, which this page may not know. */
function withdrawnText(report: Report, { sentElsewhere: sent }: Story): string {
  const { accepted, cancelled } = report.counts;
  if (!isCancelled(report)) return '';
  return [sentText(accepted), cancelled === 0 ? '' : restText(report, sent)].join(' ').trim();
}

/** Nobody who cancelled a wrong file should think that all of it was withdrawn. */
function sentText(accepted: number): string {
  if (accepted === 0) return '';
  const [was, them, their] =
    accepted === 1 ? ['was', 'it is', 'its'] : ['were', 'they are', 'their'];
  return `${orders(accepted)} of this file ${was} accepted, and po-sync cannot withdraw ${accepted === 1 ? 'it' : 'them'}, because the order API cannot do it: if ${them} wrong, inform the supplier. The page of this file in the dashboard has a download with ${their} articles and quantities.`;
}

function restText({ counts: { cancelled }, isExport }: Report, sent: number): string {
  const was = (number: number) => (number === 1 ? 'was' : 'were');
  const what = `${orders(cancelled)} ${was(cancelled)} withdrawn, and this file did not send ${cancelled === 1 ? 'it' : 'them'}.`;
  const rest = cancelled - sent;
  if (rest <= 0)
    return `${what} ${cancelled === 1 ? 'It was' : 'All were'} accepted in another file.`;
  const known = sent === 0 ? '' : ` ${count(sent)} ${was(sent)} accepted in another file.`;
  const [which, them] =
    sent > 0
      ? ['the others', 'they are']
      : cancelled === 1
        ? ['it', 'it is']
        : ['them', 'they are'];
  return `${what}${known} ${isExport ? CANCELLED_IN_EXPORT : `To send ${which}, correct the complete file and drop it again, unless ${them} in another file already.`} No order is sent twice.`;
}

/** `total`: without the rows that have no number, which are not counted as orders: several may belong to one. */
function verdictOfOpen(open: number, nameless: number, total: number): string {
  if (nameless > 0) return `${openText(open, nameless)} ${open === 1 ? 'needs' : 'need'} you`;
  if (open === total) return total === 1 ? 'The order needs you' : `All ${orders(total)} need you`;
  return `${count(open)} of ${orders(total)} ${open === 1 ? 'needs' : 'need'} you`;
}
