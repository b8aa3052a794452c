import { stat } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { inspectAs } from '../correct/read-as.ts';
import { readOrders } from '../correct/read-orders.ts';
import { type Batch, type Batches, namedBatch } from '../ledger/batches/batches.ts';
import { isUnderWay, type Known } from '../ledger/entry.ts';
import { digestOf } from '../order/digest.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import { type InvalidOrder, NEW, type Order } from '../order/order.ts';
import { DUPLICATE, NOT_ACCEPTED } from '../order/outcome.ts';
import type { Fault, Reason } from '../order/problem.ts';
import { keptItemsOf, readKept } from '../report/results.ts';

/** An order in conflict, and what the ledger knows of its number. */
export type Conflict = { number: string; ordinal: number; known: Known | undefined };

/** Finds the other content of orders in conflict, by number. */
export type KnownContent = (conflicts: readonly Conflict[]) => Promise<Map<string, Order>>;

export type ContentDeps = { batches: Batches; config: Config };

/** Files read for one report, and the bytes of the largest one: a report must not take hours. */
const MOST_READS = 10;
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Builds the search for the other content of orders in conflict: from the ledger while that order is in progress, else
 * from the settled file that brought it, or what was kept of an export, if that is still there.
 */
export function createKnownContent(
  batch: Pick<Batch, 'batch'>,
  { batches, config }: ContentDeps,
): KnownContent {
  let reads = 0;

  return async (conflicts) => {
    const found = new Map<string, Order>();
    const digests = new Map<number, Map<string, string>>();
    for (const { number, ordinal, known } of conflicts) {
      if (known?.kind === 'open') {
        const isOwn = known.entry.batch === batch.batch && known.entry.ordinal === ordinal;
        if (!isOwn) found.set(number, known.entry.order);
      }
      if (known?.kind === 'accepted' && known.compact.batchNo > 0) {
        const { batchNo, digest } = known.compact;
        digests.set(
          batchNo,
          (digests.get(batchNo) ?? new Map<string, string>()).set(number, digest),
        );
      }
    }
    for (const [no, wanted] of digests) {
      if (reads >= MOST_READS) break;
      reads += 1;
      // The content is a courtesy: a file that is gone or unreadable now must not stop the report.
      await readInto(found, no, wanted).catch(() => undefined);
    }
    return found;
  };

  /** Reads the file of another batch up to the last wanted order. The digest proves that it is the accepted content. */
  async function readInto(
    found: Map<string, Order>,
    no: number,
    wanted: Map<string, string>,
  ): Promise<void> {
    const name = await batches.nameOf(no);
    const other = name === undefined ? undefined : await batches.find(name);
    if (other === undefined) return;
    for await (const order of contentIn(other)) {
      const number = order.purchaseOrderNumber;
      if (wanted.get(number) !== digestOf(order)) continue;
      found.set(number, order);
      wanted.delete(number);
      if (wanted.size === 0) return;
    }
  }

  async function* contentIn(other: Batch): AsyncGenerator<Order> {
    const kept = keptItemsOf(other, config.reports.path);
    const path = kept ?? other.settledPath ?? other.path;
    if ((await stat(path)).size > MOST_BYTES) return;
    if (kept !== undefined) {
      for await (const { purchaseOrderNumber, items } of readKept(kept))
        yield { purchaseOrderNumber, orderState: NEW, items };
      return;
    }
    const { inspection } = await inspectAs({ ...other, path }, { config, batches });
    for await (const order of readOrders(path, inspection)) if (order.valid) yield order.order;
  }
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
