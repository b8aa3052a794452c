import { count, outcomeWord } from '../../core/format.ts';
import { changeTexts, closingWord } from '../../order/closing-text.ts';
import type { Closed, End } from '../../order/dead-letter.ts';
import { placeText } from '../../order/fixing.ts';
import type { Place } from '../../order/record.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import { KINDS, readSettledPage } from '../api/dead-letter-routes.ts';
import { ENDINGS, type SettledRow } from '../read-model/settled-table.ts';
import type { Content, PageRequest } from './frame.ts';
import {
  batchPath,
  dayFields,
  fileLink,
  filterForm,
  letterPath,
  link,
  type NamedFile,
  nextLink,
  orderPath,
  select,
  table,
  textField,
} from './parts.ts';

/** Orders that needed a person, and who or what settled them: the newest first, by day, person and order. */
export async function correctionsPage({ api, url }: PageRequest): Promise<Content> {
  const { items, next, unread, before, total } = await readSettledPage(api, url);
  const form = filterForm(url, '/corrections', [
    dayFields(url),
    textField(url, 'who', 'Person'),
    textField(url, 'q', 'Order, changed value or file'),
    select(url, 'kind', 'What was wrong', KINDS, KINDS.map(outcomeWord)),
    select(url, 'end', 'What happened', ENDINGS, ['accepted', 'discarded', 'something else']),
  ]);
  const recorded = await recordedSoon(items, api);
  const rows = items.map((row) => [
    timeText(row.closed.at),
    html`${row.closed.who ?? '–'}`,
    orderOf(row),
    html`${link(letterPath(row.id), `${row.file}, ${placeText(faultyPlace(row))}`)} (${outcomeWord(row.kind)})`,
    html`${closedText(row.closed, { ...row, location: faultyPlace(row) })}${changesNote(row, recorded.has(row))}`,
  ]);
  const body = html`<h1>Corrections</h1>
<p>Orders that needed a person: who corrected or settled each, and when. An order that came back unchanged and still wrong is listed when it is settled. A file that was dropped into a folder has no person.</p>
${form}
${unread === 0 ? undefined : html`<p role="status">Older reports are being read: ${unread} left.</p>`}
${rows.length === 0 ? undefined : html`<p>${rangeText(before, items.length, total)}, the newest first.</p>`}
${rows.length === 0 ? html`<p>No corrections match${unread === 0 ? '' : ' so far'}.</p>` : table('Corrections', ['settled', 'person', 'order', 'where it was wrong', 'what happened'], rows)}
${nextLink(url, next)}`;
  return { title: 'Corrections', body };
}

/** `Corrections 51 to 62 of 62`, also for a page that is printed. */
function rangeText(before: number, shown: number, total: number): string {
  return `Corrections ${count(before + 1)} to ${count(before + shown)} of ${count(total)}`;
}

/** Where the first faulty row of an order is. */
function faultyPlace({ location, line = location.line }: SettledRow) {
  return { ...location, line };
}

/** Whether a later file settled an order without showing what was changed: it did not name the rows that it corrects. */
function isUnrecorded({ batch, closed }: SettledRow): boolean {
  const { by, batch: later, changes, number } = closed;
  const isByFile = (by === 'accepted' || by === 'fixed') && later !== undefined && later !== batch;
  return isByFile && changes === undefined && number === undefined;
}

const NOT_RECORDED = 'What was changed is not recorded: the later file did not name these rows.';

/** Of a conflict, what is ordered and what was wanted; and that the changes are not known. */
function changesNote(row: SettledRow, isSoon: boolean): Html {
  const note = isSoon
    ? 'Person and changes are being recorded: load this page again in a moment.'
    : NOT_RECORDED;
  const texts = [row.already?.replace(/^t/, 'T') ?? '', isUnrecorded(row) ? note : ''].filter(
    Boolean,
  );
  return html`${texts.map((text) => html`<div class="quiet">${text}</div>`)}`;
}

/** Those of which the report does not show yet who changed what: the later file is not finished, or the report is written now. */
export async function recordedSoon(
  rows: readonly SettledRow[],
  { base }: ApiContext,
): Promise<Set<SettledRow>> {
  const unknown = rows.filter(isUnrecorded);
  const underWay = new Set(unknown.length === 0 ? [] : await base.batches.toRefresh());
  const soon = await Promise.all(
    unknown.map(async ({ batch, closed: { batch: later = '' } }) => {
      return underWay.has(batch) || ((await base.batches.find(later))?.state ?? 'done') !== 'done';
    }),
  );
  return new Set(unknown.filter((_, i) => soon[i]));
}

function orderOf({ purchaseOrderNumber: was, closed: { number = '' } }: SettledRow): Html {
  const one = was === '' ? html`no number` : link(orderPath(was), was);
  return number === '' ? one : html`${one} → ${link(orderPath(number), number)}`;
}

/** The dead letter that was closed, or what is known of it. */
type Closee = { location: Place; batch?: string; file?: string };

/** How a dead letter was closed: by whom, in which file, with which changes, and how its rows ended. */
export function closedText(
  { end, waitsIn, number = '', changes, ...first }: Closed,
  letter: Closee,
): Html {
  const isThere = end?.batch !== undefined && end.batch === first.batch;
  // It may have got another number in the file that settled it.
  const then = end === undefined || isThere ? ' as ' : ', at first as ';
  const as = number === '' ? undefined : html`${then}${link(orderPath(number), number)}`;
  const near = [letter, first, ...(end ? [end] : [])];
  const last = end && html`; then ${isThere ? closingWord(end.by) : endText(end, near)}`;
  const waits =
    waitsIn === undefined
      ? undefined
      : html`, ${link(batchPath(waitsIn), 'where it needs a person')}`;
  return html`${endText(first, near)}${as}${last}${waits}${changeList(changes, placeText(letter.location))}`;
}

/** That an order was settled since, or came back and still needs a person; its outcome in its batch stays. */
export function settledText({ closed, line }: { closed?: Closed; line: number }): Html | undefined {
  return (
    closed &&
    html`<div>${closed.waitsIn === undefined ? 'settled since: ' : ''}${closedText(closed, { location: { line } })}</div>`
  );
}

function endText({ by, who, batch, file }: End, near: readonly NamedFile[]): Html {
  const place = batch === undefined ? undefined : html` in ${fileLink({ batch, file }, near)}`;
  return html`${closingWord(by)}${place}${who === undefined ? '' : ` by ${who}`}`;
}

/** The values that were changed in the rows of a dead letter at this place. */
export function changeList(changes: Closed['changes'], at: string): Html | undefined {
  const texts = changeTexts(changes, at);
  const list = html`<ul class="changes">${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
  if (texts.length > 3)
    return html`<details><summary>${count(texts.length)} changes</summary>${list}</details>`;
  return texts.length === 0 ? undefined : list;
}
