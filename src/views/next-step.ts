import { join } from 'node:path';
import { type Config, type Source, startCommandOf } from '../config/config.ts';
import { counted, duration } from '../core/format.ts';
import { isWaiting, type OpenOrder, type OrderHistory } from '../operate/orders/explain-order.ts';
import { waitClause } from '../operate/orders/wait-of.ts';
import { intoInbox, openSteps, sendCancelled } from '../order/fixing.ts';
import { shellWord, shellWords } from '../order/text.ts';

/** `settle`: milliseconds, of the configuration. `exports`: the sources that are exports. */
type Place = {
  reports: string;
  start: string;
  now: number;
  into: string;
  settle: number;
  exports?: readonly string[];
};

export function placeOf(config: Config): Omit<Place, 'now'> {
  const exports = config.sources.flatMap(({ type, name }) => (type === 'export' ? name : []));
  const { reports, delivery } = config;
  return {
    reports: reports.path,
    start: startCommandOf(config),
    into: intoInbox(config),
    settle: delivery.settle,
    exports,
  };
}

/** What an order waits for and what a person can do about it, as lines; none when nothing is open. `now`: Redis time, ms. */
export function nextStep(history: OrderHistory, place: Place): string[] {
  const { order, state, open, appearances } = history;
  const name = shellWord(order);
  // The newest one, as in the list of dead letters.
  const waiting = appearances.findLast(isWaiting);
  switch (state) {
    case 'accepted': {
      // The order is settled, but a file with other content for its number is not.
      if (waiting === undefined || waiting.inProgress) return waiting ? untilReported(waiting) : [];
      return openSteps(order, correctIn(waiting.batch, place), true);
    }
    case 'sending':
    case 'queued':
    case 'retry':
    case 'unknown':
      return open === undefined ? [] : [...usedLines(open, state), ...waitLines(open, place)];
    case 'refused':
      return refusedSteps(history, place);
    case 'failed':
      return [
        ...(open === undefined ? [] : usedLines(open, state)),
        'If the API accepts other orders, the order itself may be the cause: correct it in the fix file of its report.',
        'When the API works again, send the order again:',
        `  po-sync dead-letters retry --order ${name}`,
      ];
    case 'conflict':
      return [
        'The API has this number with different items. Give the order another number in the fix file only if it really is another order; otherwise discard it:',
        `  po-sync dead-letters discard --order ${name}`,
      ];
    case 'inDoubt':
      return [
        'Check whether the API has the order. If it does:',
        `  po-sync dead-letters resolve ${shellWords(order, '--as', 'accepted')}`,
        'If the API does not have it:',
        `  po-sync dead-letters resolve ${shellWords(order, '--as', 'resend')}`,
        "Or look it up in the API's list again:",
        `  po-sync dead-letters retry --order ${name}`,
      ];
    case 'nothing': {
      if (waiting === undefined) return againSteps(appearances, place);
      if (waiting.inProgress) return untilReported(waiting);
      return openSteps(order, correctIn(waiting.batch, place));
    }
  }
}

/** The fix file of the newest file is named, as in the list of dead letters: a fix file of each corrects the order. */
function refusedSteps(
  { order, open, appearances }: OrderHistory,
  { reports, into }: Place,
): string[] {
  const retry = `  po-sync dead-letters retry --order ${shellWord(order)}`;
  const inFiles = appearances.filter((one) => isWaiting(one) && one.deadLetter?.kind === 'refused');
  // Only a finished batch has a report, and with it the fix file.
  const own =
    open && appearances.every(({ batch }) => batch !== open.batch)
      ? [{ ...open, inProgress: true }]
      : [];
  const [newest] = [...inFiles, ...own].toSorted((a, b) => (a.batch < b.batch ? 1 : -1));
  const { batch = open?.batch ?? '', inProgress = false } = newest ?? {};
  if (inProgress) {
    const wait = open?.batch !== batch || open.heldBecause === undefined ? [] : waitingSteps(batch);
    return [...untilReported({ batch }), ...wait, ...AGAIN, retry];
  }
  return [
    `Correct the fix file in ${join(reports, batch)}`,
    `and drop it ${into}, or send the order again unchanged:`,
    retry,
  ];
}

/** What to do about orders in doubt: they are never corrected, discarded or just sent again. */
export const DOUBT_STEPS = [
  'Check whether the API has the orders in doubt. Resolve each one that it has:',
  '  po-sync dead-letters resolve ORDER --as accepted',
  'And each one that it does not have:',
  '  po-sync dead-letters resolve ORDER --as resend',
];

