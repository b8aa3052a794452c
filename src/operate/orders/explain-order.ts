import { iso, outcomeWord } from '../../core/format.ts';
import {
  type Entry,
  type EntryState,
  numberOf,
  type OperatorAction,
  type PastAttempt,
} from '../../ledger/entry.ts';
import { dueTime } from '../../ledger/ledger.ts';
import { actionJson, dated } from '../../ledger/operator-actions.ts';
import { claimTimeOf } from '../../order/batch.ts';
import type { Closed } from '../../order/dead-letter.ts';
import type { Order } from '../../order/order.ts';
import { deadLettersInProgressOf } from '../../put-away/dead-letters-in-progress.ts';
import { closingWord } from '../../wording/closing.ts';
import { waitFacts } from '../../wording/wait.ts';
import { unknownOrder } from '../dead-letters/dead-letters.ts';
import type { OperatorContext } from '../operator-context.ts';
import { type Appearance, findAppearances } from './appearances.ts';
import { readSurroundings } from './read-waits.ts';
import { type Wait, waitOf } from './wait-of.ts';

/** Everything that is known about an order number. Times are milliseconds; ISO 8601 in the appearances. */
export type OrderHistory = {
  order: string;
  /** `nothing`: the ledger has no entry for it. */
  state: 'nothing' | 'accepted' | EntryState;
  /**
   * The API has it: since when, after how many attempts, from which batch, and who submitted that; no batch if the ledger does
   * not say that po-sync sent it.
   */
  accepted?: { at: number; attempts: number; batch?: string; by?: string };
  /** Not settled, or waiting for a person. */
  open?: OpenOrder;
  /** How often the API's last complete list showed it, if more than once: it was created more than once. */
  timesListed?: number;
  operatorActions: OperatorAction[];
  appearances: Appearance[];
};

/** An order that the ledger has not settled. */
export type OpenOrder = {
  batch: string;
  /** When its file was taken. */
  takenAt: number;
  /** The file of a batch that the store still knows. */
  file?: string;
  /** The person who submitted it at the admin port. */
  by?: string;
  isHeld?: true;
  line: number;
  content: Order;
  attempts: number;
  used: number;
  maybeSentAt?: number;
  answer?: Entry['answer'];
  history: readonly PastAttempt[];
  /** When it continues at the latest, or when the API's list is read. */
  nextAt?: number;
  /** What it waits for now. */
  waitsFor: Wait;
  /** Batches with the same order, which share its outcome. */
  followedBy: string[];
};

/** The history of an order number, from ledger and reports. Throws PoSyncError `order-unknown`. */
export async function explainOrder(typed: string, context: OperatorContext): Promise<OrderHistory> {
  const { ledger, batches } = context;
  const { known, order } = await orderOf(typed, ledger);
  // Another spelling has its conflict under what was typed.
  const spelled = order === typed ? [] : await findAppearances(typed, context);
  const [[timesListed], ownActions, reported, unreported] = await Promise.all([
    ledger.listedTwice.timesOf([order]),
    ledger.operatorActions(order),
    findAppearances(order, context),
    appearancesInProgress(order, context),
  ]);
  const own = known?.kind === 'open' ? known.entry.batch : undefined;
  const isNew = ({ batch }: Appearance) =>
    batch !== own && reported.every((one) => one.batch !== batch);
  const appearances = [...spelled, ...reported, ...unreported.filter(isNew)];
  const operatorActions = [
    ...ownActions,
    ...(await cancellations(appearances, ownActions, batches)),
  ];
  const more = timesListed !== undefined && { timesListed };
  const base = { order, ...more, operatorActions, appearances };
  switch (known?.kind) {
    case undefined:
    case 'nothing':
      if (appearances.length + operatorActions.length === 0)
        throw unknownOrder(order, context.config);
      return { ...base, state: 'nothing' };
    case 'accepted': {
      const { batchNo, at, attempts } = known.compact;
      const batch = await batches.nameOf(batchNo);
      const by = batch && (await batches.find(batch))?.by;
      const from = { ...(batch && { batch }), ...(by && { by }) };
      return { ...base, state: 'accepted', accepted: { at, attempts, ...from } };
    }
    case 'open':
      return { ...base, state: known.entry.state, open: await openOrder(known.entry, context) };
  }
}

/** What the ledger knows under a number, as it is spelled there, or under the number that a person gave the order since. */
async function orderOf(typed: string, ledger: OperatorContext['ledger']) {
  const [found] = await ledger.lookup([typed]);
  const number = (found?.kind === 'accepted' && found.compact.became) || typed;
  const [known] = number === typed ? [found] : await ledger.lookup([number]);
  return {
    known,
    order: known === undefined || known.kind === 'nothing' ? number : numberOf(known),
  };
}

