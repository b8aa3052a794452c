import type { CheckedOrder, Order } from '../../order/order.ts';
import type { LeftOut } from '../../parse/format.ts';
import { inspectFile } from '../../parse/inspect.ts';
import type { Inspection } from '../../parse/inspection.ts';
import { type HowToReadDeps, howToRead } from '../../validate/how-to-read.ts';
import { readOrderPages, readOrders } from '../../validate/read-orders.ts';

/** A file to check, and the source whose mapping reads it; a fix file is read with the mapping of its batch. */
export type FileToCheck = { path: string; source: string };

/** What a check meets. `unknownBatch`: the batch that a fix file names, but that is not known. */
export type CheckEvents = {
  inspected?(inspection: Inspection, unknownBatch: string | undefined): void;
  order(order: CheckedOrder): Promise<void> | void;
  leftOut?(one: LeftOut): void;
};

/**
 * Reads, maps and checks a file as a daemon does, and reports each order. Sends nothing. Throws like `inspectFile`, or
 * the reason why a file must not be read.
 */
export async function checkFile(
  { path, source }: FileToCheck,
  { signal, ...deps }: HowToReadDeps & { signal: AbortSignal },
  on: CheckEvents,
): Promise<Inspection> {
  const { mapping, originals, unknownBatch, refusal } = await howToRead(path, source, deps);
  if (refusal !== undefined) throw refusal;
  const inspection = await inspectFile(path, mapping, { signal, originals });
  on.inspected?.(inspection, unknownBatch);
  const onLeftOut = (one: LeftOut) => on.leftOut?.(one);
  for await (const page of readOrderPages(path, inspection, { signal, onLeftOut }))
    for (const order of page) {
      const reported = on.order(order);
      if (reported !== undefined) await reported;
    }
  return inspection;
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
