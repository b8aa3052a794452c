import { PoSyncError } from '../../core/errors.ts';
import type { SentRow } from '../../correct/patch.ts';
import type { CellProblem, CheckedCorrection } from '../../operate/corrections/check-correction.ts';
import {
  type Correctable,
  type FixCell,
  type FixRow,
  MOST_ADDED,
} from '../../operate/corrections/corrections.ts';

import { escapeHidden } from '../../order/text.ts';
import { type Html, html, visible } from '../../report/page/html.ts';
import { NUMBER_TAKEN } from '../../wording/problem.ts';
import type { FullLetter } from '../api/read-letters.ts';
import type { PageRequest } from './frame.ts';
import { CORRECT_AS_IT_IS, LEAVE_OUT } from './letter-message.ts';
import { batchPath, letterPath, link, orderPath } from './parts.ts';

/** What a person entered, and what came of it. `isSent`: it was to be sent. */
export type Entered = {
  corrected: readonly SentRow[];
  isSent?: boolean;
  checked?: CheckedCorrection;
  trouble?: string;
};

/**
 * The part of a dead letter's page in which its cells are corrected. `isBusy`: a correction is being sent. `isEarly`: its
 * report is not written yet.
 */
type FixSection = { body: Html | undefined; isBusy?: boolean; isEarly?: boolean };

/** The cells of a dead letter's rows as a form, or the correction that is being sent. */
export async function fixSection(
  { api, mayOperate, confirm }: PageRequest,
  letter: FullLetter,
  entered?: Entered,
): Promise<FixSection> {
  const why = result(entered);
  const last = await api.corrections.underWay(letter);
  if (last !== undefined) {
    const body = html`${why}<p class="box" role="status">A correction by ${last.who} is being sent, as ${link(batchPath(last.batch), last.batch)}.</p>`;
    return { body: letter.closed ? why : body, isBusy: true };
  }
  if (!mayOperate || letter.closed || letter.kind === 'inDoubt') return { body: why };
  const found = await api.corrections.open(letter).catch(whyNot);
  const title = letter.kind === 'conflict' ? 'Send it with another number' : 'Correct it';
  if (!(found instanceof PoSyncError))
    return {
      body: html`<h2 id="correct">${title}</h2>${why}${form(letter, found, entered, confirm)}`,
    };
  const body = html`<h2>${title}</h2>${why}<p>${found.message} ${found.remedy}</p>`;
  return { body, isEarly: found.code === 'batch-in-progress' };
}

function whyNot(error: unknown): PoSyncError {
  if (error instanceof PoSyncError) return error;
  throw error;
}

function result(entered: Entered | undefined): Html | undefined {
  if (entered?.trouble !== undefined)
    return html`<p class="box bad" role="alert">Not sent. ${entered.trouble}</p>`;
  if (entered?.checked === undefined) return undefined;
  const { isReady, trouble, orders } = entered.checked;
  if (trouble !== undefined)
    return html`<p class="box bad" role="alert">${entered.isSent ? 'Not sent. ' : ''}${trouble}</p>`;
  const words = orders.map(
    ({ number, verdict }) =>
      html`<div>${number === '' ? 'An order' : link(orderPath(number), number)}: ${VERDICTS[verdict]}</div>`,
  );
  return html`<div class="box ${isReady ? 'good' : 'bad'}" role="${isReady ? 'status' : 'alert'}">${isReady || !entered.isSent ? '' : 'Not sent. '}${words}</div>`;
}

const VERDICTS: Record<CheckedCorrection['orders'][number]['verdict'], string> = {
  new: 'every check passes. It can be sent.',
  duplicate:
    'the same order is accepted or in progress. Nothing is sent, and this order is settled.',
  conflict: `its history shows what has this number. ${NUMBER_TAKEN}`,
  waiting: 'an order with the same content already waits for a person.',
  invalid: 'it cannot be sent like this. The messages below say what to do.',
};

function form(
  letter: FullLetter,
  { rows: known, added, revision }: Correctable,
  entered: Entered | undefined,
  confirm: string | undefined,
): Html {
  const more = Math.max(0, (entered?.corrected.length ?? 0) - known.length);
  // The last one is for a row that the order lacks.
  const rows = [...known, ...Array.from({ length: more + 1 }, () => added)];
  const found =
    entered?.checked?.orders.flatMap(({ problems }) => problems) ??
    known.flatMap(({ problems }, row) => problems.map((one) => ({ row, ...one })));
  const canConfirm = letter.kind !== 'conflict';
  const canLeave = rows.length > 2;
  const parts = rows.map((row, i) => {
    const own = found.filter((one) => one.row === i);
    const part = rowPart(row, i, entered?.corrected[i], own, { canConfirm, canLeave });
    if (i < rows.length - 1) return part;
    return html`<details><summary>Add a row</summary>${part}</details>`;
  });
  const field =
    confirm === undefined
      ? undefined
      : html`<label>Enter ${confirm} to confirm sending <input name="confirm" autocomplete="off"></label>`;
  return html`<form method="post" action="${letterPath(letter.id)}/fix#correct" class="sheet">
<input type="hidden" name="revision" value="${revision}">
<p>Change what is wrong. Checking changes nothing. Sending uses the same checks as a file that is dropped.</p>
${parts}
<div class="acts">${field}<button name="do" value="check">Check</button><button name="do" value="send"${letter.kind === 'conflict' ? undefined : html` class="main"`}>Send the correction</button></div>
</form>`;
}

