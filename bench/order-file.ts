import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { textRows, writeWorkbook } from '../test/support/write-workbook.ts';

/** A file of orders with two rows each. */
export type OrderFile = { path: string; orders: number };

/** `adjacent`: a CSV with the rows of an order next to each other. `apart`: a CSV with all second rows after all first. */
export type FileKind = 'adjacent' | 'apart' | 'workbook';

const COLUMNS = ['purchaseOrderNumber', 'orderState', 'articleCode', 'quantity'];

let files = 0;

/** Writes a file with order numbers that are unique in this run. */
export async function writeOrderFile(
  folder: string,
  orders: number,
  kind: FileKind = 'adjacent',
): Promise<OrderFile> {
  files += 1;
  const stem = path.join(folder, `orders-${files}`);
  const rows = rowsOf(`PO-${files}`, orders, kind === 'apart');
  if (kind === 'workbook') {
    const file = `${stem}.xlsx`;
    await writeFile(file, await writeWorkbook(textRows([COLUMNS, ...rows])));
    return { path: file, orders };
  }
  const file = `${stem}.csv`;
  const stream = createWriteStream(file);
  stream.write(`${COLUMNS.join(',')}\n`);
  for (const row of rows) if (!stream.write(`${row.join(',')}\n`)) await once(stream, 'drain');
  stream.end();
  await once(stream, 'finish');
  return { path: file, orders };
}

function* rowsOf(prefix: string, orders: number, apart: boolean): Generator<string[]> {
  for (let row = 0; row < orders * 2; row += 1) {
    const order = apart ? row % orders : row >> 1;
    const number = `${prefix}-${String(order).padStart(7, '0')}`;
    yield [number, 'NEW', `ART-${row % 4999}`, String(1 + (row % 90))];
  }
}
