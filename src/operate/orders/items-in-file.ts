import { openClaim } from '../../intake/folders.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import { digestOf } from '../../order/digest.ts';
import type { Order } from '../../order/order.ts';
import type { HowToReadDeps } from '../../validate/how-to-read.ts';
import { readOrderPages } from '../../validate/read-orders.ts';
import { type FoundInFile, faultOf, inspectWanted, knowing, type WantedOrder } from './find-in-file.ts';

/** The orders of one file whose items are wanted: the digest of what was sent, by number. */
export type WantedItems = Pick<WantedOrder, 'kind' | 'path' | 'source'> & { digests: ReadonlyMap<string, string> };

export type SentOrder = Pick<Order, 'purchaseOrderNumber' | 'items'>;

/** Why a file does not show the items of an order, in the words of `OrderContent`. */
export type Unread = 'differs' | 'missing' | 'unreadable' | 'late';

/** Orders of a file as they were sent, in pages; then why the other ones are not among them. */
export type ItemReading = AsyncGenerator<SentOrder[], Unread>;

/**
 * Reads a file once as admission does, and follows no link. An order is only among them if the digest proves that its
 * items were sent. Does not reject.
 */
async function* itemsInFile(wanted: WantedItems, deps: HowToReadDeps, signal: AbortSignal): ItemReading {
  try {
    await using opened = await openClaim(wanted);
    const inspection = await inspectWanted({ ...wanted, path: opened.path }, deps, signal);
    if ('refusal' in inspection) return 'unreadable';
    const left = new Map(wanted.digests);
    for await (const page of readOrderPages(opened.path, inspection, { signal })) {
      signal.throwIfAborted();
      const proven = page.flatMap((one) =>
        one.valid && left.get(one.number) === digestOf(one.order) ? [one.order] : [],
      );
      for (const { purchaseOrderNumber } of proven) left.delete(purchaseOrderNumber);
      if (proven.length > 0) yield proven;
      if (left.size === 0) break;
    }
    return 'differs';
  } catch (error) {
    return signal.aborted ? 'late' : wordOf(faultOf(error));
  }
}

function wordOf({ found }: FoundInFile): Unread {
  if (found === 'missing') return 'missing';
  return found === 'other' ? 'differs' : 'unreadable';
}

/** The file that a thread reads: its pages one by one. A new one ends the one before it. */
export function createItemReads() {
  let reading: ItemReading | undefined;

  /** `corrected`: the batch that the file corrects, if it is known; `takes`: milliseconds. */
  function beginItems(
    wanted: WantedItems,
    config: HowToReadDeps['config'],
    corrected: Batch | undefined,
    takes: number,
  ): void {
    void reading?.return('late');
    reading = itemsInFile(wanted, knowing(config, corrected), AbortSignal.timeout(takes));
  }

  async function nextItems(): Promise<IteratorResult<SentOrder[], Unread>> {
    return (await reading?.next()) ?? { done: true, value: 'late' };
  }

  async function endItems(): Promise<void> {
    await reading?.return('late');
    reading = undefined;
  }

  return { beginItems, nextItems, endItems };
}
