import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Mapping, plainMapping } from '../../src/config/config.ts';
import type { CheckedOrder } from '../../src/order/order.ts';
import { inspectFile } from '../../src/parse/inspect.ts';
import { deadLetterOf, deliveryDeadLetterOf } from '../../src/report/dead-letters.ts';
import { encoderFor } from '../../src/report/encode.ts';
import { fixFile } from '../../src/report/fix-file/fix-file.ts';
import { csvLine } from '../../src/report/lines.ts';
import { readOrders } from '../../src/validate/read-orders.ts';
import { AT } from '../support/reported.ts';
import { runs } from '../support/runs.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

// po-sync reads the fix files that it writes: tested with the real reader.

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

async function read(name: string, mapping: Mapping) {
  const path = join(temp.path, name);
  const inspection = await inspectFile(path, mapping);
  const orders: CheckedOrder[] = [];
  for await (const order of readOrders(path, inspection)) orders.push(order);
  return { inspection, orders };
}

/** Drops a file, makes a dead letter of each of its orders, and drops the fix file. */
async function around(bytes: Uint8Array, mapping: Mapping) {
  await writeFile(join(temp.path, 'orders'), bytes);
  const first = await read('orders', mapping);
  const fix = fixFile(first.inspection.shape, '20261121T071500Z-inbox-orders-3f2a91c0');
  const facts = {
    kind: 'refused' as const,
    code: '400',
    message: 'No;=',
    attempts: 1,
    firstAt: AT,
    lastAt: AT,
  };
  const pieces = first.orders.map((order) =>
    fix.recordsOf(
      order,
      order.valid ? deliveryDeadLetterOf(order, facts) : deadLetterOf(order, AT),
    ),
  );
  await writeFile(join(temp.path, 'fix'), Buffer.concat([fix.opening(), ...pieces, fix.closing()]));
  return { first, second: await read('fix', mapping) };
}

const contentOf = (orders: readonly CheckedOrder[]) =>
  orders.map((order) => [
    order.number,
    order.valid ? order.order : order.problems.map(({ code, value }) => [code, value]),
  ]);

const cellsOf = (orders: readonly CheckedOrder[]) =>
  orders.flatMap(({ records }) =>
    records.map((record) => (record.kind === 'row' ? record.cells : record.value)),
  );

const number = fc.constantFrom('1', '007', 'PO-3', "'=4", '=5', '-6', 'ß7');
const article = fc.string({
  unit: fc.constantFrom('A', "'", '=', '+', '"', ';', '\t', '\n', '\r', 'é', ' ', '5', '@'),
});
const quantity = fc.constantFrom('1', '2', '-5', '+5', '1,5', '', "'3");
const table = fc.array(fc.tuple(number, article, quantity), { minLength: 1, maxLength: 8 });
const dialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  encoding: fc.constantFrom(
    'utf-8' as const,
    'utf-16le' as const,
    'windows-1252' as const,
    'iso-8859-1' as const,
  ),
});

it('a fix file gives the same orders in every dialect', async () => {
  await fc.assert(
    fc.asyncProperty(dialect, table, async ({ delimiter, newline, encoding }, cells) => {
      const mapping: Mapping = { ...plainMapping(), delimiter, encoding, quote: '"' };
      const rows = [['purchaseOrderNumber', 'articleCode', 'quantity'], ...cells];
      const text = rows.map((row) => csvLine(row, { delimiter, newline })).join('');
      const { first, second } = await around(encoderFor(encoding)(text), mapping);
      expect(second.inspection.isFixFile).toBe(true);
      expect(second.inspection.shape.header).toEqual(first.inspection.shape.header);
      expect(contentOf(second.orders)).toEqual(contentOf(first.orders));
      expect(cellsOf(second.orders)).toEqual(cellsOf(first.orders));
    }),
    { numRuns: runs(150) },
  );
});

it.each(['json', 'ndjson'] as const)('a fix file gives the same orders from %s', async (format) => {
  const line =
    '{"purchaseOrderNumber":"1","items":[{"articleCode":"=A","quantity":1.50}],"n":12345678901234567890}';
  const text =
    format === 'json'
      ? `{"orders":[${line},\n${line.replace('"1"', '""')}]}`
      : `${line}\n{"x":1}\n`;
  const { first, second } = await around(Buffer.from(text), { ...plainMapping(), format });
  expect(first.orders).toHaveLength(2);
  expect(contentOf(second.orders)).toEqual(contentOf(first.orders));
  expect(cellsOf(second.orders)).toEqual(cellsOf(first.orders));
});

it('a row of the wrong width stays invalid until it is corrected', async () => {
  const { second } = await around(
    Buffer.from('purchaseOrderNumber,articleCode,quantity,note\n1,A,1,5,urgent\n2,B,1\n'),
    plainMapping(),
  );
  expect(second.orders.map(({ valid }) => valid)).toEqual([false, false]);
});
