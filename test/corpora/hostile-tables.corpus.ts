import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { readOrders } from '../../src/validate/read-orders.ts';

const RUNS = Number(process.env['CORPUS_RUNS'] ?? 5_000);

const HEADER = Buffer.from('purchaseOrderNumber,orderState,articleCode,quantity,text');
const parts = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '1',
      '2',
      'NEW',
      'A',
      '-',
      '1,5',
      '1.234',
      '=1+1',
      '_error_line',
      '\u202e',
      'é',
      '😀',
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(',', '\n', '\r\n', '\r', '"', '""', ';', '\t', '|', ' '),
  },
  { weight: 1, arbitrary: fc.constantFrom('\0', '\u001b', '\ufeff', '\u0085', '\u2028') },
);
const text = fc.array(parts, { maxLength: 120 }).map((all) => Buffer.from(all.join('')));
const contents = fc.oneof(
  { weight: 5, arbitrary: text.map((body) => Buffer.concat([HEADER, Buffer.from('\n'), body])) },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 80 })
      .map((bytes) => Buffer.concat([HEADER, Buffer.from('\n1,NEW,A,1,'), bytes])),
  },
  {
    weight: 1,
    arbitrary: text.map((body) =>
      Buffer.from(`\ufeff${HEADER.toString()}\n${body.toString()}`, 'utf16le'),
    ),
  },
);

test('a hostile table is refused with its place or read with every row in one order, twice the same', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'po-sync-corpus-'));
  const file = path.join(folder, 'table.csv');
  try {
    await fc.assert(
      fc.asyncProperty(contents, async (content) => {
        await writeFile(file, content);
        const first = await read(file);
        if ('code' in first) {
          expect(first.code).toMatch(/^unreadable-/);
          return;
        }
        expect(first.orders.flatMap(({ records }) => records)).toHaveLength(first.records);
        expect(first.orders.map(({ ordinal }) => ordinal)).toEqual(
          first.orders.map((_, index) => index),
        );
        for (const order of first.orders) expectSound(order);
        expect(await read(file)).toEqual(first);
      }),
      { numRuns: RUNS },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

async function read(
  file: string,
): Promise<{ records: number; orders: CheckedOrder[] } | { code: string }> {
  try {
    const inspection = await inspectFile(file, undefined);
    const orders: CheckedOrder[] = [];
    for await (const order of readOrders(file, inspection)) orders.push(order);
    return { records: inspection.records, orders };
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return { code: error.code };
  }
}

/**
 * What may be sent is what docs/contract.md and the API know: nothing empty, nothing hidden, whole numbers above zero.
 */
function expectSound(order: CheckedOrder): void {
  if (!order.valid) {
    expect(order.problems.length).toBeGreaterThan(0);
    return;
  }
  const { purchaseOrderNumber, orderState, items } = order.order;
  expect(orderState).toBe('NEW');
  expect(items.length).toBeGreaterThan(0);
  for (const text of [purchaseOrderNumber, ...items.map(({ articleCode }) => articleCode)]) {
    expect(text).toMatch(/^[^\p{Cc}\p{Cs}]{1,256}$/u);
  }
  for (const { quantity } of items) expect(Number.isInteger(quantity) && quantity > 0).toBe(true);
}
