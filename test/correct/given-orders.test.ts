import { expect, it } from 'vitest';
import { givenPages } from '../../src/correct/given-orders.ts';
import type { SourceRecord } from '../../src/order/record.ts';
import { API_COLUMNS, mappingOf } from '../support/mapping-of.ts';
import { rows } from '../support/reported.ts';

const header = ['purchaseOrderNumber', 'articleCode', 'quantity', 'unit'];
const mapping = mappingOf({ columns: { ...API_COLUMNS, unit: { send: ['ST'] } } });
const from = {
  shape: { format: { type: 'csv' as const }, header },
  mappings: [{ name: 'erp', mapping }],
  stamp: { dev: 0n, ino: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n },
};

const cases: [what: string, units: string[], confirmed: number[], items: number | 'held'][] = [
  ['a row that a person did not confirm holds the complete order', ['X', 'X'], [2], 'held'],
  ['rows that a person confirmed go with those that are right', ['X', 'ST'], [2], 2],
  ['a confirmation of a row that is right confirms no other', ['X', 'ST'], [3], 'held'],
];
it.each(cases)('%s', async (_, units, lines, items) => {
  const given = units.flatMap((unit, i): SourceRecord[] =>
    rows(i + 2, ['7', `A-${i}`, '1', unit]).map((one) => ({
      ...one,
      ...(lines.includes(i + 2) && { isConfirmed: true }),
    })),
  );
  const found: (typeof items)[] = [];
  for await (const page of givenPages(given, from))
    found.push(...page.map((one) => (one.valid ? one.order.items.length : 'held')));
  expect(found).toEqual([items]);
});
