import type { Entry, EntryState, PastAttempt } from '../ledger/entry.ts';
import type { OperatorAction } from '../ledger/operator-action.ts';
import { claimTimeOf } from '../order/batch.ts';
import type { Order } from '../order/order.ts';
import { type Appearance, findAppearances } from './appearances.ts';
import type { DeadLetterDeps } from './dead-letters.ts';

/** Everything that is known of one order number. Times are milliseconds, in the appearances ISO 8601. */
export type OrderStory = {
  order: string;
  /** `nothing`: the ledger has no entry for it. */
  standing: 'nothing' | 'accepted' | EntryState;
  /** The API has it: since when, after how many attempts, by which batch; none where it was there before us. */
  accepted?: { at: number; attempts: number; batch?: string };
  /** Not settled, or waiting for a person. */
  open?: {
    batch: string;
    /** When its file was taken. */
    takenAt: number;
    /** The file of a batch that has no report yet. */
    file?: string;
    heldBecause?: string;
    line: number;
    content: Order;
    attempts: number;
    used: number;
    maybeSentAt?: number;
    answer?: Entry['answer'];
    history: readonly PastAttempt[];
    /** When it moves on at the latest, or when the list is asked. */
    nextAt?: number;
  };
  deeds: OperatorAction[];
  appearances: Appearance[];
};

/** The whole story of an order number, from ledger and reports. */
export async function explainOrder(order: string, deps: DeadLetterDeps): Promise<OrderStory> {
  const [[known], deeds, appearances] = await Promise.all([
    deps.ledger.lookup([order]),
    deps.ledger.deeds(order),
    findAppearances(order, deps),
  ]);
  const base = { order, deeds, appearances };
  switch (known?.kind) {
    case undefined:
    case 'nothing':
      return { ...base, standing: 'nothing' };
    case 'accepted': {
      const { at, attempts, batchNo } = known.compact;
      const batch = await deps.batches.nameOf(batchNo);
      return { ...base, standing: 'accepted', accepted: { at, attempts, ...(batch === undefined ? {} : { batch }) } };
    }
    case 'open':
      return { ...base, standing: known.entry.state, open: await openPart(known.entry, deps) };
  }
}

async function openPart(entry: Entry, deps: DeadLetterDeps): Promise<NonNullable<OrderStory['open']>> {
  const number = entry.order.purchaseOrderNumber;
  const [batch, due, doubt] = await Promise.all([
    deps.batches.find(entry.batch),
    deps.redis.zscore(deps.keys.due, number),
    deps.redis.zscore(deps.keys.doubt, number),
  ]);
  const next = doubt ?? due;
  return {
    batch: entry.batch,
    takenAt: batch?.startedAt ?? claimTimeOf(entry.batch) ?? 0,
    ...(batch === undefined ? {} : { file: batch.name }),
    ...(batch?.held === undefined ? {} : { heldBecause: batch.held.reason }),
    line: entry.place.line,
    content: entry.order,
    attempts: entry.attempt,
    used: entry.used,
    ...(entry.maybeSentAt === undefined ? {} : { maybeSentAt: entry.maybeSentAt }),
    ...(entry.answer === undefined ? {} : { answer: entry.answer }),
    history: entry.history ?? [],
    ...(next === null ? {} : { nextAt: Number(next) }),
  };
}
