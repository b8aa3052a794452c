import { basename } from 'node:path';
import { ago, count, counted, MEANINGS, orders, outcomeWord, size, stamp } from '../core/format.ts';
import { type Batch, totalOrders } from '../ledger/batches/batches.ts';
import { cancelledBy } from '../operate/batches/cancel-batch.ts';
import {
  type BatchStanding,
  type BatchView,
  CORRECT_FILE,
  ENDED_BEFORE,
  neededPerson,
  settledIn,
  settledSince,
  standingText,
  unsettledText,
} from '../operate/batches/list-batches.ts';
import { formatText } from '../order/batch.ts';
import type { Step } from '../order/fixing.ts';
import { sendCancelled } from '../order/fixing.ts';
import { countSettled, OUTCOMES } from '../order/outcome.ts';
import { asText } from '../order/sentence.ts';
import { openText } from '../report/story.ts';
import { DECLARE, printUndeclared } from '../setup/print.ts';
import { fileWaitText } from '../wording/file-wait.ts';
import { waitingSteps } from './next-step.ts';
import { type Block, type Column, type Text, type Tone, tableOf, type View } from './view.ts';

/** Batches, one a line. How many orders are done says the least where all files are finished. */
export function batchTable(batches: readonly BatchView[], now: number): Block {
  const isAllDone = batches.every(
    ({ standing }) => standing === 'finished' || standing === 'unreadable',
  );
  // Both leave together: without them, a file that was read again has fewer accepted orders and nothing open.
  const duplicates: Column<BatchView> = {
    title: 'duplicate',
    right: true,
    leaves: 3,
    of: ({ batch }) => count(batch.counts.duplicate),
  };
  const settled: Column<BatchView> = {
    title: 'settled',
    right: true,
    leaves: 2,
    of: ({ batch }) => count(settledSince(batch)),
  };
  return tableOf<BatchView>(batches, [
    { title: 'batch', cut: 'start', wish: 9, of: ({ batch }) => batch.batch },
    {
      title: 'file',
      cut: 'end',
      wish: 10,
      of: ({ batch: { batch, name } }) => [{ text: name, about: { batch } }],
    },
    { title: 'state', of: (view) => [{ text: standingText(view), tone: toneOf(view) }] },
    { title: 'done', right: true, leaves: isAllDone ? 0 : 4, of: progressOf },
    {
      title: 'accepted',
      right: true,
      leaves: 3,
      of: ({ batch }) => count(batch.counts.accepted),
    },
    ...(batches.some(({ batch }) => batch.counts.duplicate > 0) ? [duplicates] : []),
    {
      title: 'open',
      right: true,
      of: ({ batch: { open } }) => [{ text: count(open), tone: open > 0 ? 'bad' : 'plain' }],
    },
    ...(batches.some(({ batch }) => settledSince(batch) > 0) ? [settled] : []),
    { title: 'taken', leaves: 1, of: ({ batch }) => ago(batch.startedAt, now) },
  ]);
}

const TONES: Record<BatchStanding, Tone> = {
  reading: 'plain',
  sending: 'plain',
  waiting: 'bad',
  finished: 'quiet',
  unreadable: 'bad',
};

/** A finished file is good on a page only where nothing in it needs a person. */
function toneOf({ batch, standing }: BatchView): Tone {
  return batch.unsettled === undefined ? TONES[standing] : 'bad';
}

/** `150/5,000`; `150/?` before the file was inspected; `150/≤5,000`: an order has at least one record. */
function progressOf({ batch, standing }: BatchView): Text {
  if (standing === 'unreadable') return '–';
  const { inspection } = batch;
  const all = totalOrders(batch);
  const most = inspection === undefined ? '?' : `≤${count(inspection.records)}`;
  const done = settledIn(batch);
  const text = `${count(done)}/${all === undefined ? most : count(all)}`;
  return [{ text, ...(all ? { share: done / all } : {}) }];
}

