import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';

type Row = {
  purchaseOrderNumber: string;
  orderState: string;
  articleCode: string;
  quantity: string;
};

/** The request bodies of a file, read in the simplest way: rows of one order are adjacent, and there are no checks. */
export async function* readOrderBodies(
  file: string,
): AsyncGenerator<{ number: string; body: string }> {
  let order: { purchaseOrderNumber: string; orderState: string; items: unknown[] } | undefined;
  for await (const row of createReadStream(file).pipe(
    parse({ columns: true }),
  ) as AsyncIterable<Row>) {
    const { purchaseOrderNumber, orderState, articleCode, quantity } = row;
    if (order?.purchaseOrderNumber !== purchaseOrderNumber) {
      if (order) yield { number: order.purchaseOrderNumber, body: JSON.stringify(order) };
      order = { purchaseOrderNumber, orderState, items: [] };
    }
    order.items.push({ articleCode, quantity: Number(quantity) });
  }
  if (order) yield { number: order.purchaseOrderNumber, body: JSON.stringify(order) };
}
