import { INTO_NO_INBOX } from '../../order/fixing.ts';
import { needsPerson } from '../../order/outcome.ts';
import type { Report } from '../report.ts';
import type { Story } from '../story.ts';
import { command, type Html, html, type PageLinks } from './html.ts';

/** The next steps for a person, at most two. */
export function nextSection(report: Report, story: Story, links: PageLinks): Html | undefined {
  const steps = stepsFor(report, story, links);
  if (steps.length === 0) return undefined;
  return html`<section class="next" aria-labelledby="next">
<h2 id="next">What to do next</h2>
<ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>
</section>`;
}

function stepsFor(report: Report, { open, groups }: Story, links: PageLinks): Html[] {
  if (open === 0) return report.state === 'unreadable' ? stepsForUnreadable(report, links) : [];
  const kinds = new Set([...groups.values()].map(({ kind }) => kind));
  const isForOperator = kinds.has('failed') || kinds.has('inDoubt');
  const isForClerk = [...kinds].some((kind) => needsPerson(kind) && !OPERATORS.has(kind));
  return [
    ...(isForClerk
      ? [
          html`<b>Correct what is still listed in <a href="../open/open.html">open.html</a></b>, in a copy of the workbook beside it, in the dashboard, or in your own file, and drop that ${links.inbox === undefined ? INTO_NO_INBOX : 'into the inbox'}.`,
        ]
      : []),
    ...(isForOperator
      ? [
          html`<b>What failed or is in doubt is for your operator:</b> ${command('po-sync', 'dead-letters', 'list', '--batch', report.batch)}`,
        ]
      : []),
  ];
}

const OPERATORS: ReadonlySet<string> = new Set(['failed', 'inDoubt']);

function stepsForUnreadable({ error, batch, isExport }: Report, { inbox }: PageLinks): Html[] {
  const remedy = error?.remedy ?? 'Correct the file at that place.';
  if (isExport) return [html`${remedy}`];
  const place = inbox === undefined ? undefined : html` The inbox is <code>${inbox}</code>.`;
  return [
    html`${remedy}${place} Orders that the API already has are not sent again.`,
    html`If nobody needs the file, your operator closes it: ${command('po-sync', 'batches', 'cancel', batch)}`,
  ];
}
