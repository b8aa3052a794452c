import { openClaim } from '../../intake/folders.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import { digestOf } from '../../order/digest.ts';
import type { Order } from '../../order/order.ts';
import type { Inspection } from '../../parse/inspection.ts';
import { batchNamedIn } from '../../parse/read-fix-file.ts';
import { pages } from '../../report/lines.ts';
import { readKept } from '../../report/results.ts';
import type { HowToReadDeps } from '../../validate/how-to-read.ts';
import { readOrderPages } from '../../validate/read-orders.ts';
import {
  type FoundInFile,
  faultOf,
  inspectWanted,
  knowing,
  type WantedOrder,
} from './find-in-file.ts';

/** The orders of one file whose items are wanted: the digest of what was sent, by number. */
export type WantedItems = Pick<WantedOrder, 'kind' | 'path' | 'source' | 'isKept'> & {
  digests: ReadonlyMap<string, string>;
};

/** `lines`: of its rows. */
export type SentOrder = Pick<Order, 'purchaseOrderNumber' | 'items'> & {
  lines?: readonly number[];
};

/** Orders of a page. */
const PAGE = 500;

/** Why a file does not show the items of an order, in the words of `OrderContent`. */
export type Unread = 'differs' | 'missing' | 'unreadable' | 'late';

/** Orders of a file as they were sent, in pages; then why the other ones are not among them. */
export type ItemReading = AsyncGenerator<SentOrder[], Unread>;

/**
 * Reads a file once as admission does, and follows no link. An order is only among them if the digest proves that its
 * items were sent. Does not reject.
 */
async function* itemsInFile(
  wanted: WantedItems,
  deps: HowToReadDeps,
  signal: AbortSignal,
): ItemReading {
  try {
    if (wanted.isKept) return yield* provenIn(pages(readKept(wanted.path), PAGE), wanted, signal);
    await using opened = await openClaim(wanted);
    const inspection = await inspectWanted({ ...wanted, path: opened.path }, deps, signal);
    if ('refusal' in inspection) return 'unreadable';
    return yield* provenIn(validPages(opened.path, inspection, signal), wanted, signal);
  } catch (error) {
    return signal.aborted ? 'late' : wordOf(faultOf(error));
  }
}

/** A report keeps no items of orders that an export only repeats. */
async function* provenIn(
  orders: AsyncIterable<SentOrder[]>,
  { digests, isKept }: WantedItems,
  signal: AbortSignal,
): ItemReading {
  const left = new Map(digests);
  for await (const page of orders) {
    signal.throwIfAborted();
    const proven = page.filter((one) => left.get(one.purchaseOrderNumber) === digestOf(one));
    for (const { purchaseOrderNumber } of proven) left.delete(purchaseOrderNumber);
    if (proven.length > 0) yield proven;
    if (left.size === 0) break;
  }
  return isKept ? 'missing' : 'differs';
}

async function* validPages(
  path: string,
  inspection: Inspection,
  signal: AbortSignal,
): AsyncGenerator<SentOrder[]> {
  for await (const page of readOrderPages(path, inspection, { signal }))
    yield page.flatMap((one) =>
      one.valid ? [{ ...one.order, lines: one.records.map(({ place }) => place.line) }] : [],
    );
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

/** The batch that the file of a fix file corrects; undefined for any other file, and for one that cannot be read. */
export async function correctedBatch(
  wanted: Pick<WantedOrder, 'kind' | 'path' | 'isKept'>,
): Promise<string | undefined> {
  if (wanted.isKept) return undefined;
  try {
    await using opened = await openClaim(wanted);
    return await batchNamedIn(opened.path);
  } catch {
    return undefined;
  }
}
