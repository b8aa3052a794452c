import { ago, count, counted, duration, MEANINGS, outcomeWord, stamp } from '../../core/format.ts';
import { type Batch, totalOrders } from '../../ledger/batches/batches.ts';
import { CLOSE_UNREADABLE, cancelledBy } from '../../operate/batches/cancel-batch.ts';
import {
  type BatchStanding,
  type BatchView,
  CORRECT_FILE,
  ENDED_BEFORE,
  neededPerson,
  readingText,
  settledIn,
  settledSince,
  standingText,
  unsettledText,
} from '../../operate/batches/list-batches.ts';
import { sendCancelled } from '../../order/fixing.ts';
import { countSettled, OUTCOMES } from '../../order/outcome.ts';
import { DECLARE, printUndeclared } from '../../setup/print.ts';
import { fileWaitText } from '../../wording/file-wait.ts';
import { type Format, hanging, printable, type Tone, wrapped } from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';
import { waitingSteps } from './next-step.ts';

/** Batches, one a line. How many orders are done says the least where all files are finished. */
export function batchTable(batches: readonly BatchView[], now: number, format: Format): string {
  const isAllDone = batches.every(
    ({ standing }) => standing === 'finished' || standing === 'unreadable',
  );
  const columns: Column<BatchView>[] = [
    { title: 'batch', of: ({ batch }) => batch.batch, cut: 'start', wish: 9 },
    { title: 'file', of: ({ batch }) => batch.name, cut: 'end', wish: 10 },
    { title: 'state', of: standingText, tone: toneOf },
    { title: 'done', of: progressOf, right: true, leaves: isAllDone ? 0 : 4 },
    numbers('accepted', ({ batch }) => batch.counts.accepted, {
      short: { title: 'acc.' },
      leaves: 3,
    }),
    ...(batches.some(({ batch }) => batch.counts.duplicate > 0) ? [DUPLICATES] : []),
    numbers('open', ({ batch }) => batch.open, {
      tone: ({ batch }) => (batch.open > 0 ? 'bad' : 'plain'),
    }),
    ...(batches.some(({ batch }) => settledSince(batch) > 0) ? [SETTLED] : []),
    {
      title: 'taken',
      short: { title: 'age', of: ageOf(now) },
      of: ({ batch }) => ago(batch.startedAt, now),
      leaves: 1,
    },
  ];
  return table(batches, columns, format);
}

type Rest = Pick<Column<BatchView>, 'short' | 'leaves' | 'tone'>;

function numbers(title: string, of: (view: BatchView) => number, rest: Rest): Column<BatchView> {
  return { title, of: (view) => count(of(view)), right: true, ...rest };
}

/** How long ago a file was taken, only in its largest unit: `3 d`. */
const ageOf = (now: number) => (view: BatchView) =>
  ago(view.batch.startedAt, now).replace(/^\D*(\d+ \w+).*$/, '$1');

/** Nothing was sent for them: a file that was read again is done without an accepted order. Both columns leave together. */
const DUPLICATES = numbers('duplicate', ({ batch }) => batch.counts.duplicate, {
  short: { title: 'dup.' },
  leaves: 3,
});

/** Orders that needed a person once: without them, a file that is done has fewer accepted orders and nothing open. */
const SETTLED = numbers('settled', ({ batch }) => settledSince(batch), { leaves: 2 });

/** The files that wait for delivery, a paragraph each. */
export function readingLines(batches: readonly BatchView[], format: Format): string {
  const texts = batches.flatMap(({ batch }) => readingText(batch, `${batch.name}: `) ?? []);
  return texts.map((text) => `${hanging(printable(text), 0, format)}\n`).join('');
}

const TONES: Record<BatchStanding, Tone> = {
  reading: 'plain',
  sending: 'plain',
  waiting: 'bad',
  finished: 'quiet',
  unreadable: 'bad',
};

function toneOf({ batch, standing }: BatchView): Tone {
  return batch.unsettled === undefined ? TONES[standing] : 'bad';
}

