import { expect, it } from 'vitest';
import { messageOf } from '../../src/admin/dashboard/letter-message.ts';
import { keptOf } from '../../src/admin/read-model/kept-letter.ts';
import { problem, rows, wrong } from '../support/reported.ts';

const FROM = { batch: 'b', source: 'inbox', file: 'again.csv' };

it('a row without a number that became an order in the first file counts as in another file', () => {
  const message =
    'this row became T-7, which is already accepted or in progress from "first.fix.csv" (batch x-1): the same file was read before. Discard this row here';
  const { deadLetter } = wrong(
    rows(2, ['', 'A', '1']),
    problem(2),
    problem(2, { code: 'row-known', message }),
  );
  expect(deadLetter && keptOf(deadLetter, FROM).row.already).toBe(
    'this row became T-7, which is already accepted or in progress from "first.fix.csv": the same file was read before',
  );
});

it('an order whose number another file has in another spelling counts as in another file, and shows its items', () => {
  const message =
    'order a-900 differs from A-900, which is accepted from "monday.csv" (batch x-1) with the same items, only in case, spaces or leading zeros. If it is the same order, discard it. If it is another order, write send into _do of fix.xlsx';
  const { deadLetter } = wrong(
    rows(2, ['a-900', 'A', '1']),
    problem(2, { code: 'other-spelling', message }),
  );
  const payload = {
    purchaseOrderNumber: 'a-900',
    orderState: 'NEW',
    items: [{ articleCode: 'A', quantity: 1 }],
  };
  expect(deadLetter && keptOf({ ...deadLetter, payload }, FROM).row).toMatchObject({
    already:
      'order a-900 differs from A-900, which is accepted from "monday.csv" with the same items, only in case, spaces or leading zeros',
    items: 'A × 1',
  });
});

it('a list says once that another file has an order, and what to do', () => {
  const message =
    'order a-900 differs from A-900, which is accepted from "monday.csv" (batch x-1) with the same items, only in case, spaces or leading zeros. If it is the same order, discard it. If it is another order, write send into _do of fix.xlsx';
  const { deadLetter } = wrong(
    rows(2, ['a-900', 'A', '1']),
    problem(2, { code: 'other-spelling', field: '', message }),
  );
  const { markup } = messageOf(deadLetter ? keptOf(deadLetter, FROM).row : { message: '' });
  expect(markup.replace(/<div.*/s, '')).toBe(
    '<strong>Order a-900 differs from A-900, which is accepted from &quot;monday.csv&quot; with the same items, only in case, spaces or leading zeros.</strong> If it is the same order, discard it. If it is another order, check &quot;This row is correct as it is&quot;',
  );
});

it('a long message is cut between words, and not within the words that are replaced in the form', () => {
  const said = (message: string) => {
    const { deadLetter } = wrong(
      rows(2, ['PO-1', 'A', '1']),
      problem(2, { code: 'row-in-doubt', field: '', message }),
    );
    return deadLetter && keptOf(deadLetter, FROM).row.message;
  };
  const end = ', write send into _do of fix.xlsx in each of its rows';
  const doubt = (characters: number) =>
    `${'may belong '.repeat(60).slice(0, characters - 9)} complete`;
  expect(said(`${doubt(430)}${end}`)).toBe(`${doubt(430)}${end}`);
  for (const length of [450, 460, 480, 490])
    expect(said(`${doubt(length)}${end}`)).toBe(`${doubt(length)}…`);
  expect(said('quantity '.repeat(80))).toBe(`${'quantity '.repeat(55).trim()}…`);
  expect(said('A'.repeat(600))).toBe(`${'A'.repeat(499)}…`);
});
