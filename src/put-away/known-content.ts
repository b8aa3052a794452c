import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import { isUnderWay, type Known } from '../ledger/entry.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import type { InvalidOrder, Order } from '../order/order.ts';
import { DUPLICATE, NOT_ACCEPTED } from '../order/outcome.ts';
import type { Fault, Reason } from '../order/problem.ts';

/** The other content of an order in conflict with one that is in progress. */
export function contentInProgress(
  known: Known | undefined,
  { batch }: Pick<Batch, 'batch'>,
  ordinal: number,
): Order | undefined {
  if (known?.kind !== 'open') return undefined;
  const isOwn = known.entry.batch === batch && known.entry.ordinal === ordinal;
  return isOwn ? undefined : known.entry.order;
}

/** Builds what names the batch that the ledger has an order from; undefined where only the API has it. */
export function createTitles(
  batches: Batches,
): (known: Known | undefined) => Promise<NamedBatch | undefined> {
  const titles = new Map<number, NamedBatch | undefined>();
  return async (known) => {
    const no =
      known?.kind === 'accepted'
        ? known.compact.batchNo
        : known?.kind === 'open'
          ? known.entry.batchNo
          : 0;
    if (!titles.has(no)) {
      const name = await batches.nameOf(no);
      titles.set(no, name === undefined ? undefined : await namedBatch(name, batches));
    }
    return titles.get(no);
  };
}

/** What a program must know of a duplicate: the API does not have the order that it repeats, at least not yet. */
export function wordsOfDuplicate(
  { code, facts }: Reason,
  known: Known | undefined,
  { state }: Pick<Batch, 'state'>,
) {
  if (code !== DUPLICATE || known === undefined || known.kind === 'accepted') return undefined;
  if (known.kind === 'open') return { code: NOT_ACCEPTED, facts };
  // Later the ledger no longer has orders that are older than `ledger.keep`.
  return state === 'done'
    ? undefined
    : { code: NOT_ACCEPTED, facts: { isDiscarded: true as const } };
}

type Elsewhere = Exclude<Known, { kind: 'nothing' }>;

/** Whether another batch brought an order with this number that is accepted or in progress. */
export function isElsewhere(known: Known | undefined, { batch, no }: Batch): known is Elsewhere {
  if (known?.kind === 'accepted') return known.compact.batchNo !== no;
  if (known === undefined || !isUnderWay(known)) return false;
  return known.entry.batch !== batch && known.entry.state !== 'inDoubt';
}

/** An order with errors whose number is `known` elsewhere: nobody should correct it as if it had not been ordered. */
export function withKnownNumber(
  order: InvalidOrder,
  known: Elsewhere,
  from?: NamedBatch,
  content?: Order,
): InvalidOrder {
  const state = known.kind === 'accepted' ? 'accepted' : 'inProgress';
  const items = content && { items: content.items };
  return withFault(order, { code: 'number-known', facts: { state, from, ...items } });
}

function withFault(order: InvalidOrder, fault: Fault): InvalidOrder {
  return {
    ...order,
    problems: [...order.problems, { ...order.place, ...fault, field: '', value: '' }],
  };
}
