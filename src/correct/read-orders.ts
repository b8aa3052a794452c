import { readOrderPages as readMappedPages } from '../mapping/read-file.ts';
import type { CheckedOrder, Order } from '../order/order.ts';
import { createCheckedOrders } from './checked-order.ts';
import { givenPages } from './given-orders.ts';
import type { Inspection } from './inspection.ts';

/** A row or an object that the mapping leaves out; `number`: of its order, "" without one. */
export type LeftOut = { number: string; line: number };

/** `onLeftOut` gets what the mapping leaves out; also rows of orders that have others in the file. */
export type ReadOptions = { signal?: AbortSignal; onLeftOut?: (one: LeftOut) => void };

/**
 * The second pass over an inspected file: its orders, joined from their rows and checked, one at a time. Ordinals count
 * from 0 and are the same whenever the same bytes are read. A file that waits is read as if it were released.
 * PoSyncError `file-changed` when the file changed since it was inspected: inspect it again.
 */
export async function* readOrders(
  path: string,
  inspection: Inspection,
  options: ReadOptions = {},
): AsyncGenerator<CheckedOrder> {
  for await (const page of readOrderPages(path, inspection, options)) yield* page;
}

/** As `readOrders`, in pages as they come out of the file; a page may be empty. */
export async function* readOrderPages(
  path: string,
  inspection: Inspection,
  { signal, onLeftOut }: ReadOptions = {},
): AsyncGenerator<CheckedOrder[]> {
  const { given, read, withoutRows = false } = inspection;
  if (given !== undefined) return yield* givenPages(given, inspection);
  const { reading } = read;
  if (reading === undefined) return;
  const checked = createCheckedOrders(reading);
  const pages = readMappedPages(path, read, {
    signal,
    released: { withoutRows },
    ...(onLeftOut && { onLeftOut: ({ line }, number) => onLeftOut({ number, line }) }),
  });
  for await (const page of pages) yield page.map(checked);
}

/** An order as it would be sent, and the line of its first row. */
export type OrderToSend = Order & { line: number };

/** Those orders of a checked file whose place among all of them `isSent` has. The file is read again, so that none is kept. */
export async function* ordersToSend(
  path: string,
  inspection: Inspection,
  { isSent, signal }: { isSent: readonly boolean[]; signal: AbortSignal },
): AsyncGenerator<OrderToSend> {
  let at = 0;
  for await (const one of readOrders(path, inspection, { signal })) {
    if (isSent[at++] && one.valid) yield { line: one.place.line, ...one.order };
  }
}
