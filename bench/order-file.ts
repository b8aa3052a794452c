import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';

/** A CSV of orders with two rows each, rows of one order adjacent. */
export type OrderFile = { path: string; orders: number };

let files = 0;

/** Writes a file whose order numbers no other file of this run has. */
export async function writeOrderFile(folder: string, orders: number): Promise<OrderFile> {
  files += 1;
  const name = `orders-${files}`;
  const file = path.join(folder, `${name}.csv`);
  const stream = createWriteStream(file);
  stream.write('purchaseOrderNumber,orderState,articleCode,quantity\n');
  for (let order = 0; order < orders; order += 1) {
    const number = `PO-${files}-${String(order).padStart(7, '0')}`;
    const rows = `${number},NEW,ART-${order % 5000},${1 + (order % 90)}\n${number},NEW,ART-${order % 7},${1 + (order % 12)}\n`;
    if (!stream.write(rows)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
  return { path: file, orders };
}
