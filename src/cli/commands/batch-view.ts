import { ago, count, counted, MEANINGS, outcomeWord, stamp } from '../../core/format.ts';
import { totalOrders } from '../../ledger/batches/batches.ts';
import { type BatchStanding, type BatchView, neededPerson, settledIn } from '../../operate/batches/list-batches.ts';
import { countSettled, OUTCOMES } from '../../order/outcome.ts';
import { type Format, printable, type Tone } from '../terminal/print.ts';
import { type Column, table } from '../terminal/table.ts';

/** Batches, one a line. */
export function batchTable(batches: readonly BatchView[], now: number, format: Format): string {
  const columns: Column<BatchView>[] = [
    { title: 'batch', of: ({ batch }) => batch.batch, cut: 'start', wish: 9 },
    { title: 'file', of: ({ batch }) => batch.name, cut: 'end', wish: 10 },
    { title: 'state', of: ({ standing }) => standing, tone: ({ standing }) => TONES[standing] },
    { title: 'done', of: progressOf, right: true, leaves: 3 },
    { title: 'accepted', of: ({ batch }) => count(batch.counts.accepted), right: true, leaves: 1 },
    {
      title: 'open',
      of: ({ batch }) => count(batch.open),
      right: true,
      tone: ({ batch }) => (batch.open > 0 ? 'bad' : 'plain'),
    },
    { title: 'taken', of: ({ batch }) => ago(batch.startedAt, now), leaves: 2 },
  ];
  return table(batches, columns, format);
}

const TONES: Record<BatchStanding, Tone> = {
  reading: 'plain',
  sending: 'plain',
  held: 'bad',
  finished: 'quiet',
  unreadable: 'bad',
};

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

/** Everything that is known about one batch. */
export function batchText(view: BatchView, now: number, { paint }: Format): string {
  const { batch, standing } = view;
  const outcomes = OUTCOMES.filter((outcome) => batch.counts[outcome] > 0).map((outcome) => {
    const number = count(batch.counts[outcome]).padStart(9);
    return `  ${number}  ${outcomeWord(outcome).padEnd(10)} ${paint('quiet', MEANINGS[outcome])}\n`;
  });
  const lines = factsOf(view, now).flatMap(([title, text]) =>
    text ? [`  ${title.padEnd(14)}${printable(text)}\n`] : [],
  );
  return [
    `${paint('strong', batch.batch)}  ${paint(TONES[standing], standing)}\n`,
    ...lines,
    standing === 'unreadable' ? '' : `\n  ${progressOf(view)} orders have an outcome\n`,
    ...outcomes,
    nextStep(view),
  ].join('');
}

function factsOf({ batch, report, error }: BatchView, now: number): [title: string, text: string | undefined][] {
  const { source, name, startedAt, lastAt, held, inspection, cancelled } = batch;
  const format =
    inspection &&
    `${inspection.shape.format.type}, ${counted(inspection.records, 'record')}, ${counted(inspection.bytes, 'byte')}`;
  return [
    ['file', `${name} (source ${source})`],
    ['taken', `${stamp(startedAt)}, ${ago(startedAt, now)}`],
    ['last outcome', settledIn(batch) === 0 ? undefined : stamp(lastAt)],
    ['format', format],
    ['unreadable', error?.message],
    ['held', held && `since ${stamp(held.since)}: ${held.reason}`],
    ['cancelled', cancelled ? 'orders that were not sent are cancelled' : undefined],
    ['report', report],
  ];
}

function nextStep({ batch, standing }: BatchView): string {
  const name = batch.batch;
  if (standing === 'unreadable') {
    const place = batch.settledPath === undefined ? '' : ` The file is ${printable(batch.settledPath)}.`;
    const sent =
      countSettled(batch.counts) === 0
        ? 'No orders were sent.'
        : 'Its report lists the orders that were admitted before.';
    return `\n${sent}${place} Correct it and drop the complete file again.\n`;
  }
  if (standing === 'held') {
    return `\nCheck the refused orders first: po-sync dead-letters list --batch ${name}\nThen run po-sync batches release ${name}, or cancel it.\n`;
  }
  if (batch.open > 0) {
    const wait = batch.open === 1 ? 'waits' : 'wait';
    return `\n${counted(batch.open, 'order')} ${wait} for a person: po-sync dead-letters list --batch ${name}\n`;
  }
  return neededPerson(batch) > 0 ? '\nEverything that needed a person is settled.\n' : '';
}