/** That an order was created more than once, and whom to ask. */
export function twiceOf({ timesListed }: OrderHistory): string[] {
  if (timesListed === undefined) return [];
  return [
    `Created twice: the API's last list shows it ${timesListed} times.`,
    "Ask the API's owner to remove all but one.",
  ];
}

/** Why there are more attempts than `delivery.attempts` allows. */
function usedLines({ attempts, used }: OpenOrder, state: OrderHistory['state']): string[] {
  if (attempts === used || (state !== 'retry' && state !== 'failed')) return [];
  const few = `${used} of ${counted(attempts, 'attempt')} ${used === 1 ? 'counts' : 'count'} toward delivery.attempts.`;
  const others =
    'attempts that say nothing about the order, such as HTTP 429 or a refused connection';
  return [`${few} Not counted: ${others}, and attempts before a retry.`];
}

const correctIn = (batch: string, { reports, into }: Place) => [
  `Correct the fix file in ${join(reports, batch)}`,
  `and drop it ${into}.`,
];

const AGAIN = ['Or send the order again unchanged; one of a held batch waits for its release:'];

/** How an order is sent of which a person cancelled the last file, or discarded the last dead letter. */
function againSteps(appearances: OrderHistory['appearances'], { exports = [] }: Place): string[] {
  const [last] = appearances.toSorted((a, b) => (a.result.at < b.result.at ? 1 : -1));
  if (last?.result.outcome === 'cancelled') return [sendCancelled(exports.includes(last.source))];
  if (last?.deadLetter?.closed?.by !== 'discarded') return [];
  const file = `drop a file with only this order${last.result.outcome === 'invalid' ? ', corrected' : ''}.`;
  return [
    `To send it after all, ${file} Its first file would also send other orders of it that were discarded.`,
  ];
}

/** A batch has its fix file when it is finished. */
function untilReported({ batch }: { batch: string }): string[] {
  return [
    `Its fix file is written when batch ${batch} is finished.`,
    'If that takes too long, drop the complete corrected order as a new file: it is sent, but what was changed is not recorded.',
  ];
}

/** What an order without an outcome waits for, and what a person can do about it. */
function waitLines({ waitsFor, batch, followedBy }: OpenOrder, place: Place): string[] {
  return [
    `Waits for ${waitClause(waitsFor, place.now)}.`,
    ...(followedBy.length === 0 ? [] : [`The same order is in batch ${followedBy.join(', ')}.`]),
    ...remedyOf(waitsFor, batch, place),
  ];
}

/** What a person can do about a file that waits; the end of its name is enough for every command. */
export function waitingSteps(batch: string): string[] {
  const name = batch.slice(-8);
  return [
    'Look at it, then send it as it is or put it away:',
    `  po-sync batches show ${name}`,
    `  po-sync dead-letters list --batch ${name}`,
    `  po-sync batches release ${name}`,
    `  po-sync batches cancel ${name}`,
  ];
}

function remedyOf(wait: OpenOrder['waitsFor'], batch: string, { start, settle }: Place): string[] {
  switch (wait.for) {
    case 'list':
      return [
        `Nothing to do now. If the list does not settle it within ${duration(10 * settle)} (ten times delivery.settle), the order waits for a person; it can take a little longer, because three lists in a row must fail to settle it.`,
      ];
    case 'release':
      return waitingSteps(batch);
    case 'daemon':
      return [`Run ${start}${wait.role === undefined ? '' : ` --role ${wait.role}`}.`];
    case 'pause':
      // Only an operator's pause has no next try.
      return wait.until === undefined
        ? ['To resume delivery, run po-sync resume.']
        : ['Run po-sync status to see what ends the pause.'];
    case 'slow-down':
    case 'first-list':
    case 'file-list':
    case 'retry':
      return ['Run po-sync status to see whether delivery is paused, and what ends it.'];
    case 'person':
    case 'rate-limit':
    case 'turn':
    case 'answer':
    case 'order':
    case 'file':
    case 'unexamined':
      return ['Nothing to do.'];
  }
}

/** What to do about a rehearsed file of a source of this type, with so many things to correct. */
export function correctionSteps(kind: Source['type'] | undefined, toCorrect: number): string[] {
  const correct =
    kind === 'export'
      ? 'Correct it in the program that writes the export, or correct the mapping. If it is taken as it is, each order that needs a person is reported once.'
      : 'Correct the file itself, or its mapping, before you drop it into an inbox.';
  return toCorrect > 0 ? [correct] : [];
}
