import { outcomeWord } from '../../core/format.ts';
import { findInProgress } from '../../operate/orders/in-progress.ts';
import { DISCARDED_AGAIN } from '../../order/fixing.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
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
  const mayAct = mayOperate && !closed && !fix.isBusy && !other?.isFix;
  const body = html`<h1>${name}</h1>
${closed && html`<div class="box good">Settled: ${closedText(closed)}<div>${timeText(closed.at)}</div></div>`}
${viewPart(letterView(letter).blocks, 'Problems')}
${other && inProgressBox(other)}
${isWaiting ? undefined : fix.body}
${closed || fix.isBusy ? await nextOrder(api, letter.id) : undefined}
${mayAct ? actions(letter, { back, confirm }, other === undefined) : undefined}`;
  const refresh = fix.isBusy && entered === undefined ? 1 : isWaiting ? WAITING : undefined;
  return { title: `${name}: ${closed ? 'settled' : outcomeWord(kind)}`, body, refresh };
}

/** Seconds until the page of an order whose fix file waits looks again. */
const WAITING = 5;

/** What a person can do with this kind besides correcting it. `isFree`: no order with its number is in progress. */
function actions(
  { id, kind, batch, purchaseOrderNumber: number }: FullLetter,
  form: Pick<PageRequest, 'back' | 'confirm'>,
  isFree: boolean,
): Html {
  type More = { fields?: Html; sure?: string; tone?: 'bad' };
  const it = html`<input type="hidden" name="id" value="${id}">`;
  const act = (action: string, button: string, more: More = {}) =>
    actForm({ action: `/dead-letters/${action}`, button, fields: it, ...form, ...more });
  const as = (value: string) =>
    html`<input type="hidden" name="order" value="${number}"><input type="hidden" name="as" value="${value}">`;
  if (kind === 'inDoubt')
    return html`<section class="screen"><h2>Settle it</h2>
<p>It may have been created. Look it up at the API, or ask the API's owner whether it has ${number}.</p>
<div class="acts">${act('resolve', 'The API has it', {
      fields: as('accepted'),
      sure: 'I checked at the API. It is never sent again.',
    })}${act('resolve', 'The API does not have it: send again', {
      fields: as('resend'),
      sure: 'I checked at the API. If the API has it, it is created twice.',
      tone: 'bad',
    })}</div></section>`;
  const retry = kind === 'refused' || kind === 'failed' ? act('retry', 'Send again unchanged') : '';
  const sure = `It is not sent from this file, which cannot be undone. ${DISCARDED_AGAIN}`;
  const discard = isFree ? act('discard', 'Discard', { sure, tone: 'bad' }) : undefined;
  return html`<section class="screen"><h2>Other ways</h2>
<p>You can also download fix.xlsx of ${link(batchPath(batch), 'its batch')}, correct a copy and drop it into an inbox or ${link('/upload', 'upload')} it.</p>
<div class="acts">${retry}${discard}</div></section>`;
}