/** `canConfirm`: confirming the values can help. A number that another order has stays taken, but another number may not be. */
function rowPart(
  row: FixRow,
  index: number,
  entered: SentRow | undefined,
  found: readonly CellProblem[],
  { canConfirm, canLeave }: { canConfirm: boolean; canLeave: boolean },
): Html {
  const named = row.cells.map(({ name }) => plain(name));
  const own = found.filter(({ field }) => field === '' || !named.includes(plain(field)));
  const general = own.map(({ message }) => html`<p class="bad sentence">${message}</p>`);
  const cells = row.cells.map((cell, i) => {
    const wrong = found.filter(({ field }) => field !== '' && plain(field) === plain(cell.name));
    // Of columns with the same name, only the first is sent.
    const isFirst = named.indexOf(plain(cell.name)) === i;
    return cellPart(cell, {
      id: `v.${index}.${i}`,
      now: entered?.cells[cell.name] ?? cell.value,
      wrong: isFirst ? wrong : [],
    });
  });
  const checked = entered?.act === 'send' ? html` checked` : undefined;
  const isOut = entered?.act === 'delete' ? html` checked` : undefined;
  return html`<fieldset><legend>${row.place}</legend>${general}
<div class="cells">${cells}</div>
${canLeave ? html`<label class="check"><input type="checkbox" name="out.${index}" value="leave"${isOut}> ${LEAVE_OUT}</label>` : undefined}
${canConfirm ? html`<label class="check"><input type="checkbox" name="ok.${index}" value="confirmed"${checked}> ${CORRECT_AS_IT_IS}, even if it may mean something else or other rows of the order were removed. Enter a quantity such as 1.000 as 1000 or 1</label>` : undefined}
</fieldset>`;
}

type Entry = { id: string; now: string; wrong: readonly CellProblem[] };

/** Characters that a field can hold. Longer values are changed in fix.xlsx. */
const LONGEST = 1000;

function cellPart({ name, value }: FixCell, { id, now, wrong }: Entry): Html {
  const notes = [
    ...wrong.map(({ message }) => html`<span class="bad">${message}</span>`),
    ...(now === value
      ? []
      : [html`<span class="quiet">was: ${value === '' ? '(empty)' : value}</span>`]),
  ];
  const described = notes.length === 0 ? undefined : html` aria-describedby="${id}.note"`;
  const invalid = wrong.length === 0 ? undefined : html` aria-invalid="true"`;
  const fixed = value.length > LONGEST ? html` readonly` : undefined;
  const note = notes.length === 0 ? undefined : html`<small id="${id}.note">${notes}</small>`;
  return html`<div class="cell"><label for="${id}">${name || 'after the last column'}</label>
<input id="${id}" name="${id}" value="${now}" autocomplete="off" spellcheck="false"${described}${invalid}${fixed}>${note}</div>`;
}

function plain(name: string): string {
  return name.trim().toLowerCase();
}

/** The rows that a form brings back, in the order of the dead letter's rows, then those that were added. */
export function readEntered(
  { rows, added }: Correctable,
  fields: Readonly<Record<string, string>>,
): SentRow[] {
  const isThere = (_: FixRow, i: number) => `v.${rows.length + i}.0` in fields;
  // One more than may be sent: that one is refused, and not lost.
  const more = Array.from({ length: MOST_ADDED + 1 }, () => added).filter(isThere);
  return [...rows, ...more].flatMap(({ cells }, row) => {
    const isOwn = row < rows.length;
    const isOut = fields[`out.${row}`] !== undefined;
    const now = cells.map(({ name, value }, i) => [name, entered(value, fields[`v.${row}.${i}`])]);
    const isUnchanged = cells.every(({ value }, i) => now[i]?.[1] === value);
    if (!isOwn && (isOut || isUnchanged)) return [];
    const act = isOut ? 'delete' : fields[`ok.${row}`] !== undefined ? 'send' : '';
    return [{ ...(isOwn && { row: row + 1 }), cells: Object.fromEntries(now), act }];
  });
}

/** A page shows hidden characters as escapes, and cuts long texts: what came back unchanged is the value itself. */
function entered(was: string, now: string | undefined): string {
  if (now === undefined || now === visible(was)) return was;
  const hidden = new Set(
    Array.from(was).filter((character) => escapeHidden(character) !== character),
  );
  return [...hidden].reduce(
    (text, character) => text.replaceAll(escapeHidden(character), character),
    now,
  );
}
