import { outcomeWord } from '../../core/format.ts';
import { findInProgress } from '../../operate/orders/in-progress.ts';
import { DISCARDED_AGAIN, hasInbox } from '../../order/fixing.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import { isNameless } from '../../report/story.ts';
import { letterView } from '../../views/letter.ts';
import { type FullLetter, readLetter } from '../api/read-letters.ts';
import { type Entered, fixSection } from './fix-form.ts';
import type { Content, PageRequest } from './frame.ts';
import { inProgressBox, nameOf, nextOrder } from './letter-message.ts';
import { actForm, batchPath, closedText, link } from './parts.ts';
import { viewPart } from './view-part.ts';

/** One dead letter: what is wrong, the API's words, both contents of a conflict, what can be done. */
export async function deadLetterPage(request: PageRequest, entered?: Entered): Promise<Content> {
  const { api, params, mayOperate, back, confirm } = request;
  const letter = await readLetter(api, params['id'] ?? '');
  const { kind, closed } = letter;
  const name = nameOf(letter);
  const fix = await fixSection(request, letter, entered);
  const other = closed || fix.isBusy ? undefined : await findInProgress(letter, api.base);
  // What a person entered stays on the page.
  const isWaiting = other?.isFix === true && entered === undefined;
  const config = {
    hasInbox: hasInbox(api.base.config),
    isEarly: fix.isEarly,
    isFree: other === undefined,
  };
  const mayAct = mayOperate && !closed && !fix.isBusy && !other?.isFix;
  const acts = mayAct ? actions(letter, back, confirm, config) : undefined;
  const body = html`<h1>${name}</h1>
${closed && html`<div class="box good">Settled: ${closedText(closed)}<div>${timeText(closed.at)}</div></div>`}
${viewPart(letterView(letter).blocks, 'Problems')}
${other && inProgressBox(other)}
${acts?.first}
${isWaiting ? undefined : fix.body}
${closed || fix.isBusy ? await nextOrder(api, letter.id) : undefined}
${acts?.others}`;
  const refresh = fix.isBusy && entered === undefined ? 1 : isWaiting ? WAITING : undefined;
  return { title: `${name}: ${closed ? 'settled' : outcomeWord(kind)}`, body, refresh };
}

/** Seconds until the page of an order whose fix file waits looks again. */
const WAITING = 5;

/**
 * What a person can do with this kind. An invalid order is corrected in its fix file. `first`: what settles it most often,
 * before the form: no correction of an order in conflict can be sent with its number, and a totals row is no order.
 */
function actions(
  letter: FullLetter,
  back: string,
  confirm: string | undefined,
  {
    hasInbox,
    isEarly = false,
    isFree,
  }: { hasInbox: boolean; isEarly: boolean | undefined; isFree: boolean },
): { first?: Html; others: Html } {
  const { id, kind, batch, purchaseOrderNumber: number } = letter;
  const act = (
    action: string,
    button: string,
    more: { fields: Html; sure?: string; tone?: 'bad' },
  ) => actForm({ action: `/dead-letters/${action}`, back, button, confirm, ...more });
  const it = html`<input type="hidden" name="id" value="${id}">`;
  const as = (value: string) =>
    html`<input type="hidden" name="order" value="${number}"><input type="hidden" name="as" value="${value}">`;
  const sends =
    kind === 'refused' || kind === 'failed'
      ? [act('retry', 'Send again unchanged', { fields: it })]
      : [];
  const settles =
    kind === 'inDoubt'
      ? [
          act('resolve', 'The API has it', {
            fields: as('accepted'),
            sure: 'I checked at the API. It is never sent again.',
          }),
          act('resolve', 'The API does not have it: send again', {
            fields: as('resend'),
            sure: 'I checked at the API. If the API has it, it is created twice.',
            tone: 'bad',
          }),
        ]
      : [];
  const isRow = isNameless(letter);
  const name = isRow ? 'This row' : number || 'This order';
  const sure = `${name} is not sent from this file, and is in no fix.xlsx any more. This cannot be undone. ${DISCARDED_AGAIN}`;
  const discard =
    kind === 'inDoubt' || !isFree
      ? undefined
      : act('discard', 'Discard', { fields: it, sure, tone: 'bad' });
  const fix = html`<p>You can also download fix.xlsx of ${link(batchPath(batch), 'its batch')}, correct it and ${hasInbox ? 'drop it into the inbox' : html`${link('/upload', 'upload')} it`}.</p>`;
  const doubt = html`<p>It may have been created. Look it up at the API, or ask the API's owner whether it has ${number}.</p>`;
  const title = kind === 'inDoubt' ? 'Settle it' : 'Other ways';
  const others = (last: Html | undefined) =>
    html`<section class="screen"><h2>${title}</h2>${kind === 'inDoubt' ? doubt : isEarly ? undefined : fix}<div class="acts">${sends}${settles}${last}</div></section>`;
  const isFirst = kind === 'conflict' || (isRow && number !== '');
  if (!isFirst || discard === undefined) return { others: others(discard) };
  return {
    first: html`<section class="screen"><h2>Discard it</h2>${discard}</section>`,
    others: others(undefined),
  };
}
