import { join } from 'node:path';
import { counted, outcomeWord, stamp } from '../../core/format.ts';
import type { PastAttempt } from '../../ledger/entry.ts';
import type { Appearance } from '../../operate/appearances.ts';
import type { OrderStory } from '../../operate/explain-order.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import type { Paint, Tone } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';

type KnownInvalid = { now: number; reports: string; paint: Paint };
type Happening = { at: number; text: string; more?: string[] };

/** An order's story as a person reads it: how it stands, what happened when, and what to do. */
export function storyText(story: OrderStory, { now, reports, paint }: KnownInvalid): string {
  const [tone, standing] = standingOf(story);
  const lines = happenings(story).flatMap(({ at, text, more = [] }) => [
    `  ${stamp(at)}  ${printable(text)}`,
    ...more.map((line) => `${' '.repeat(27)}${printable(line)}`),
  ]);
  const parts = [
    `${paint('strong', printable(story.order))}  ${paint(tone, standing)}`,
    ...contentOf(story),
    '',
    ...lines,
  ];
  const next = nextStep(story, reports, now);
  return `${[...parts, ...(next.length === 0 ? [] : ['', ...next.map(printable)])].join('\n')}\n`;
}

function standingOf({ standing, accepted, open, appearances }: OrderStory): [Tone, string] {
  switch (standing) {
    case 'accepted':
      return ['good', accepted?.batch === undefined ? 'accepted: the API had it before' : 'accepted'];
    case 'nothing':
      return appearances.some(({ deadLetter }) => deadLetter && !deadLetter.closed)
        ? ['bad', 'waits for a person']
        : ['plain', 'not in the ledger'];
    case 'queued':
    case 'retry':
      return open?.heldBecause === undefined ? ['plain', 'waits to be sent'] : ['bad', 'its batch is held'];
    case 'sending':
      return ['plain', 'is being sent'];
    case 'unknown':
      return ['doubtful', "may have been sent; the API's list is asked"];
    case 'conflict':
    case 'refused':
    case 'failed':
    case 'inDoubt':
      return ['bad', `${outcomeWord(standing)}, waits for a person`];
  }
}

function contentOf({ open }: OrderStory): string[] {
  if (open === undefined) return [];
  const { items } = open.content;
  const shown = items.slice(0, 20).map(({ articleCode, quantity }) => `  ${quantity} × ${printable(articleCode)}`);
  return items.length > shown.length ? [...shown, `  … and ${items.length - shown.length} more`] : shown;
}

/** In the order of time; what happened at one moment in the order of an order's way. */
function happenings({ accepted, open, deeds, appearances }: OrderStory): Happening[] {
  const isReported = (batch: string | undefined) => appearances.some((one) => one.batch === batch);
  const all: Happening[] = [
    ...appearances.map(claim),
    ...(open === undefined || isReported(open.batch) ? [] : [claimOf(open)]),
    ...(open === undefined ? [] : open.history.map(attempt)),
    ...appearances.flatMap((one) => outcomeOf(one, open?.history ?? [])),
    ...(accepted === undefined || isReported(accepted.batch) ? [] : [acceptance(accepted)]),
    ...deeds.map(({ at, who, what }) => ({ at, text: `${what} by ${who}` })),
  ];
  return all.sort((a, b) => a.at - b.at);
}

function claimOf({ file, line, batch, takenAt }: NonNullable<OrderStory['open']>): Happening {
  return { at: takenAt, text: `in ${file ?? 'a file'}, line ${line}, batch ${batch}` };
}

function claim({ batch, source, file, startedAt, result, deadLetter }: Appearance): Happening {
  const lines = deadLetter?.location.lines;
  const where = lines === undefined ? `line ${result.line}` : `lines ${lines.join(', ')}`;
  return { at: Date.parse(startedAt), text: `in ${file} (source ${source}), ${where}, batch ${batch}` };
}

