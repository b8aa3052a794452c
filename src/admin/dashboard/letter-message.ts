import { count, counted } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { SentAs } from '../../ledger/dead-letters.ts';
import {
  inProgressRemedy,
  inProgressText,
  type OrderInProgress,
} from '../../operate/orders/in-progress.ts';
import { problemText } from '../../order/record.ts';
import { deadLettersInProgress } from '../../put-away/dead-letters-in-progress.ts';
import { articlesIn } from '../../report/page/errors-section.ts';
import { type Html, html } from '../../report/page/html.ts';
import { addError, byWeight, type ErrorGroups, isNameless, TOTAL } from '../../report/story.ts';
import type { ApiContext } from '../api/api-context.ts';
import { nextBelow } from '../api/rows-elsewhere.ts';
import { remedyIn, withoutRemedy } from '../read-model/kept-letter.ts';
import { batchPath, letterPath, link, orderPath } from './parts.ts';

export const CORRECT_AS_IT_IS = 'This row is correct as it is';
export const LEAVE_OUT = 'Leave this row out of the order';

/** A message about a fix file, for the form of an order, which has a box instead of the cell and rows of this order only. */
export function inForm(message: string, number: string): string {
  return message
    .replace(
      'correct it and enter the number of this order in it',
      `add it on the page of ${number || 'this order'} with the same article and quantity, which settles the row too. With other values, also check "${CORRECT_AS_IT_IS}" in each row there, and discard the row on its own page`,
    )
    .replace(/ in the fix file and (is|are) not in this order now/, ' before and $1 not now')
    .replace(
      'enter the number of this order in that row, or add it again if it is gone',
      'take it in again, or add it',
    )
    .replace('remove one of the rows, or', `check "${LEAVE_OUT}" in one of the rows, or`)
    .replace(
      'remove it and, in each other row',
      `check "${LEAVE_OUT}" in it and, in each other row`,
    )
    .replace('and remove the other.', 'and leave the other out.')
    .replace(' of its rows in the fix file', ' in each of its rows')
    .replace(
      /: confirmed does not say which one(?:\. The \.xlsx form of the fix file keeps what you enter; in the \.csv form, it can be held again)?(?=\.)/,
      '',
    )
    .replace('In a fix file, also write', 'Also write')
    .replace('discard it in the dashboard or ask', 'discard it or ask')
    .replace('drop it in a fix file without that row', 'send it as it is')
    .replace(
      /write confirmed into _error_check( of the fix file)?/g,
      `check "${CORRECT_AS_IT_IS}"`,
    );
}

/** Which messages of a row its box answers, where that are several: each of them, also for one that a person may have missed. */
export function answersText(messages: readonly string[]): string {
  const answered = messages.filter((message) => message.includes(`check "${CORRECT_AS_IT_IS}"`));
  if (answered.length < 2) return '';
  const shorts = answered.map(
    (message) => /^.{0,160}?(?=; |\. |$)/s.exec(message)?.[0] ?? `${message.slice(0, 159)}…`,
  );
  return `. Here it answers ${count(answered.length)} messages: ${shorts.join('; ')}`;
}

type Shown = {
  purchaseOrderNumber: string;
  field?: string;
  message: string;
  items?: string;
  already?: string;
};

/** What is wrong with one order of a list, its items, and that another file has it. */
export function messageOf({
  purchaseOrderNumber,
  field = '',
  message,
  items,
  already,
}: Shown): Html {
  const own = items === undefined ? undefined : html`<div class="quiet">${items}</div>`;
  const text = inForm(problemText({ field, message }), purchaseOrderNumber);
  // Each row in doubt has this message, and the page of the order has what to do.
  const [short = text] =
    /^.{0,80}a row of this order may be missing: .+? may belong to this order\./s.exec(text) ?? [];
  if (already === undefined) return html`${short}${own}`;
  const said = already.replace(/^[a-z]/, (first) => first.toUpperCase());
  // Its message may be only that, and what to do.
  if (withoutRemedy(message) === already)
    return html`<strong>${said}.</strong> ${remedyIn(text)}${own}`;
  return html`${text}${own}<div><strong>${said}</strong></div>`;
}

