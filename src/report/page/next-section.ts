import { orders } from '../../core/format.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import type { ErrorGroups } from '../error-groups.ts';
import type { Report } from '../report.ts';
import type { Story } from '../story.ts';
import { type Html, html } from './html.ts';
import { fixLink } from './links.ts';

/** What a person does now, in the order of doing; nothing when nothing is open. */
export function nextSection(report: Report, story: Story, fixFile: string | undefined): Html | undefined {
  const steps = stepsFor(report, story, fixFile);
  if (steps.length === 0) return undefined;
  return html`<section class="next" aria-labelledby="next">
<h2 id="next">What to do next</h2>
<ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>
</section>`;
}

function stepsFor(report: Report, story: Story, fixFile: string | undefined): Html[] {
  switch (report.state) {
    case 'running':
      return [];
    case 'held':
      return [
        html`Look at the errors; orders refused alike mostly mean a wrong mapping: ${command('po-sync', 'dead-letters', 'list', '--batch', report.batch)}`,
        html`Let the batch go on: ${command('po-sync', 'batches', 'release', report.batch)}`,
        html`Or take back what was never sent: ${command('po-sync', 'batches', 'cancel', report.batch)}`,
      ];
    case 'unreadable':
      return [html`Correct the file at that place, then drop it in again, whole.`];
    case 'finished':
      return story.open === 0 ? [] : stepsForDeadLetters(report, story.groups, fixFile);
  }
}

function stepsForDeadLetters(report: Report, groups: ErrorGroups, fixFile: string | undefined): Html[] {
  const open = (kind: DeadLetterKind) =>
    [...groups.values()].reduce((sum, group) => (group.kind === kind ? sum + group.count - group.closed : sum), 0);
  const mendable = open('invalid') + open('refused');
  const steps: (Html | undefined)[] = [
    mendable > 0 ? remedy(mendable, fixFile) : undefined,
    open('conflict') > 0 ? conflict(open('conflict'), mendable > 0 ? undefined : fixFile) : undefined,
    open('failed') > 0 ? retry(open('failed'), report.batch) : undefined,
    open('inDoubt') > 0 ? decide(open('inDoubt')) : undefined,
  ];
  return steps.filter((step) => step !== undefined);
}

function remedy(number: number, fixFile: string | undefined): Html {
  const rows = fixFile === undefined ? html`the file’s rows` : html`${fixLink(fixFile)}`;
  return html`<b>Mend ${orders(number)}.</b> Open ${rows}: the columns are your file’s own, and <code>_error_message</code> tells what is wrong. Correct the values, leave the columns as they are, and drop the file into the inbox. What was accepted already is not sent again.`;
}

function conflict(number: number, fixFile: string | undefined): Html {
  const rows = fixFile === undefined ? undefined : html` in ${fixLink(fixFile)}`;
  return html`<b>Settle ${orders(number)} in conflict.</b> The number was sent before with other content, and the API has no way to change an order. Give the new content a number of its own${rows} and drop that in, or discard it: ${command('po-sync', 'dead-letters', 'discard', '--order', 'NUMBER')}`;
}

function retry(number: number, batch: string): Html {
  return html`<b>Send ${orders(number)} again</b> once the API is well: ${command('po-sync', 'dead-letters', 'retry', '--batch', batch, '--kind', 'failed')}`;
}

function decide(number: number): Html {
  return html`<b>Decide on ${orders(number)} in doubt.</b> Look at the API whether the order is there, then say so, with <code>--as resend</code> where it is not: ${command('po-sync', 'dead-letters', 'resolve', 'NUMBER', '--as', 'accepted')}`;
}

/** A command on a line of its own, which breaks between its words only. */
function command(...words: readonly string[]): Html {
  return html`<code class="command">${words.map((word) => html`<span>${word}</span> `)}</code>`;
}
