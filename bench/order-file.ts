import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';

/** A file of orders with two rows each. */
export type OrderFile = { path: string; orders: number };

const COLUMNS = ['purchaseOrderNumber', 'orderState', 'articleCode', 'quantity'];

let files = 0;

/** Writes a file with order numbers that are unique in this run. */
export async function writeOrderFile(folder: string, orders: number): Promise<OrderFile> {
  files += 1;
  const rows = rowsOf(`PO-${files}`, orders);
  const file = path.join(folder, `orders-${files}.csv`);
  const stream = createWriteStream(file);
  stream.write(`${COLUMNS.join(',')}\n`);
  for (const row of rows) if (!stream.write(`${row.join(',')}\n`)) await once(stream, 'drain');
  stream.end();
  await once(stream, 'finish');
  return { path: file, orders };
}

function* rowsOf(prefix: string, orders: number): Generator<string[]> {
  for (let row = 0; row < orders * 2; row += 1) {
    const order = row >> 1;
    const number = `${prefix}-${String(order).padStart(7, '0')}`;
    yield [number, 'NEW', `ART-${row % 4999}`, String(1 + (row % 90))];
  }
}