/** Who cancelled the batch of an order that was not admitted yet: the ledger keeps no action of such an order. */
async function cancellations(
  all: readonly Appearance[],
  own: OperatorAction[],
  { find }: OperatorContext['batches'],
) {
  if (own.some(({ what }) => what === 'cancelled')) return [];
  const names = all
    .filter(({ result }) => result.outcome === 'cancelled')
    .map(({ batch }) => batch);
  return (await Promise.all([...new Set(names)].map(find))).flatMap((batch) =>
    batch?.cancelledBy ? [{ ...batch.cancelledBy, what: 'cancelled' as const }] : [],
  );
}

/** The order in files that have no report yet, where it needs a person; its line is 0 where that is not known. */
async function appearancesInProgress(
  order: string,
  context: OperatorContext,
): Promise<Appearance[]> {
  const found = await deadLettersInProgressOf(order, context);
  return found.map(({ letter, startedAt, by }) => {
    const { batch, source, file, kind, attempts, code, lastAt, location, message } = letter;
    const result = {
      line: location.line,
      purchaseOrderNumber: order,
      outcome: kind,
      attempts,
      at: lastAt,
      code,
      message,
    };
    const { batch: _b, source: _s, file: _f, now: _n, ...deadLetter } = letter;
    const taken = { startedAt: iso(startedAt), ...(by === undefined ? {} : { by }) };
    return { batch, source, file, ...taken, result, deadLetter, inProgress: true };
  });
}

async function openOrder(entry: Entry, context: OperatorContext): Promise<OpenOrder> {
  const { batches, store } = context;
  const { redis, keys } = store;
  const number = entry.order.purchaseOrderNumber;
  const [around, batch, due, doubt] = await Promise.all([
    readSurroundings(context),
    batches.find(entry.batch),
    redis.zscore(keys.due, keys.keyOf(number)),
    redis.zscore(keys.doubt, keys.keyOf(number)),
  ]);
  const next = doubt ?? due;
  return {
    batch: entry.batch,
    takenAt: batch?.startedAt ?? claimTimeOf(entry.batch) ?? 0,
    ...(batch === undefined ? {} : { file: batch.name }),
    ...(batch?.by === undefined ? {} : { by: batch.by }),
    ...(batch?.held && { isHeld: true }),
    line: entry.place.line,
    content: entry.order,
    attempts: entry.attempt,
    used: entry.used,
    ...(entry.maybeSentAt === undefined ? {} : { maybeSentAt: entry.maybeSentAt }),
    ...(entry.answer === undefined ? {} : { answer: entry.answer }),
    history: entry.history ?? [],
    ...(next === null ? {} : { nextAt: dueTime(Number(next)) }),
    waitsFor: waitOf(entry, dueTime(Number(next ?? 0)), around),
    followedBy: [...new Set(entry.also?.map((one) => one.batch))],
  };
}

/** The state of an order without an entry, by its newest report. The ledger keeps only numbers that the API may have. */
export function lastOutcome({ appearances, operatorActions }: OrderHistory): string {
  const waiting = appearances.findLast(isWaiting);
  if (waiting)
    return `${outcomeWord(waiting.deadLetter?.kind ?? waiting.result.outcome)}, waits for a person`;
  const last = appearances.toSorted((a, b) => (a.result.at < b.result.at ? 1 : -1))[0];
  // Before the report of a cancelled batch is written, only the action is known.
  if (last === undefined)
    return operatorActions.at(-1)?.what === 'cancelled' ? 'cancelled' : 'no longer known';
  const word = outcomeWord(last.result.outcome);
  const closed = last.deadLetter?.closed;
  if (closed) return `${word}, ${closingWord(closed.by)} since`;
  return `${word}${appearances.length > 1 ? ' in its last file' : ''}`;
}

/** Whether the order of this file still waits for a person. */
export function isWaiting({ deadLetter }: Pick<Appearance, 'deadLetter'>): boolean {
  return deadLetter !== undefined && !deadLetter.closed;
}

/** What operators did, without what the closing of a dead letter says already. */
export function otherActions({ operatorActions, appearances }: OrderHistory): OperatorAction[] {
  const closings = new Set(
    appearances.flatMap(({ deadLetter }) => deadLetter?.closed ?? []).map(endKey),
  );
  return operatorActions.filter(
    ({ at, what, who }) => !closings.has(endKey({ at: iso(at), by: what, who })),
  );
}

function endKey({ at, by, who = '' }: Pick<Closed, 'at' | 'by' | 'who'>): string {
  return `${at} ${by} ${who}`;
}

/** The history in JSON output: times become ISO 8601, as in the reports. */
export function historyJson({ accepted, open, operatorActions, ...rest }: OrderHistory) {
  return {
    ...rest,
    accepted: accepted && { ...accepted, at: iso(accepted.at) },
    open: open && {
      ...open,
      takenAt: iso(open.takenAt),
      maybeSentAt: open.maybeSentAt && iso(open.maybeSentAt),
      nextAt: open.nextAt && iso(open.nextAt),
      waitsFor: {
        ...waitFacts(open.waitsFor),
        ...(open.waitsFor.until === undefined ? {} : { until: iso(open.waitsFor.until) }),
      },
      history: open.history.map(dated),
    },
    operatorActions: operatorActions.map(actionJson),
  };
}