/** Everything that is known about one batch. `nameless`: how many of its orders are rows without an order number. */
export function batchView(view: BatchView, now: number, nameless = 0): View {
  const { batch, standing } = view;
  const outcomes = OUTCOMES.filter((outcome) => batch.counts[outcome] > 0).map((outcome): Text => {
    const number = count(batch.counts[outcome]).padStart(9);
    return [
      `${number}  ${outcomeWord(outcome).padEnd(10)} `,
      { text: MEANINGS[outcome], tone: 'quiet' },
    ];
  });
  const rows = nameless === 0 ? '' : `; ${openText(nameless, nameless)}`;
  const done: Text = [progressOf(view), ` orders have an outcome${rows}`].flat();
  return {
    title: batch.batch,
    state: { text: standingText(view), tone: toneOf(view) },
    blocks: [
      { kind: 'facts', facts: factsOf(view, now) },
      { kind: 'list', texts: standing === 'unreadable' ? [] : [done, ...outcomes] },
      { kind: 'steps', lines: nextStep(view) },
      { kind: 'steps', lines: cancelledStep(view) },
    ],
  };
}

function factsOf(view: BatchView, now: number): [title: string, text: string][] {
  const { batch, report, error } = view;
  const { source, name, startedAt, lastAt, held, unsettled, inspection, by } = batch;
  // Another file may have the name under which it was dropped.
  const placed = basename(batch.settledPath ?? name);
  const format =
    inspection &&
    `${formatText(inspection.shape.format)}, ${counted(inspection.records, 'record')}, ${size(inspection.bytes)}`;
  const facts: [string, string | undefined][] = [
    ['file', `${name} (source ${source})`],
    ['submitted by', by],
    ['in the folder', placed === name ? undefined : placed],
    ['taken', `${stamp(startedAt)}, ${ago(startedAt, now)}`],
    ['last outcome', settledIn(batch) === 0 ? undefined : stamp(lastAt)],
    ['format', format],
    ['unreadable', error?.message],
    ['waits', held && sinceText({ since: held.since, reason: asText(fileWaitText(held)) })],
    [batch.state === 'reading' ? 'not read' : 'no report yet', unsettled && sinceText(unsettled)],
    ['cancelled', cancelledBy(batch)],
    ['warnings', inspection?.warnings.join(' ')],
    ['report', report],
  ];
  return facts.flatMap(([title, text]) => (text ? [[title, text]] : []));
}

const sinceText = ({ since, reason }: { since: number; reason: string }) =>
  `since ${stamp(since)}: ${reason}`;

function nextStep({ batch, standing, error, endedWith, over }: BatchView): Step[] {
  const name = batch.batch;
  if (standing === 'unreadable') {
    const sent =
      countSettled(batch.counts) === 0
        ? 'No orders were sent.'
        : 'Its report lists the orders that were admitted before.';
    const text = `${sent} ${error?.remedy ?? CORRECT_FILE}`;
    return over === undefined
      ? [`${text} If nobody needs it, close it:`, { command: `po-sync batches cancel ${name}` }]
      : [text];
  }
  if (batch.unsettled !== undefined) return [unsettledText(batch)];
  if (endedWith) return [ENDED_BEFORE];
  if (standing === 'waiting') return [...undeclaredLines(batch.held), ...waitingSteps(name)];
  if (batch.open > 0) {
    const wait = batch.open === 1 ? 'waits' : 'wait';
    return [
      `${counted(batch.open, 'order')} ${wait} for a person:`,
      { command: `po-sync dead-letters list --batch ${name.slice(-8)}` },
    ];
  }
  return neededPerson(batch) > 0 ? ['Everything that needed a person is settled.'] : [];
}

function undeclaredLines(held: Batch['held']): Step[] {
  const lines = held && printUndeclared(held.facts);
  return lines === undefined
    ? []
    : [`${DECLARE}:`, ...lines.split('\n').map((command) => ({ command })), ''];
}

/** What of a cancelled file cannot be withdrawn, and what sends the orders that were cancelled by mistake. */
function cancelledStep({ endedWith, batch }: BatchView): string[] {
  const { cancelledBy: by, cancelled, counts, kind, state } = batch;
  const { accepted } = counts;
  const sent =
    accepted === 1 ? '1 order of this file was' : `${orders(accepted)} of this file were`;
  return [
    ...(cancelled && state === 'done' && accepted > 0
      ? [
          `${sent} accepted. po-sync cannot withdraw ${accepted === 1 ? 'it' : 'them'}: if the file was wrong, inform the supplier.`,
        ]
      : []),
    ...(by && !endedWith && counts.cancelled > 0 ? [sendCancelled(kind === 'export')] : []),
  ];
}
