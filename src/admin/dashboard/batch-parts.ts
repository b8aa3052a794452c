import { count, orders } from '../../core/format.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import type { OrderResult } from '../../order/outcome.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import type { BatchSum } from '../api/batch-routes.ts';
import { cell, table } from './parts.ts';

/** Of a cancelled file: what cannot be withdrawn, so that a person informs the supplier. */
export function sentPart({ kind, state, cancelled, counts }: BatchView['batch']): Html | undefined {
  const { accepted } = counts;
  const isShown = kind === 'export' && cancelled && (counts.cancelled > 0 || state !== 'done');
  const again = isShown ? html`<p class="box doubt">${CANCELLED_IN_EXPORT}</p>` : undefined;
  if (state !== 'done') return cancelled ? html`${CANCELLING}${again}` : undefined;
  if (accepted === 0) return again;
  if (!cancelled) return undefined;
  const [were, them] = accepted === 1 ? ['was', 'it'] : ['were', 'them'];
  return html`<p class="box doubt">${orders(accepted)} of this file ${were} accepted. po-sync cannot withdraw ${them}, because the order API cannot do it: if the file was wrong, inform the supplier.</p>${again}`;
}

const CANCELLING = html`<p class="box doubt" role="status">This file is cancelled: what was not sent is withdrawn. Orders that are being sent, or may have been sent, still get their outcome; none of them is sent again.</p>`;

/** The cancelled orders of a page that the API has now: a later file brought them. */
export async function orderedSince(
  { base }: ApiContext,
  listed: readonly OrderResult[],
): Promise<Set<string>> {
  const numbers = listed.flatMap((one) =>
    one.outcome === 'cancelled' ? [one.purchaseOrderNumber] : [],
  );
  const known = numbers.length === 0 ? [] : await base.ledger.lookup(numbers);
  return new Set(numbers.filter((_, i) => known[i]?.kind === 'accepted'));
}

/** How many orders arrived in the files that match, on all pages of the list. */
export function sumTable({ files, fixFiles }: { files: BatchSum; fixFiles: BatchSum }): Html {
  const row = (title: string, sum: BatchSum) => {
    const shown = { ...sum, orders: sum.orders - sum.nameless };
    return [html`${title}`, ...SUMMED.map((name) => cell(shown[name]))];
  };
  const both = [row('files', files), ...(fixFiles.files === 0 ? [] : [row('fix files', fixFiles)])];
  const all = (name: keyof BatchSum) => files[name] + fixFiles[name];
  const left =
    all('orders') - all('accepted') - all('duplicate') - all('cancelled') - all('needPerson');
  const waiting = left > 0 ? html`, ${orders(left)} without an outcome yet` : undefined;
  const titles = ['sum', ...SUMMED.map((name) => SUM_TITLES[name] ?? name)];
  return html`${table('Sum of all that match', titles, both)}<p>Accepted at first, with those of fix files: ${count(all('accepted'))} different ${all('accepted') === 1 ? 'order' : 'orders'}${waiting}.</p><p class="quiet">Orders that needed a person, and that the API accepted when they were sent again unchanged, are not counted as accepted here. An order is accepted only once, but the other columns may count it again: as a duplicate, if it came again unchanged; as one that needed a person, if it came again with other content or with an error; and in each file and fix file in which it was wrong. Therefore do not subtract the accepted orders from the others.</p>`;
}

const SUM_TITLES: Partial<Record<keyof BatchSum, string>> = {
  files: 'number',
  nameless: 'rows without a number',
  needPerson: 'needed a person',
  open: 'still open',
};
const SUMMED = [
  'files',
  'orders',
  'nameless',
  'accepted',
  'duplicate',
  'cancelled',
  'needPerson',
  'open',
] as const;
