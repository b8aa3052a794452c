import { ago, count, counted, MEANINGS, outcomeWord, stamp } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches.ts';
import { neededPerson, type Standing, settledIn, standingOf } from '../../operate/list-batches.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import type { Paint, Tone } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { type Column, table } from '../terminal/table.ts';

type Format = { paint: Paint; columns: number | undefined };

/** Batches one a line. */
export function batchTable(batches: readonly Batch[], now: number, format: Format): string {
  const columns: Column<Batch>[] = [
    { title: 'batch', of: ({ batch }) => batch, cut: 'start', wish: 9 },
    { title: 'file', of: ({ name }) => name, cut: 'end', wish: 10 },
    { title: 'state', of: (batch) => standingOf(batch), tone: (batch) => TONES[standingOf(batch)] },
    { title: 'done', of: progressOf, right: true, leaves: 3 },
    { title: 'accepted', of: ({ counts }) => counts.accepted, right: true, leaves: 1 },
    {
      title: 'open',
      of: ({ open }) => open,
      right: true,
      tone: ({ open }) => (open > 0 ? 'bad' : 'plain'),
    },
    { title: 'taken', of: ({ startedAt }) => ago(startedAt, now), leaves: 2 },
  ];
  return table(batches, columns, format);
}

const TONES: Record<Standing, Tone> = {
  reading: 'plain',
  sending: 'plain',
  held: 'bad',
  finished: 'quiet',
  unreadable: 'bad',
};

/** `150/5,000`; nobody knows of how many while the file is read, or when it cannot be read. */
function progressOf(batch: Batch): string {
  const settled = count(settledIn(batch));
  if (standingOf(batch) === 'unreadable') return '–';
  return `${settled}/${batch.total === undefined ? '?' : count(batch.total)}`;
}

/** One batch with everything that is known of it. */
export function batchText(
  batch: Batch,
  report: string,
  error: string | undefined,
  now: number,
  { paint }: Format,
): string {
  const { source, name, startedAt, lastAt, held, inspection, counts, open, cancelled } = batch;
  const standing = standingOf(batch);
  const facts: [string, string | undefined][] = [
    ['file', `${name} (source ${source})`],
    ['taken', `${stamp(startedAt)}, ${ago(startedAt, now)}`],
    ['last outcome', settledIn(batch) === 0 ? undefined : stamp(lastAt)],
    [
      'format',
      inspection &&
        `${inspection.shape.format.type}, ${counted(inspection.records, 'record')}, ${counted(inspection.bytes, 'byte')}`,
    ],
    ['unreadable', error],
    ['held', held && `since ${stamp(held.since)}: ${held.reason}`],
    ['cancelled', cancelled ? 'what was not sent is taken back' : undefined],
    ['report', report],
  ];
  const outcomes = OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => {
    const number = count(counts[outcome]).padStart(9);
    return `  ${number}  ${outcomeWord(outcome).padEnd(10)} ${paint('quiet', MEANINGS[outcome])}\n`;
  });
  const lines = facts.flatMap(([title, text]) => (text ? [`  ${title.padEnd(14)}${printable(text)}\n`] : []));
  return [
    `${paint('strong', batch.batch)}  ${paint(TONES[standing], standing)}\n`,
    ...lines,
    standing === 'unreadable' ? '' : `\n  ${progressOf(batch)} orders have their outcome\n`,
    ...outcomes,
    nextStep(batch, standing, neededPerson(batch), open),
  ].join('');
}

function nextStep({ batch, settledPath }: Batch, standing: Standing, needed: number, open: number): string {
  if (standing === 'unreadable') {
    const place = settledPath === undefined ? '' : ` It lies in ${printable(settledPath)}.`;
    return `\nNothing of it was sent.${place} Correct it and drop it in again, whole.\n`;
  }
  if (standing === 'held') {
    return `\nLook at the refusals first: po-sync dead-letters list --batch ${batch}\nThen po-sync batches release ${batch}, or cancel it.\n`;
  }
  if (open > 0)
    return `\n${counted(open, 'order')} of it wait for a person: po-sync dead-letters list --batch ${batch}\n`;
  return needed > 0 ? '\nEverything that needed a person is settled.\n' : '';
}