/** Leads from an order that needs nobody any more to the one below it in the list that is not in progress, or to the list. */
export async function nextOrder(api: ApiContext, id: string): Promise<Html> {
  const { next, areBusy } = await nextBelow(api, id);
  if (next === undefined)
    return html`<p>${areBusy ? 'Those below it in the list are in progress. ' : ''}${link('/dead-letters', 'Orders that need you')}</p>`;
  const { field = '', value = '', code, message, location } = next;
  const name = nameOf({
    ...next,
    problems: [{ line: location.line, field, value, code, message }],
  });
  return html`<p>The next one that needs you: ${link(letterPath(next.id), name)}</p>`;
}

/** What the page of an order is about. A totals row has a label where others have a number. */
export function nameOf(letter: Parameters<typeof isNameless>[0]): string {
  if (!isNameless(letter)) return letter.purchaseOrderNumber || 'An order without a number';
  const label =
    letter.purchaseOrderNumber || letter.problems?.find(({ code }) => code === TOTAL)?.value;
  return label ? `A row with the label ${label}` : 'A row without an order number';
}

/** Which file has the order in progress, and how to stop it. Discarding it here would not. */
export function inProgressBox(other: OrderInProgress): Html {
  const [before = '', after = ''] = inProgressText(other, PLACE).split(PLACE);
  return html`<div class="box" role="status">${before}${link(batchPath(other.batch), other.file ?? other.batch)}${after} ${inProgressRemedy(other)}</div>`;
}

/** That the order has another number now, and what to do with this dead letter. */
export function sentAsBox(name: string, { number, batch, file }: SentAs): Html {
  return html`<div class="box" role="status">${name} was already sent as ${link(orderPath(number), number)}, from ${link(batchPath(batch), file ?? batch)}. If it is the same order, do not correct it: discard it.</div>`;
}

/** Stands for the file until it is a link. */
const PLACE = '\n';

/** Uploaded files whose preview nobody confirmed: their orders are in no list. */
export function unsentNote({ uploads }: Pick<ApiContext, 'uploads'>): Html | undefined {
  const waiting = uploads
    .list()
    .filter(({ state, preview }) => state === 'ready' && preview?.records !== 0);
  const [one] = waiting;
  if (one === undefined) return undefined;
  const [was, it] = waiting.length === 1 ? ['was', 'it'] : ['were', 'each'];
  const to =
    waiting.length === 1 ? link(`/upload/${one.id}`, one.name) : link('/upload', 'Show them');
  return html`<p class="box doubt" role="status">${counted(waiting.length, 'uploaded file')} ${was} not sent yet: ${to}. po-sync removes ${it} an hour after the upload.</p>`;
}

/** How many files could not be read, where orders are listed: theirs are in no list. */
export async function unreadableNote({
  tables,
}: Pick<ApiContext, 'tables'>): Promise<Html | undefined> {
  const { batches } = await tables();
  const files = batches.matching({ open: true, state: 'unreadable' }).toArray().length;
  if (files === 0) return undefined;
  const shown = files === 1 ? 'Show this file' : `Show these ${count(files)} files`;
  return html`<p class="box bad" role="status">${counted(files, 'file')} could not be read. Orders that could not be read are not sent, and are not in this list. ${link('/batches?open=true&state=unreadable', shown)}</p>`;
}

/** The first refused orders of a held batch, of which its page names the articles: a person decides by them. */
const MOST_REFUSED = 500;

/** The articles that occur most often in the refused orders of a held batch, for the most frequent refusal that has some. */
export async function heldArticles({ base }: ApiContext, batch: Batch): Promise<Html | undefined> {
  if (batch.held === undefined) return undefined;
  const groups: ErrorGroups = new Map();
  let read = 0;
  for await (const letter of deadLettersInProgress(base, [batch])) {
    if (letter.kind === 'refused') addError(groups, letter);
    read += 1;
    if (read === MOST_REFUSED) break;
  }
  return byWeight(groups)
    .map(articlesIn)
    .find((named) => named !== undefined);
}
