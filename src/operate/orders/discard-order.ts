import { PoSyncError } from '../../core/errors.ts';
import type { Entry, Known } from '../../ledger/entry.ts';
import { createRowClaims, isUnderWay } from '../../ledger/row-claims.ts';
import { discarded } from '../../ledger/state-machine/decision.ts';
import { batchTitle } from '../../order/batch.ts';
import { placesOf } from '../../order/dead-letter.ts';
import { createDeadLetterClosing, type KnownDeadLetter } from '../../put-away/close-dead-letters.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { OperatorContext } from '../operator-context.ts';

/**
 * The order that makes a decision about an open dead letter too early: it has the number or the rows, and is sent whatever
 * becomes of the dead letter. `isFix`: a fix file brought the rows back. `waits`: no attempt of it is on its way.
 */
export type OrderInProgress = { number: string; batch: string; file?: string; isFix: boolean; waits: boolean };

type Letter = Pick<FoundDeadLetter, 'batch' | 'purchaseOrderNumber' | 'location'>;
type Context = Pick<OperatorContext, 'ledger' | 'batches' | 'store'>;

/** Whether the ledger has an order in progress under a number. One in doubt waits for a person, too. */
export function isInProgress(known: Known | undefined): known is { kind: 'open'; entry: Entry } {
  return known !== undefined && isUnderWay(known) && known.entry.state !== 'inDoubt';
}

/** The order in progress with the number or a row of a dead letter, where that is not the dead letter's own order. */
export async function findInProgress(letter: Letter, context: Context): Promise<OrderInProgress | undefined> {
  const { ledger, store, batches } = context;
  const claims = createRowClaims({ redis: store.redis, keys: store.keys, ledger });
  const rows = placesOf(letter).map((place) => ({ batch: letter.batch, place }));
  const [[same], ...owners] = await Promise.all([
    ledger.lookup([letter.purchaseOrderNumber]),
    ...rows.map((row) => claims.ownerOf(row)),
  ]);
  const owner = owners.find((one) => one !== undefined && one.batch !== letter.batch);
  const [became] = owner === undefined ? [] : await ledger.lookup([owner.number]);
  const isFix = isInProgress(became) && became.entry.batch === owner?.batch;
  const found = isFix ? became : same;
  if (!isInProgress(found)) return undefined;
  const { batch, state, order } = found.entry;
  const name = (await batches.find(batch))?.name;
  const waits = state === 'queued' || state === 'retry';
  return { number: order.purchaseOrderNumber, batch, ...(name === undefined ? {} : { file: name }), isFix, waits };
}

/** `Fix file "a.fix.csv" (batch …) with this order waits to be sent.` */
export function inProgressText(
  { batch, file, isFix, waits }: OrderInProgress,
  title = batchTitle(batch, file),
): string {
  const is = waits ? 'waits to be sent' : 'is being sent';
  return isFix ? `Fix file ${title} with this order ${is}.` : `An order with this number ${is}, from ${title}.`;
}

/** What a person does who does not want the order. */
export function inProgressRemedy({ waits }: Pick<OrderInProgress, 'waits'>): string {
  return waits ? 'Wait for its outcome. To stop it, cancel that file on its page.' : 'Wait for its outcome.';
}

/** Why a dead letter cannot be discarded now. */
export function orderInProgress(name: string, found: OrderInProgress): PoSyncError {
  return new PoSyncError('order-in-progress', `${name} is not discarded. ${inProgressText(found)}`, {
    remedy: inProgressRemedy(found),
    facts: { order: found.number, batch: found.batch },
  });
}

/** What discarding does with a dead letter, or why it cannot be discarded. */
export type DiscardVerdict =
  | 'discarded'
  /** The API may have the order: resolve it first. */
  | 'in-doubt'
  | 'under-way'
  /** The order of another file has its number or rows, and is sent whatever becomes of the dead letter. */
  | 'in-progress'
  | 'settled'
  /** Redis no longer has its batch. */
  | 'forgotten';

/** What discarding would do; `owned`: the ledger's entry, if it belongs to this dead letter. Pure. */
function judgeDiscard(deadLetter: FoundDeadLetter, owned: Entry | undefined): DiscardVerdict {
  if (deadLetter.closed) return 'settled';
  if (owned === undefined || discarded(owned, 0).kind === 'drop') return 'discarded';
  return owned.state === 'inDoubt' ? 'in-doubt' : 'under-way';
}

/** Times that a number is looked up again when a daemon changes it at the same moment. */
const TRIES = 5;

/** Builds `discard`, and `wouldDiscard`, which changes nothing. */
export function createDiscard({ batches, ledger, operator, store }: OperatorContext) {
  const closing = createDeadLetterClosing({ batches, ledger, redis: store.redis, keys: store.keys });

  async function judge(deadLetter: FoundDeadLetter): Promise<Judged> {
    if ((await batches.find(deadLetter.batch)) === undefined) return { verdict: 'forgotten' };
    const known = await closing.find(deadLetter.batch, deadLetter);
    if (known.fields.length === 0) return { verdict: 'settled' };
    const verdict = judgeDiscard(deadLetter, known.owned);
    if (verdict !== 'discarded') return { verdict };
    const other = await findInProgress(deadLetter, { batches, ledger, store });
    return other === undefined ? { verdict, known } : { verdict: 'in-progress', other };
  }

  /** Decides again when the number changes meanwhile: it is closed only over the ledger that it was decided on. */
  async function judgeAndDiscard(deadLetter: FoundDeadLetter): Promise<Judged> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const judged = await judge(deadLetter);
      if (judged.known === undefined) return judged;
      const end = await closing.close(deadLetter.batch, deadLetter, judged.known, operator.did('discarded'));
      if (end !== 'late') return { verdict: 'discarded' };
    }
    return { verdict: 'under-way' };
  }

  return {
    judgeAndDiscard,
    discard: async (deadLetter: FoundDeadLetter) => (await judgeAndDiscard(deadLetter)).verdict,
    wouldDiscard: async (deadLetter: FoundDeadLetter) => (await judge(deadLetter)).verdict,
  };
}

/** `known`: what is closed, if it is discarded. `other`: the order in progress that prevents it. */
type Judged = { verdict: DiscardVerdict; known?: KnownDeadLetter; other?: OrderInProgress };
