import { count, orders } from '../../core/format.ts';
import { CORRECTED_EXPORT, INTO_NO_INBOX } from '../../order/fixing.ts';
import type { DeadLetterKind } from '../../order/outcome.ts';
import { commandWords } from '../../order/text.ts';
import { DECLARE, printUndeclared } from '../../setup/print.ts';
import type { AffectedOrder } from '../dead-letters.ts';
import { isCancelled, isForExport, type Report } from '../report.ts';
import { type ErrorGroup, type ErrorGroups, openText, type Story, sumOf } from '../story.ts';
import {
  command,
  discardCommand,
  fileAndBatch,
  fixLinks,
  type Html,
  help,
  helpLink,
  html,
  inboxText,
  into,
  moreOf,
  timeText,
} from './html.ts';

/** Order numbers shown in suggested commands; for the others the commands are the same. */
const NUMBERS_SHOWN = 3;

/** The next steps for a person, in order, and where more is explained; only that when nothing is open. */
export function nextSection(
  report: Report,
  story: Story,
  fixFiles: readonly string[],
): Html | undefined {
  const steps = stepsFor(report, story, fixFiles);
  if (steps.length === 0) return helpLink(report);
  return html`<section class="next" aria-labelledby="next">
<h2 id="next">What to do next</h2>
<ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>
${helpLink(report)}
${report.state === 'finished' ? help() : undefined}
</section>`;
}

function stepsFor(report: Report, story: Story, fixFiles: readonly string[]): Html[] {
  switch (report.state) {
    case 'running':
      return [];
    case 'waiting':
      return stepsForWaiting(report);
    case 'unreadable':
      return [
        ...stepsForUnreadable(report),
        ...stepsElsewhere(story),
        ...stepsForDeadLetters(report, story, fixFiles),
      ];
    case 'finished':
      return [
        ...stepsElsewhere(story),
        ...(story.open > 0 ? [...sameFileRead(report), ...leftByCancellation(report, story)] : []),
        ...stepsForDeadLetters(report, story, fixFiles),
      ];
  }
}

/** A file that waits is for the operator. */
function stepsForWaiting({ batch, waits }: Report): Html[] {
  const lines = waits && printUndeclared(waits.facts);
  return [
    html`<b>Show this page to your operator</b>, who decides. Do not drop the file again.`,
    ...(lines === undefined
      ? []
      : [html`<b>${DECLARE}:</b> after a restart the file is read again.<pre>${lines}</pre>`]),
    html`<b>To send it as it is</b>, the operator releases it: ${command('po-sync', 'batches', 'release', batch)}`,
    html`<b>To put it away</b>, the operator cancels it: ${command('po-sync', 'batches', 'cancel', batch)} Orders that were sent stay sent. Then correct the file, the mapping or the API, and drop the file again.`,
  ];
}

/** An order that was corrected in another report of the same file must not be corrected again in this one. */
function sameFileRead({ repeats, repeatedBy }: Report): Html[] {
  const where = ({ file, batch, at }: NonNullable<Report['repeatedBy']>) =>
    html`${fileAndBatch(file, batch)}, taken ${timeText(at)}. If an order was settled there, discard it here in the dashboard, or ask your operator to do so. Correct any other order only once, in one of the two reports.`;
  const first = 'See the first report before you correct anything.';
  return [
    ...(repeats ? [html`<b>${first}</b> The same file was read before: ${where(repeats)}`] : []),
    ...(repeatedBy ? [html`<b>The same file was read again:</b> ${where(repeatedBy)}`] : []),
  ];
}

/** A person who cancels a wrong file does not want the rest of it either. */
function leftByCancellation(report: Report, { open, nameless }: Story): Html[] {
  if (!isCancelled(report)) return [];
  const { batch, counts, isExport } = report;
  const them = open === 1 ? 'it' : 'all of them at once';
  return [
    html`<b>If the complete file was wrong, discard ${openText(open, nameless)} too.</b> ${counts.cancelled === 0 ? 'The cancellation does not close what failed a check or was refused' : 'The cancellation withdrew only what could have been sent'}. Discard ${them} in the dashboard: the page of this file links what needs a person. For your operator: ${command('po-sync', 'dead-letters', 'discard', '--batch', batch)}`,
    html`<b>${isExport ? `If they are to be sent, ${CORRECTED_EXPORT}.` : 'If you correct your own file instead, drop the complete file again.'}</b> Its orders that are accepted are settled here too, so you do not need the fix file. What was changed is not recorded then.`,
  ];
}

