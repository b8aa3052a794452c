import { expect, it } from 'vitest';
import { lacksIn } from '../../src/order/dead-letter.ts';

const BATCH = 'batch 20261121T071500Z-erp-orders-3f2a91c0';

/** As dead letters of earlier versions name the batch, and as they name its file. */
const FILES = [BATCH, '"orders.csv"', '"the rest of line 9, here line 9, waits.csv"'];

it.each(FILES)('the message of an order that lacks a row of %s is read back', (file) => {
  const leftOut = (what: string, subject = '') => ({
    message: `${subject}is not complete: ${what} in the fix file and is not in this order now; enter the number`,
  });
  const doubt = (what: string) => ({
    message: `a row of this order may be missing: ${what} waits for a person and may belong to this order. If it does`,
  });
  const [gone, here, apart, near] = lacksIn([
    leftOut(`line 3 of ${file} (PO-1, B, 5) and 4 more were in this order`),
    leftOut(`line 3 of ${file} (PO-1, B, 5), here line 7, was in this order`, 'this order '),
    doubt(`line 3 of ${file} (, H-3, 4)`),
    doubt(`line 3 of ${file} (, H-3, 4), here line 8,`),
  ]);
  expect([gone, here]).toMatchObject([
    { kind: 'left-out', row: undefined, more: 4 },
    { kind: 'left-out', row: 'line 7', more: 0 },
  ]);
  expect([apart, near]).toMatchObject([
    { kind: 'in-doubt', row: undefined },
    { kind: 'in-doubt', row: 'line 8' },
  ]);
});

it('the line of a row in the same file is its place', () => {
  const message =
    'a row of this order may be missing: line 3 has no order number and may belong to this order. If';
  expect(lacksIn([{ message }])).toMatchObject([{ kind: 'in-doubt', row: 'line 3' }]);
});
