import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Mapping, mappingSchema } from '../../src/config/mapping-schema.ts';
import type { MappedOrder } from '../../src/mapping/group.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';
import { configOf, LEAST } from '../support/config-text.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../config/examples');
const item = (articleCode: string, quantity: number) => ({ articleCode, quantity });
const order = (purchaseOrderNumber: string, ...items: object[]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items,
});

/** What becomes of each sample with the mapping of its name; `skipped`: rows that the mapping leaves out. */
const EXPECTED: Record<string, { skipped: number; orders: unknown[] }> = {
  'sap.txt': {
    skipped: 0,
    orders: [
      order('4500017891', item('000000000000100345', 1200), item('000000000000100346', 1200)),
      order('4500017892', item('PUMPE-7', 2)),
      { 4500017893: ['5 MENGE not-positive'] },
      { 4500017894: ['6 LOEKZ condition'] },
    ],
  },
  'sap-list.txt': {
    skipped: 8,
    orders: [
      order('4500017891', item('000000000000100345', 1200), item('000000000000100346', 12)),
      order('4500017892', item('PUMPE-7', 2)),
    ],
  },
  'shopify.csv': {
    skipped: 1,
    orders: [
      order('#1001', item('P-100', 2), item('B-7', 1)),
      { '#1002': ['4 Lineitem sku missing'] },
      order('#1003', item('B-7', 4)),
      { '#1005': ['7 Cancelled at condition'] },
    ],
  },
  'woocommerce.csv': {
    skipped: 1,
    orders: [order('5001', item('P-100', 2), item('B-7', 1)), order('5002', item('000451', 1))],
  },
  'business-central.json': {
    skipped: 1,
    orders: [
      order('106001', item('1896-S', 5), item('1900-S', 12)),
      { 106002: ['37 purchaseOrderLines.quantity not-whole'] },
    ],
  },
  'erp-xml.xml': {
    skipped: 0,
    orders: [
      order('4500017891', item('000345', 12), item('GRÜN-7', 1)),
      { 4500017892: ['11 Lines.Line.Quantity not-a-number'] },
    ],
  },
  'flat-json.json': {
    skipped: 0,
    orders: [
      order('PO-2201', item('000345', 12), item('GRÜN-7', 1)),
      { 'PO-2202': ['7 qty not-positive'] },
      order('PO-2203', item('PUMPE-8', 3)),
    ],
  },
  'spreadsheet.csv': {
    skipped: 0,
    orders: [
      order('A-17', item('PNT-1', 2.5), item('BRU-2', 10)),
      order('A-18', item('LAD-3', 1)),
      { 'A-19': ['8 Qty ambiguous-number'] },
    ],
  },
};

async function readMapping(sample: string): Promise<{ name: string; mapping: Mapping }> {
  const { name } = path.parse(sample);
  const example: unknown = parse(await readFile(path.join(FOLDER, `${name}.yaml`), 'utf8'));
  expect(example).toMatchObject({ mappings: { [name]: {} } });
  return { name, mapping: mappingSchema.parse(Object(example).mappings[name]) };
}

function inShort(one: MappedOrder): unknown {
  if ('order' in one) return one.order;
  const problems = one.problems.map((problem) =>
    [problem.line, problem.field, problem.code].join(' '),
  );
  return { [one.number]: problems };
}

describe('the example mappings', () => {
  test.each(Object.entries(EXPECTED))('read %s', async (sample, { skipped, orders }) => {
    const file = path.join(FOLDER, sample);
    const inspection = await inspectFile(file, [await readMapping(sample)]);
    expect(inspection.state).toBe('ready');

    let leftOut = 0;
    const read: MappedOrder[] = [];
    const onLeftOut = () => {
      leftOut += 1;
    };
    for await (const page of readOrderPages(file, inspection, { onLeftOut })) read.push(...page);
    expect(read.map(inShort)).toEqual(orders);
    expect(leftOut).toBe(skipped);
  });

  test.each(Object.keys(EXPECTED))('declare each column of %s, and a pattern', async (sample) => {
    const { name, mapping } = await readMapping(sample);
    const strict: Mapping = { ...mapping, otherColumns: 'wait' };
    const { state } = await inspectFile(path.join(FOLDER, sample), [{ name, mapping: strict }]);
    expect(state).toBe('ready');

    const texts = Object.values(mapping.columns).filter(
      (column) =>
        column !== 'ignore' && (column.is === 'purchaseOrderNumber' || column.is === 'articleCode'),
    );
    expect(texts).toEqual(Array(2).fill(expect.objectContaining({ like: expect.any(String) })));
  });

  test.each(Object.keys(EXPECTED))('pass the checks of a configuration: %s', async (sample) => {
    const { name } = path.parse(sample);
    const text = LEAST.replace('path: ../inbox', `path: ../inbox, mapping: ${name}`);
    const { warnings } = configOf(
      text + (await readFile(path.join(FOLDER, `${name}.yaml`), 'utf8')),
    );
    expect(warnings).toEqual([]);
  });

  test('each have a sample', async () => {
    const names = (await readdir(FOLDER)).map((file) => path.parse(file).name);
    const expected = Object.keys(EXPECTED).map((file) => path.parse(file).name);
    expect(new Set(names)).toEqual(new Set(expected));
  });
});
