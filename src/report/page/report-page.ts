import { createHash } from 'node:crypto';
import { count, moment, orders, size } from '../../core/format.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import type { Story } from '../story.ts';
import { countsSection } from './counts-section.ts';
import { errorsSection } from './errors-section.ts';
import { type Html, html, visible } from './html.ts';
import { batchMark, reportLink } from './links.ts';
import { nextSection } from './next-section.ts';
import { PAGE_STYLE } from './page-style.ts';
import { timelineSection } from './timeline-section.ts';

export type PageFacts = {
  report: Report;
  story: Story;
  /** The fix file's name in the report's folder; undefined when there is none. */
  fixFile: string | undefined;
};

/**
 * `report.html`: the report for people, one page that needs nothing else, not even a script. Its size is bounded
 * whatever the number of orders; every text of the file or the API is escaped.
 */
export function reportPage({ report, story, fixFile }: PageFacts): string {
  const style = createHash('sha256').update(PAGE_STYLE).digest('base64');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
${batchMark(report.batch)}
<title>${report.file} · po-sync report</title>
<style>${{ markup: PAGE_STYLE }}</style>
</head>
<body>
<main>
${heading(report, story)}
${countsSection(report)}
${nextSection(report, story, fixFile)}
${errorsSection(story)}
${timelineSection(report, story)}
${warnings(report)}
${particulars(report)}
</main>
</body>
</html>
`.markup;
}

function heading(report: Report, story: Story): Html {
  const { mood, verdict, lead } = verdictOf(report, story);
  return html`<header class="${mood}">
<p class="where"><span>po-sync</span> <b class="environment">${report.environment}</b></p>
<h1>${verdict}</h1>
<p class="lead"><b><bdi>${visible(report.file, 120)}</bdi></b> from <bdi>${visible(report.source, 120)}</bdi>, taken ${moment(report.startedAt)}.${lead === '' ? '' : ` ${lead}`}</p>
${problem(report)}
</header>`;
}

type Verdict = { mood: 'well' | 'care' | 'under-way'; verdict: string; lead: string };

function verdictOf(report: Report, story: Story): Verdict {
  switch (report.state) {
    case 'unreadable':
      return { mood: 'care', verdict: 'This file could not be read', lead: 'Nothing of it was sent.' };
    case 'held':
      return {
        mood: 'care',
        verdict: 'This batch is held',
        lead: `It waits for a person to let it go on. ${sofar(report)}`,
      };
    case 'running':
      return { mood: 'under-way', verdict: 'This batch is under way', lead: sofar(report) };
    case 'finished':
      return finishedVerdict(report, story);
  }
}

/** How far a batch is; while its file is read nobody knows of how many. */
function sofar({ counts }: Report): string {
  const done = OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);
  if (counts.orders > 0) return `${count(done)} of ${orders(counts.orders)} have their outcome so far.`;
  return done > 0 ? `${orders(done)} have their outcome so far; the file is still read.` : 'Its file is read.';
}

function finishedVerdict(report: Report, story: Story): Verdict {
  const { orders: total, accepted } = report.counts;
  if (story.open > 0) {
    const verdict = `${count(story.open)} of ${orders(total)} ${story.open === 1 ? 'needs' : 'need'} you`;
    return { mood: 'care', verdict, lead: total === story.open ? '' : 'The others are done.' };
  }
  if (total === 0) return { mood: 'well', verdict: 'This file held no orders', lead: '' };
  if (accepted === total) {
    return {
      mood: 'well',
      verdict: total === 1 ? 'The order was accepted' : `All ${orders(total)} were accepted`,
      lead: '',
    };
  }
  const settled = story.groups.size > 0 ? 'What needed a person has been settled since.' : '';
  return { mood: 'well', verdict: 'Nothing here needs you', lead: settled };
}

function problem(report: Report): Html | undefined {
  const { error } = report;
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
<h2 id="warnings">Worth knowing</h2>
<ul>${shown.map((warning) => html`<li>${warning}</li>`)}</ul>
</section>`;
}

function particulars(report: Report): Html {
  const { format, counts } = report;
  const facts: [string, string][] = [
    ['Batch', report.batch],
    ['State', report.state],
    ['Records', count(counts.records)],
    ['Orders', count(counts.orders)],
    ['Finished', report.finishedAt === null ? 'not yet' : moment(report.finishedAt)],
    ['Format', format === null ? 'unknown' : formatOf(format)],
    ['Size', size(report.bytes)],
    ['SHA-256', report.sha256],
  ];
  return html`<footer aria-label="Particulars"><dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${counts.orders === 0 || report.finishedAt === null ? undefined : html`<p>Every order with its outcome: ${reportLink('results.csv')}.</p>`}</footer>`;
}

function formatOf(format: NonNullable<Report['format']>): string {
  const delimiter = format.delimiter === '\t' ? 'tab' : format.delimiter;
  return [
    format.type.toUpperCase(),
    delimiter === undefined ? '' : `delimiter ${delimiter}`,
    format.encoding ?? '',
    format.decimal === undefined ? '' : `decimal ${format.decimal === ',' ? 'comma' : 'point'}`,
    format.gzip === true ? 'gzipped' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}
