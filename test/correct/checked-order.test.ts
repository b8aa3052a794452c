import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { createCheckedOrders } from '../../src/correct/checked-order.ts';
import { letterRows } from '../../src/correct/letter-rows.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

it('an order of XML with one item has a row with the values of that item', async () => {
  await using folder = await makeTempFolder();
  const file = path.join(folder.path, 'orders.xml');
  const lines = '<lines><line><sku>A</sku><qty>x</qty></line></lines>';
  await writeFile(file, `<list><order><NR>PO-1</NR>${lines}</order></list>`);
  const mapping = mappingSchema.parse({
    records: 'list.order',
    items: 'lines.line',
    columns: {
      NR: { is: 'purchaseOrderNumber' },
      'lines.line.sku': { is: 'articleCode' },
      'lines.line.qty': { is: 'quantity' },
    },
  });
  const inspection = await inspectFile(file, [{ name: 'm', mapping }]);
  if (inspection.reading === undefined) throw new Error('no reading');
  const checked = createCheckedOrders(inspection.reading);
  const orders = [];
  for await (const page of readOrderPages(file, inspection)) orders.push(...page.map(checked));
  expect(orders).toMatchObject([
    { problems: [{ pointer: expect.stringMatching(/\/lines\/line\/0\/qty$/) }] },
  ]);
  const rows = orders.flatMap((one) => letterRows(one, {}, { items: ['lines.line'] }));
  expect(rows.map(({ cells }) => cells)).toEqual([
    { NR: 'PO-1', 'lines.line.sku': 'A', 'lines.line.qty': 'x' },
  ]);
});