/** `150/5,000`; `150/?` before the file was inspected; `150/≤5,000` for a file with too many orders to count at once. */
function progressOf({ batch, standing }: BatchView): string {
  if (standing === 'unreadable') return '–';
  return `${count(settledIn(batch))}/${totalOf(batch)}`;
}

/** An order has at least one record. */
function totalOf(batch: BatchView['batch']): string {
  const { inspection } = batch;
  const orders = totalOrders(batch);
  if (orders !== undefined) return count(orders);
  return inspection === undefined ? '?' : `≤${count(inspection.records)}`;
}

/** Everything that is known about one batch. `nameless`: how many of its orders are rows without an order number. */
export function batchText(view: BatchView, now: number, format: Format, nameless = 0): string {
  const { batch, standing } = view;
  const outcomes = OUTCOMES.filter((outcome) => batch.counts[outcome] > 0).map((outcome) => {
    const number = count(batch.counts[outcome]).padStart(9);
    return `  ${number}  ${outcomeWord(outcome).padEnd(10)} ${format.paint('quiet', MEANINGS[outcome])}\n`;
  });
  const lines = factsOf(view, now).flatMap(([title, text]) =>
    text ? [`  ${title.padEnd(FACT - 2)}${hanging(printable(text), FACT, format)}\n`] : [],
  );
  return [
    title(view, format),
    ...lines,
    standing === 'unreadable'
      ? ''
      : `\n  ${progressOf(view)} orders have an outcome${rowsNote(nameless)}\n`,
    ...outcomes,
    ...[...nextStep(view), ...cancelledStep(view)].map(
      (line) => `${line.startsWith('  ') ? line : hanging(line, 0, format)}\n`,
    ),
  ].join('');
}

function title(view: BatchView, { paint, columns = Number.POSITIVE_INFINITY }: Format): string {
  const { batch } = view.batch;
  const text = standingText(view);
  const gap = batch.length + 2 + text.length > columns ? '\n  ' : '  ';
  return `${paint('strong', batch)}${gap}${paint(toneOf(view), text)}\n`;
}

function rowsNote(nameless: number): string {
  if (nameless === 0) return '';
  return nameless === 1
    ? '; 1 of them is a row without an order number'
    : `; ${count(nameless)} of them are rows without an order number`;
}

/** Where the text of a fact begins. */
const FACT = 16;

function factsOf(view: BatchView, now: number): [title: string, text: string | undefined][] {
  const { batch, report, error } = view;
  const { source, name, startedAt, lastAt, held, unsettled, inspection } = batch;
  const format =
    inspection &&
    `${inspection.shape.format.type}, ${counted(inspection.records, 'record')}, ${counted(inspection.bytes, 'byte')}`;
  return [
    ['file', `${name} (source ${source})`],
    ['taken', `${stamp(startedAt)}, ${ago(startedAt, now)}`],
    ['last outcome', settledIn(batch) === 0 ? undefined : stamp(lastAt)],
    ['format', format],
    ['reading', readingText(batch)],
    ['unreadable', error?.message],
    ['waits', held && sinceText({ since: held.since, reason: fileWaitText(held) })],
    [
      view.batch.state === 'reading' ? 'not read' : 'no report yet',
      unsettled && sinceText(unsettled),
    ],
    ['cancelled', cancelledBy(batch)],
    ['warnings', inspection?.warnings.join(' ')],
    ['report', report],
  ];
}

const sinceText = ({ since, reason }: { since: number; reason: string }) =>
  `since ${stamp(since)}: ${reason}`;

