import { expect, it } from 'vitest';
import { keptOf } from '../../src/admin/read-model/kept-letter.ts';
import type { Problem } from '../../src/order/problem.ts';
import { problem, rows, wrong } from '../support/reported.ts';

const FROM = { batch: 'b', source: 'inbox', file: 'again.csv' };

it.each([
  ['number-known', { state: 'accepted' }, undefined],
  ['number-known', { state: 'inProgress' }, true],
] as const)('an order with the problem %s is in another file: %j', (code, facts, isOpen) => {
  const from = { batch: 'x-1', file: 'first.csv' };
  const { deadLetter } = wrong(rows(2, ['', 'A', '1']), problem(2), {
    ...problem(2),
    code,
    facts: { ...facts, from },
  } as Problem);
  expect(deadLetter && keptOf(deadLetter, FROM).row).toMatchObject({
    already: expect.stringContaining('from "first.csv"'),
    ...(isOpen && { isOpen }),
  });
});
