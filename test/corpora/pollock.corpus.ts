import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { mappingOf, readText } from '../support/read-text.ts';

// The polluted CSV files of the Pollock benchmark (HPI) and their clean twins, unpacked in the folder that CORPORA names.

const folder = process.env['CORPORA'] ?? '';
const isThere = existsSync(path.join(folder, 'csv')) && existsSync(path.join(folder, 'clean'));
/** The clean twins join the names of a header of several rows. */
function named(column: string): string[] {
  return [1, 2, 3].map((rows) => Array.from({ length: rows }, () => column).join(' '));
}

const mapping = mappingOf({
  fields: { purchaseOrderNumber: named('PRODUCTID'), articleCode: named('ProductType'), quantity: named('Qty') },
  finalNewline: 'optional',
});

async function sentOf(file: string): Promise<Map<string, string> | undefined> {
  try {
    const { orders } = await readText(await readFile(file), mapping);
    return new Map(orders.flatMap((one) => (one.valid ? [[one.number, JSON.stringify(one.order.items)]] : [])));
  } catch (error) {
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable')) throw error;
    return undefined;
  }
}

test.runIf(isThere)('a polluted file sends nothing that its clean twin does not', async () => {
  const wrong: string[] = [];
  const figures = { files: 0, unreadable: 0, sent: 0, expected: 0 };
  for (const name of await readdir(path.join(folder, 'csv'))) {
    const right = await sentOf(path.join(folder, 'clean', name));
    const sent = await sentOf(path.join(folder, 'csv', name));
    figures.files += 1;
    figures.expected += right?.size ?? 0;
    if (sent === undefined) figures.unreadable += 1;
    for (const [number, items] of sent ?? []) {
      figures.sent += 1;
      if (right?.get(number) !== items) wrong.push(`${name}: ${number} ${items} instead of ${right?.get(number)}`);
    }
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(wrong).toEqual([]);
});
