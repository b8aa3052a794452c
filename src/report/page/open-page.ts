import { count, counted, orders, outcomeWord } from '../../core/format.ts';
import { INTO_NO_INBOX } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import type { Sentence } from '../../order/sentence.ts';
import { DECLARE } from '../../setup/print.ts';
import { framed } from './frame.ts';
import { type Html, html, timeText, visible } from './html.ts';

/** A dead letter that is open. `again`: it was sent again, and waits for its outcome. */
export type OpenOrder = {
  number: string;
  kind: DeadLetterKind;
  message: Sentence;
  batch: string;
  file: string;
  line: number;
  at: string;
  again: boolean;
};

/** A file in progress, or one that could not be read. `who` must act; nobody, where it continues. */
export type OpenFile = {
  batch: string;
  file: string;
  source: string;
  since: string;
  state: string;
  who: 'person' | 'nobody';
  /** Lines for the mapping, of a file with columns that it does not declare. */
  declare?: string | undefined;
};

/** What a daemon cannot take, or leaves where it is. */
export type LeftFile = { source: string; file: string; reason: string };

/** What needs a person. `orders`: the first ones of `total`. `inbox`: where a corrected copy of the workbook is dropped. */
export type OpenFacts = {
  environment: string;
  inbox: string | undefined;
  total: number;
  orders: readonly OpenOrder[];
  files: readonly OpenFile[];
  left: readonly LeftFile[];
};

/** The workbook beside the page: how many of the orders it has; `lockedSince`: when it was written, if a spreadsheet has it open. */
export type BookFacts = { orders: number; lockedSince?: string };

/** Characters of a text of a file. */
const MOST = 300;

/** `open.html`. `at`: when it was written. */
export function openPage(facts: OpenFacts, book: BookFacts, at: string): string {
  const { environment, total, files, left } = facts;
  const waiting = files.filter(({ who }) => who === 'person').length + left.length;
  const needs = [
    ...(total > 0 ? [orders(total)] : []),
    ...(waiting > 0 ? [counted(waiting, 'file')] : []),
  ];
  const verb = total + waiting === 1 ? 'needs' : 'need';
  const verdict =
    needs.length > 0 ? `${needs.join(' and ')} ${verb} a person` : 'Nothing needs a person';
  return framed(
    `${verdict} · po-sync`,
    html`<header class="${needs.length > 0 ? 'care' : 'well'}">
<p class="where"><span>po-sync</span> <b class="environment">${environment}</b></p>
<h1>${verdict}</h1>
<p class="lead">As of ${timeText(at)}. This page is written again when something changes: load it again to see that.</p>
</header>
${steps(facts, book)}
${fileTable(files)}
${leftTable(left)}
${orderTable(facts)}`,
  );
}

function steps({ total, inbox }: OpenFacts, book: BookFacts): Html | undefined {
  if (total === 0) return undefined;
  const locked =
    book.lockedSince &&
    html`<p>A spreadsheet has <code>fix.xlsx</code> open, so it shows the state of ${timeText(book.lockedSince)}. Close it there to get the present one.</p>`;
  const some =
    book.orders < total
      ? html`<p><code>fix.xlsx</code> has ${count(book.orders)} of ${orders(total)}: the others are in files that are still in progress, or follow when these are settled.</p>`
      : undefined;
  const where = inbox === undefined ? INTO_NO_INBOX : html`into <code>${inbox}</code>`;
  return html`<section aria-labelledby="next"><h2 id="next">What to do</h2>
<ol class="next">
<li>Copy <a href="fix.xlsx">fix.xlsx</a>, and correct the marked cells in the copy. <code>discard</code> in the column <code>_do</code> discards an order, <code>send</code> repeats a refused one or confirms one as it is.</li>
<li>Drop the copy ${where}. Your own corrected file does the same, and so does the form in the dashboard.</li>
</ol>${locked}${some}</section>`;
}

function fileTable(files: readonly OpenFile[]): Html | undefined {
  if (files.length === 0) return undefined;
  const rows = files.map(
    (one) =>
      html`<tr><td><bdi>${visible(one.file, MOST)}</bdi></td><td><bdi>${one.source}</bdi></td><td>${timeText(one.since)}</td><td>${visible(one.state, MOST)}${one.declare && html`<br>${DECLARE}: <pre>${one.declare}</pre>`}</td><td>${one.who === 'person' ? html`<b>a person</b>` : 'nobody: it continues automatically'}</td></tr>`,
  );
  return section(
    'files',
    'Files that wait or are in progress',
    ['file', 'source', 'taken', 'state', 'who must act'],
    rows,
  );
}

function leftTable(left: readonly LeftFile[]): Html | undefined {
  if (left.length === 0) return undefined;
  const rows = left.map(
    ({ file, source, reason }) =>
      html`<tr><td><bdi>${visible(file, MOST)}</bdi></td><td><bdi>${source}</bdi></td><td>${visible(reason, MOST)}</td></tr>`,
  );
  return section('left', 'Files that were not taken', ['file', 'source', 'reason'], rows);
}

function orderTable({ orders: shown, total }: OpenFacts): Html | undefined {
  if (shown.length === 0) return undefined;
  const rows = shown.map(
    (one) =>
      html`<tr><td class="data">${visible(one.number, 100) || 'no number'}</td><td>${outcomeWord(one.kind)}${one.again ? ', sent again: it waits for its outcome' : ''}</td><td>${visible(one.message, MOST)}</td><td><bdi>${visible(one.file, MOST)}</bdi>, line ${count(one.line)}</td><td>${timeText(one.at)}</td></tr>`,
  );
  return html`${section('orders', 'Orders that need a person', ['order', 'outcome', 'what is wrong', 'from', 'since'], rows)}
${total > shown.length ? html`<p class="more">${count(total - shown.length)} more: po-sync dead-letters list shows all.</p>` : undefined}`;
}

function section(
  id: string,
  title: string,
  columns: readonly string[],
  rows: readonly Html[],
): Html {
  return html`<section class="wide" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<table><thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></section>`;
}
