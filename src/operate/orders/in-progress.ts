import { type Entry, isUnderWay, type Known } from '../../ledger/entry.ts';
import { fileTitle } from '../../order/named-batch.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { OperatorContext } from '../operator-context.ts';

/**
 * The order that makes a decision about an open dead letter too early: it has the number or the rows, and is sent whatever
 * becomes of the dead letter. `isFix`: it corrects the dead letter. `waits`: no attempt of it is on its way.
 */
export type OrderInProgress = { number: string; batch: string; file?: string } & HowFar;
type HowFar = { isFix: boolean; waits: boolean };

type Letter = Pick<FoundDeadLetter, 'id' | 'batch' | 'purchaseOrderNumber'>;
type Context = Pick<OperatorContext, 'ledger' | 'batches'>;

/** Whether the ledger has an order in progress under a number. One in doubt waits for a person, too. */
function isInProgress(known: Known | undefined): known is { kind: 'open'; entry: Entry } {
  return known !== undefined && isUnderWay(known) && known.entry.state !== 'inDoubt';
}

/** The order in progress with the number or a row of a dead letter, where that is not the dead letter's own order. */
export async function findInProgress(
  letter: Letter,
  context: Context,
): Promise<OrderInProgress | undefined> {
  const { ledger, batches } = context;
  const by = (await batches.taken(letter.batch)).get(letter.id);
  const taker = by && !by.isOver ? by : undefined;
  const [same, became] = await ledger.lookup([
    letter.purchaseOrderNumber,
    ...(taker ? [taker.number] : []),
  ]);
  const isFix = isInProgress(became) && became.entry.batch === taker?.batch;
  const found = isFix ? became : same;
  if (!isInProgress(found)) return undefined;
  const { batch, state, order } = found.entry;
  const name = (await batches.find(batch))?.name;
  const waits = state === 'queued' || state === 'retry';
  return {
    number: order.purchaseOrderNumber,
    batch,
    ...(name === undefined ? {} : { file: name }),
    isFix,
    waits,
  };
}

/** `Fix file "a.fix.csv" with this order waits to be sent` */
export function inProgressText({ isFix, waits, ...other }: OrderInProgress): string {
  const title = fileTitle(other);
  const is = waits ? 'waits to be sent' : 'is being sent';
  return isFix
    ? `Fix file ${title} with this order ${is}`
    : `An order with this number ${is}, from ${title}`;
}

/** What a person does who does not want the order, or the row of one that was sent. */
export function inProgressRemedy({ waits }: Pick<OrderInProgress, 'waits'>): string {
  return waits
    ? 'Wait for its outcome. To stop it, cancel that file on its page.'
    : 'Wait for its outcome.';
}
