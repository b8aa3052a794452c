import { expect, it } from 'vitest';
import { keptOf } from '../../src/admin/read-model/kept-letter.ts';
import { problem, rows, wrong } from '../support/reported.ts';

const FROM = { batch: 'b', source: 'inbox', file: 'again.csv' };

it('a row without a number that became an order in the first file counts as in another file', () => {
  const message =
    'this row became T-7, which is already accepted or in progress from "first.fix.csv" (batch x-1): the same file was read before. Discard this row here';
  const { deadLetter } = wrong(rows(2, ['', 'A', '1']), problem(2), problem(2, { code: 'row-known', message }));
  expect(deadLetter && keptOf(deadLetter, FROM).row.already).toBe(
    'this row became T-7, which is already accepted or in progress from "first.fix.csv": the same file was read before',
  );
});