/** Many remedies already say to drop the file again. */
function stepsForUnreadable({ error, inbox, replacedBy, removedAt }: Report): Html[] {
  if (replacedBy !== undefined || removedAt !== undefined) return [];
  const remedy = error?.remedy ?? 'Correct the file at that place.';
  const place = inbox === undefined ? undefined : html`The inbox is ${inboxText(inbox)}. `;
  const known = 'Orders that the API already has are not sent again.';
  if (isForExport(remedy)) return [html`${remedy}`, html`${known}`];
  const into = inbox === undefined ? INTO_NO_INBOX : 'into the inbox';
  const drop = /\bdrop\b/i.test(remedy)
    ? place
    : html`Drop the complete file again ${into}. ${place}`;
  const other = html`If you dropped it by mistake, or if the new file has another name, delete this file in <code>failed</code> (or <code>done</code>, if it was changed later): a moment later, this page is not red any more.`;
  return [html`${remedy}`, html`${drop}${known}`, other];
}

function stepsForDeadLetters(
  report: Report,
  { groups, nameless }: Story,
  fixFiles: readonly string[],
): Html[] {
  const open = (kind: DeadLetterKind) => openOf(groups, kind);
  const toCorrect = open('invalid').count + open('refused').count;
  const takenRows = sumOf(groups, 'invalid', 'takenRows');
  const known = sumOf(groups, 'invalid', 'taken') + takenRows;
  const correctable = toCorrect - known;
  const [conflicts, failed, doubts] = [open('conflict'), open('failed'), open('inDoubt')];
  const steps: (Html | undefined)[] = [
    correctable > 0
      ? correct(openText(correctable, nameless - takenRows), report, fixFiles)
      : undefined,
    known > 0 ? alreadyKnown(known, takenRows, correctable > 0 ? [] : fixFiles) : undefined,
    nameless > takenRows ? repeatNumbers() : undefined,
    conflicts.count > 0 ? conflict(conflicts, report, correctable > 0 ? [] : fixFiles) : undefined,
    failed.count > 0 ? retry(failed.count, report.batch) : undefined,
    doubts.count > 0 ? decide(doubts) : undefined,
  ];
  return steps.filter((step) => step !== undefined);
}

/** Newer batches with a step each. */
const BATCHES_SHOWN = 10;
const DISCARD_THERE =
  'What was accepted is not sent again: if what came back is the same order, discard it there.';

/** Rows that came back and are still wrong belong to the newer batch, whose fix file has them. */
function stepsElsewhere({ waiting }: Story): Html[] {
  const batches = [...waiting].sort(([a], [b]) => (a < b ? 1 : -1));
  return batches
    .slice(0, BATCHES_SHOWN)
    .map(
      ([batch, { count: number, nameless, settled, accepted, file }]) =>
        html`<b>Continue with the newer report.</b> ${openText(number, nameless)} ${cameBack(number, settled)} in ${fileAndBatch(file, batch)}. ${accepted === number ? DISCARD_THERE : `For ${number === 1 ? 'it' : 'them'}, use the fix file of that report, not the one of this report.`} If that report says that nothing needs you now, a correction is in progress there: wait for it.${settled > 0 && settled < number ? ` ${count(settled)} of them ${settled === 1 ? 'was' : 'were'} settled before; what came back was not accepted.` : ''}`,
    );
}

function cameBack(number: number, settled: number): string {
  if (settled < number) return `came back and still ${number === 1 ? 'waits' : 'wait'}`;
  const [was, needs] = number === 1 ? ['was', 'it needs'] : ['were', 'they need'];
  return `${was} settled and came back with rows that were not accepted: ${needs} a person`;
}