/** Lines; a command, which is not wrapped, begins with spaces. */
function nextStep({ batch, standing, error, endedWith, over }: BatchView): string[] {
  const name = batch.batch;
  if (standing === 'unreadable') {
    const sent =
      countSettled(batch.counts) === 0
        ? 'No orders were sent.'
        : 'Its report lists the orders that were admitted before.';
    const text = `${sent} ${error?.remedy ?? CORRECT_FILE}`;
    return over === undefined
      ? ['', `${text} If nobody needs it, close it:`, `  po-sync batches cancel ${name}`]
      : ['', text];
  }
  if (batch.unsettled !== undefined) return ['', unsettledText(batch)];
  if (endedWith) return ['', ENDED_BEFORE];
  if (standing === 'waiting') return ['', ...undeclaredLines(batch.held), ...waitingSteps(name)];
  if (batch.open > 0) {
    const wait = batch.open === 1 ? 'waits' : 'wait';
    return [
      '',
      `${counted(batch.open, 'order')} ${wait} for a person:`,
      `  po-sync dead-letters list --batch ${name.slice(-8)}`,
    ];
  }
  return neededPerson(batch) > 0 ? ['', 'Everything that needed a person is settled.'] : [];
}

function undeclaredLines(held: Batch['held']): string[] {
  const lines = held && printUndeclared(held.facts);
  if (lines === undefined) return [];
  return [`${DECLARE}:`, ...lines.split('\n').map((line) => `  ${printable(line)}`), ''];
}

/** What sends the orders that a person cancelled by mistake. */
function cancelledStep({
  endedWith,
  batch: { cancelledBy: by, counts, kind },
}: BatchView): string[] {
  return by && !endedWith && counts.cancelled > 0 ? ['', sendCancelled(kind === 'export')] : [];
}

/** Batches whose file cannot be read on, whose report cannot be written or whose file cannot be put away, and why. */
export function unsettledLines(
  { batches, now }: { batches: readonly BatchView[]; now: number },
  format: Format,
): string {
  const rows = batches.flatMap(({ batch }) =>
    batch.unsettled ? [{ ...batch, ...batch.unsettled }] : [],
  );
  if (rows.length === 0) return '';
  const lines = rows.map(({ name, reason, since }) =>
    printable(`${name}, for ${duration(now - since)}: ${reason}`),
  );
  return [...lines, ...new Set(rows.map(unsettledText))]
    .flatMap((text) => wrapped(text, format))
    .map((line) => `${line}\n`)
    .join('');
}

/** Files that could not be read, and why. */
export function unreadableLines(
  { unreadable, now }: { unreadable: readonly BatchView[]; now: number },
  format: Format,
): string {
  const texts = unreadable.map(({ batch, error }) =>
    printable(
      `${labelOf(batch, unreadable)}, taken ${ago(batch.startedAt, now)}: ${error?.message ?? 'see its report'}`,
    ),
  );
  return texts.map((text) => `${hanging(text, 2, format)}\n`).join('');
}

/** Files of the same name differ by their batch. */
function labelOf({ name, batch }: Named, files: readonly { batch: Named }[]): string {
  const isAlone = files.every((one) => one.batch.name !== name || one.batch.batch === batch);
  return isAlone ? name : `${name} (batch ${batch.slice(-8)})`;
}

type Named = Pick<BatchView['batch'], 'name' | 'batch'>;

/** The remedy of each unreadable file, or once when it is the same for all. */
export function unreadableRemedies(files: readonly BatchView[], format: Format): string {
  if (files.length === 0) return '';
  const each = files.map(({ batch, error }) => ({
    file: labelOf(batch, files),
    remedy: error?.remedy ?? CORRECT_FILE,
  }));
  const remedies = new Set(each.map(({ remedy }) => remedy));
  const texts =
    remedies.size === 1 ? [...remedies] : each.map(({ file, remedy }) => `${file}: ${remedy}`);
  return `${[...texts, `${CLOSE_UNREADABLE}BATCH`]
    .map(printable)
    .flatMap((text) => wrapped(text, format))
    .join('\n')}\n`;
}

/** The command that shows how each held batch is released or cancelled, and why it is held. */
export function heldLines(batches: readonly BatchView[], format: Format): string {
  const texts = batches.flatMap(({ batch: { batch, name, held } }) => {
    const first = `${name} is held; run po-sync batches show ${batch.slice(-8)}: it prints the commands that release or cancel it`;
    return held === undefined ? [] : [first, `  ${fileWaitText(held)}`];
  });
  return texts
    .map((text) => `${hanging(printable(text), text.startsWith('  ') ? 2 : 0, format)}\n`)
    .join('');
}
