import { expect, it } from 'vitest';
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
