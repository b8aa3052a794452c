import { join } from 'node:path';
import { type Config, type Source, startCommandOf } from '../config/config.ts';
import { isWaiting, type OpenOrder, type OrderHistory } from '../operate/orders/explain-order.ts';
import { intoInbox, openSteps, type Step, sendCancelled } from '../order/fixing.ts';
import { asText } from '../order/sentence.ts';
import { shellWord, shellWords } from '../order/text.ts';
import { waitClause } from '../wording/wait.ts';

/** `reports`: their folder. `into`: where a corrected file is dropped. `exports`: the sources that are exports. */
type Place = {
  reports: string;
  start: string;
  now: number;
  into: string;
  exports?: readonly string[];
};

export function placeOf(config: Config): Omit<Place, 'now'> {
  const exports = config.sources.flatMap(({ type, name }) => (type === 'export' ? name : []));
  const { path } = config.reports;
  return { reports: path, start: startCommandOf(config), into: intoInbox(config), exports };
}

/** What an order waits for and what a person can do about it, as lines; none when nothing is open. `now`: Redis time, ms. */
export function nextStep(history: OrderHistory, place: Place): Step[] {
  const { order, state, open, appearances } = history;
  const name = shellWord(order);
  // The newest one, as in the list of dead letters.
  const waiting = appearances.findLast(isWaiting);
  switch (state) {
    case 'sending':
    case 'queued':
    case 'retry':
    case 'unknown':
      return open === undefined ? [] : waitLines(open, place);
    case 'refused':
    case 'failed':
      return [
        ...correctIn(waiting ?? { batch: open?.batch ?? '', inProgress: true }, place),
        ...(open?.isHeld ? waitingSteps(open.batch) : []),
        'Or send it again unchanged:',
        { command: `po-sync dead-letters retry --order ${name}` },
      ];
    case 'conflict':
      return [
        'The API has this number with different items. Give the order another number only if it really is another order; otherwise discard it:',
        { command: `po-sync dead-letters discard --order ${name}` },
      ];
    case 'inDoubt':
      return [
        'Check whether the API has the order. If it does:',
        { command: `po-sync dead-letters resolve ${shellWords(order, '--as', 'accepted')}` },
        'If the API does not have it:',
        { command: `po-sync dead-letters resolve ${shellWords(order, '--as', 'resend')}` },
      ];
    case 'accepted':
    case 'nothing': {
      const isSent = state === 'accepted';
      if (waiting === undefined) return isSent ? [] : againSteps(appearances, place);
      const correct = correctIn(waiting, place);
      return waiting.inProgress ? correct : openSteps(order, correct, isSent);
    }
  }
}

/** What to do about orders in doubt: they are never corrected, discarded or just sent again. */
export const DOUBT_STEPS: readonly Step[] = [
  'Check whether the API has the orders in doubt. Resolve each one that it has:',
  { command: 'po-sync dead-letters resolve ORDER --as accepted' },
  'And each one that it does not have:',
  { command: 'po-sync dead-letters resolve ORDER --as resend' },
];

/** That an order was created more than once, and whom to ask. */
export function twiceOf({ timesListed }: OrderHistory): string[] {
  if (timesListed === undefined) return [];
  return [
    `Created twice: the API's last list shows it ${timesListed} times.`,
    "Ask the API's owner to remove all but one.",
  ];
}

/** Where an order is corrected: a batch has its fix file when it is finished. */
function correctIn(
  { batch, inProgress }: { batch: string; inProgress?: boolean },
  { reports, into }: Place,
): string[] {
  return inProgress
    ? [`Its fix file is written when batch ${batch} is finished.`]
    : [`Correct the fix file in ${join(reports, batch)}`, `and drop it ${into}.`];
}

/** How an order is sent of which a person cancelled the last file. */
function againSteps(appearances: OrderHistory['appearances'], { exports = [] }: Place): string[] {
  const [last] = appearances.toSorted((a, b) => (a.result.at < b.result.at ? 1 : -1));
  return last?.result.outcome === 'cancelled' ? [sendCancelled(exports.includes(last.source))] : [];
}

/** What an order without an outcome waits for, and what a person can do about it. */
function waitLines({ waitsFor, batch, followedBy }: OpenOrder, place: Place): Step[] {
  return [
    `Waits for ${asText(waitClause(waitsFor, place.now))}.`,
    ...(followedBy.length === 0 ? [] : [`The same order is in batch ${followedBy.join(', ')}.`]),
    ...remedyOf(waitsFor, batch, place),
  ];
}

/** What a person can do about a file that waits; the end of its name is enough for every command. */
export function waitingSteps(batch: string): Step[] {
  const name = batch.slice(-8);
  return [
    'Look at it, then send it as it is or put it away:',
    { command: `po-sync batches show ${name}` },
    { command: `po-sync dead-letters list --batch ${name}` },
    { command: `po-sync batches release ${name}` },
    { command: `po-sync batches cancel ${name}` },
  ];
}

const ROLES = { all: '', heartbeat: '', intake: ' --role intake', delivery: ' --role delivery' };

function remedyOf(wait: OpenOrder['waitsFor'], batch: string, { start }: Place): Step[] {
  switch (wait.code) {
    case 'release':
      return waitingSteps(batch);
    case 'daemon':
      return [`Run ${start}${ROLES[wait.facts.lacks]}.`];
    case 'redis':
      return [
        'Find out what ends the connections to Redis: its log, a proxy or firewall between, or a restart in a loop.',
      ];
    case 'pause':
      // Only an operator's pause has no next try.
      return wait.until === undefined
        ? ['To resume delivery, run po-sync resume.']
        : ['Run po-sync status to see what ends the pause.'];
    default:
      return [];
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