function outcomeOf({ result, deadLetter }: Appearance, history: readonly PastAttempt[]): Happening[] {
  const { outcome, attempts, at, message } = result;
  const times = attempts > 0 ? ` after ${counted(attempts, 'attempt')}` : '';
  const said = message === '' || deadLetter?.problems ? '' : `: ${message}`;
  const more = deadLetter ? { more: detailsOf(deadLetter) } : {};
  // A report tells when the last attempt began; its end is what came of it.
  const ended = history.find((one) => one.attempt === attempts)?.at ?? 0;
  return [
    { at: Math.max(Date.parse(at), ended), text: `${outcomeWord(outcome)}${times}${said}`, ...more },
    ...(deadLetter?.closed ? [closing(deadLetter.closed)] : []),
  ];
}

function detailsOf({ problems = [], httpStatus, response }: DeadLetter): string[] {
  const answer = httpStatus === undefined ? [] : [`HTTP ${httpStatus}${response === undefined ? '' : ` ${response}`}`];
  const wrong = problems.map(({ line, field, value, message }) => {
    const found = value === '' ? '' : `, found "${value}"`;
    return `line ${line}: ${field === '' ? '' : `${field}: `}${message}${found}`;
  });
  return [...wrong, ...answer];
}

function closing({ at, by, batch, who }: NonNullable<DeadLetter['closed']>): Happening {
  const whose = who === undefined ? '' : ` by ${who}`;
  return {
    at: Date.parse(at),
    text: `its dead letter was closed: ${by}${whose}${batch === undefined ? '' : `, batch ${batch}`}`,
  };
}

function attempt({ attempt: number, at, message, httpStatus }: PastAttempt): Happening {
  return { at, text: `attempt ${number}: ${message}${httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`}` };
}

function acceptance({ at, attempts, batch }: NonNullable<OrderStory['accepted']>): Happening {
  if (batch === undefined) return { at, text: "found in the API's list, where it was before us" };
  return { at, text: `accepted by the API${attempts > 1 ? ` at attempt ${attempts}` : ''}, batch ${batch}` };
}

function nextStep({ order, standing, open, appearances }: OrderStory, reports: string, now: number): string[] {
  switch (standing) {
    case 'accepted':
    case 'sending':
      return [];
    case 'queued':
    case 'retry':
      return open?.heldBecause === undefined
        ? ['Nothing is to be done; po-sync status tells whether delivery pauses.']
        : [`Held: ${open.heldBecause}`, `po-sync batches release ${open.batch} lets it go on.`];
    case 'unknown':
      return [`Nothing is to be done; the list is asked ${until(open?.nextAt, now)}.`];
    case 'refused':
      return [
        `Mend the fix file in ${join(reports, open?.batch ?? '')}`,
        'and drop it into the inbox, or send it again as it is:',
        `  po-sync dead-letters retry --order ${order}`,
      ];
    case 'failed':
      return ['Once the API is well, send it again:', `  po-sync dead-letters retry --order ${order}`];
    case 'conflict':
      return [
        'The API has this number with other items. Give the order a number of its own in the fix file, or give it up:',
        `  po-sync dead-letters discard --order ${order}`,
      ];
    case 'inDoubt':
      return [
        'Look at the API whether it is there, then say so:',
        `  po-sync dead-letters resolve ${order} --as accepted    it is there`,
        `  po-sync dead-letters resolve ${order} --as resend      it is not`,
      ];
    case 'nothing': {
      const waiting = appearances.find(({ deadLetter }) => deadLetter && !deadLetter.closed);
      return waiting === undefined
        ? []
        : [`Mend the fix file in ${join(reports, waiting.batch)}`, 'and drop it into the inbox.'];
    }
  }
}

function until(at: number | undefined, now: number): string {
  if (at === undefined || at <= now) return 'now';
  return `in ${Math.ceil((at - now) / 1000)} s at the earliest`;
}