/** Merged cells, and lists that show a number only in its first row. */
function repeatNumbers(): Html {
  return html`<b>Enter the order number in every row.</b> Where it is only in the first row of an order, as with merged cells, repeat it in the rows below: po-sync does not read which cells are merged. If all your files are like that, ask your operator. For your operator: <code>fillDown</code> in the mapping.`;
}

/** The same file a day later, or an edited one: what was corrected in between is not to be corrected again. */
function alreadyKnown(number: number, nameless: number, fixFiles: readonly string[]): Html {
  const probably = nameless === 0 ? '' : ' probably';
  const rows = fixFiles.length === 0 ? undefined : html` in ${fixLinks(fixFiles)}`;
  return html`<b>Do not correct ${openText(number, nameless)} that po-sync${probably} has already.</b> The message names the other file and the items. Compare them: if it is the same order${nameless === 0 ? '' : ', or a row of it'}, discard it in the dashboard, or ask your operator. If the message says that it is in progress, wait for its outcome first. Enter another number${rows} only if it really is another order.`;
}

function correct(what: string, report: Report, fixFiles: readonly string[]): Html {
  return html`<b>Correct ${what}.</b> Open ${fixLinks(fixFiles)}. It has the columns of your file, <code>_problem</code> says what is wrong, and the cells to correct are marked. Correct them, and drop a copy${into(report)}. What you leave as it is stays open. To send a row or an order as it is, write <code>send</code> into <code>_do</code>; to discard an order, write <code>discard</code>. Orders that the API already has are not sent again. During a pause, the dashboard shows whether somebody sent a correction already: this page changes when po-sync has read it, but a copy or a download of this page does not.`;
}

function conflict(open: Open, report: Report, fixFiles: readonly string[]): Html {
  const rows = fixFiles.length === 0 ? undefined : html` in ${fixLinks(fixFiles)}`;
  return html`<b>Settle ${orders(open.count)} in conflict.</b> The number is known with different items, sent or about to be, and the API cannot change an order. ${oldCopy(report)}, discard ${open.count === 1 ? 'it' : 'them'} in the dashboard, or ask your operator. If you want a change, agree on it with the supplier and discard this order, too. If the other one was cancelled before it was sent, write <code>send</code> into <code>_do</code>. Only if it really is another order, enter another number${rows} and drop the file${into(report)}. For your operator: ${discardCommand(open.orders, open.count)}`;
}

/** The same content was read before: what differs now was probably corrected since. */
function oldCopy({ repeats }: Report): string {
  return repeats === undefined
    ? 'If your file is an old copy of your list'
    : 'The same file was read before, so this is probably an old copy: if so';
}

function retry(number: number, batch: string): Html {
  return html`<b>Send ${orders(number)} again</b> when the API works. Your operator does this: ${command('po-sync', 'dead-letters', 'retry', '--batch', batch, '--kind', 'failed')}`;
}

function decide({ count: total, orders: all }: Open): Html {
  const resolve = all
    .slice(0, NUMBERS_SHOWN)
    .map(({ number }) =>
      command('po-sync', 'dead-letters', 'resolve', ...commandWords(number, '--as', 'accepted')),
    );
  return html`<b>Decide on ${orders(total)} in doubt.</b> Your operator checks whether the API has ${total === 1 ? 'it' : 'each of them'}. If it does: ${resolve}${moreOf(total, resolve.length)} If it does not, use <code>--as resend</code>.`;
}

/** Open dead letters: how many, and the first of them. */
type Open = { count: number; orders: readonly AffectedOrder[] };

function openOf(groups: ErrorGroups, kind: DeadLetterKind): Open {
  const ours = [...groups.values()].filter((group) => group.kind === kind);
  const count = ours.reduce((sum, one) => sum + one.count - one.closed - one.waiting, 0);
  return { count, orders: openIn(ours) };
}

function openIn(groups: readonly ErrorGroup[]): AffectedOrder[] {
  return groups.flatMap(({ orders }) =>
    orders.filter(({ closed, brought }) => !closed && !brought),
  );
}
