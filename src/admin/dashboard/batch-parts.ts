import { orders } from '../../core/format.ts';
import type { BatchView } from '../../operate/batches/list-batches.ts';
import { CANCELLED_IN_EXPORT } from '../../order/fixing.ts';
import type { OrderResult } from '../../order/outcome.ts';
import { type Html, html } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';

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
