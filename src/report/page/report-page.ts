import { count, orders, size } from '../../core/format.ts';
import { formatText } from '../../order/batch.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import { cancelledWord, countSettled } from '../../order/outcome.ts';
import { type Report, wasChanged } from '../report.ts';
import { waitingTexts } from '../results.ts';
import { allNameless, openText, type Story } from '../story.ts';
import { countsSection } from './counts-section.ts';
import { errorsSection } from './errors-section.ts';
import { framed } from './frame.ts';
import { type Html, html, type PageLinks, reportLink, timeText, visible } from './html.ts';
import { nextSection } from './next-section.ts';
import { timelineSection } from './timeline-section.ts';

/** `hasFix`: the report's folder has a fix file. */
type PageFacts = PageLinks & { report: Report; story: Story; hasFix: boolean };

/**
 * `report.html`: the report for people, one page that needs no other file. Its size is bounded, independent of the
 * number of orders; every text of the file or the API is escaped.
 */
export function reportPage({ report, story, hasFix, ...links }: PageFacts): string {
  return framed(
    `${report.file} · po-sync report`,
    html`${heading(report, story)}
${countsSection(report, story)}
${nextSection(report, story, links)}
${warnings(report)}
${errorsSection(story)}
${timelineSection(report, story)}
${particulars(report, story, hasFix)}`,
  );
}

function heading(report: Report, story: Story): Html {
  const { mood, verdict, lead } = verdictOf(report, story);
  return html`<header class="${mood}">
<p class="where"><span>po-sync</span> <b class="environment">${report.environment}</b></p>
<h1>${verdict}</h1>
<p class="lead"><b><bdi>${visible(report.file, 120)}</bdi></b> from <bdi>${visible(report.source, 120)}</bdi>, taken ${timeText(report.startedAt)}.${lead === '' ? '' : ` ${lead}`}</p>
<p class="lead">This page shows the file as it was finished ${timeText(report.finishedAt)}, and does not change. What needs a person now is in <a href="../open/open.html">open.html</a>.</p>
${problem(report)}
</header>`;
}

function problem({ error }: Report): Html | undefined {
  if (error === undefined) return undefined;
  const place = [
    error.line === undefined ? '' : `line ${count(error.line)}`,
    error.column === undefined ? '' : `column ${count(error.column)}`,
  ].filter((part) => part !== '');
  return html`<p class="problem">${error.message} <span class="soft"><code>${error.code}</code>${place.length === 0 ? '' : ` · ${place.join(', ')}`}</span></p>`;
}

function warnings(report: Report): Html | undefined {
  if (report.warnings.length === 0) return undefined;
  const shown = report.warnings.slice(0, 50);
  return html`<section aria-labelledby="warnings">
<h2 id="warnings">Warnings</h2>
<ul>${shown.map((warning) => html`<li>${visible(warning, 500)}</li>`)}</ul>
</section>`;
}

function particulars(report: Report, story: Story, hasFix: boolean): Html {
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
    ['Finished', timeText(finishedAt)],
    ['Format', format === null ? 'unknown' : formatText(format)],
    ['Size', size(report.bytes)],
    ['SHA-256', report.sha256],
  ];
  return html`<footer aria-label="Particulars"><dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${counts.orders === 0 ? undefined : html`<p>Each order with its outcome: ${reportLink('results.csv')}.</p>`}${hasFix ? html`<p>The rows that needed a person then: ${reportLink('fix.xlsx')}.</p>` : undefined}</footer>`;
}

/** The first line of the page and the sentence below it. `mood` sets its color. */
type Verdict = { mood: 'well' | 'care' | 'neutral'; verdict: string; lead: string };

/** The state of the batch in one line. */
function verdictOf(report: Report, story: Story): Verdict {
  const done = countSettled(report.counts);
  if (report.state === 'unreadable')
    return {
      mood: 'care',
      verdict: wasChanged(report)
        ? 'This file was changed after it was read'
        : 'This file could not be read',
      lead:
        done === 0
          ? 'No orders were sent.'
          : `${orders(done)} had ${done === 1 ? 'its' : 'their'} outcome before that; the rest was not sent.`,
    };
  const { orders: total, accepted } = report.counts;
  const lead = report.state === 'cancelled' ? withdrawnText(report) : '';
  if (story.open > 0) {
    const verdict = verdictOfOpen(story.open, story.nameless, total - allNameless(story));
    return { mood: 'care', verdict, lead };
  }
  if (total === 0) return { mood: 'neutral', verdict: 'This file has no orders', lead };
  if (report.state === 'cancelled')
    return { mood: 'neutral', verdict: `This file was ${cancelledWord(report.counts)}`, lead };
  if (accepted === total) {
    const verdict = total === 1 ? 'The order was accepted' : `All ${orders(total)} were accepted`;
    return { mood: 'well', verdict, lead };
  }
  const before = waitingTexts(story.waiting).join(' ');
  if (story.waiting > 0)
    return { mood: 'neutral', verdict: 'Nothing new in this file needed you', lead: before };
  return { mood: 'well', verdict: 'Nothing in this file needed you', lead: before };
}

/** Nobody who cancelled a wrong file should think that all of it was withdrawn. */
function withdrawnText({ counts: { accepted, cancelled }, isExport }: Report): string {
  const was = (number: number) => (number === 1 ? 'was' : 'were');
  const withdrawn = `${orders(cancelled)} ${was(cancelled)} withdrawn.`;
  const sent = `${orders(accepted)} ${was(accepted)} accepted before, which the order API cannot take back: if ${accepted === 1 ? 'it is' : 'they are'} wrong, inform the supplier.`;
  const again = isExport ? ` ${CANCELLED_IN_EXPORT}` : '';
  return [...(cancelled > 0 ? [withdrawn + again] : []), ...(accepted > 0 ? [sent] : [])].join(' ');
}

/** `total`: without the rows that have no number, which are not counted as orders: several may belong to one. */
function verdictOfOpen(open: number, nameless: number, total: number): string {
  if (nameless > 0) return `${openText(open, nameless)} needed you`;
  if (open === total)
    return total === 1 ? 'The order needed you' : `All ${orders(total)} needed you`;
  return `${count(open)} of ${orders(total)} needed you`;
}
