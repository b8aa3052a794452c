import { expect, it } from 'vitest';
import { addError, byWeight, type ErrorGroups } from '../../src/report/story.ts';
import { AT, dead, problem, rows, wrong } from '../support/reported.ts';

function groupsOf(...deadLetters: ReturnType<typeof dead>['deadLetter'][]) {
  const groups: ErrorGroups = new Map();
  for (const deadLetter of deadLetters) if (deadLetter) addError(groups, deadLetter);
  return byWeight(groups);
}

const refused = (line: number, at = AT) => {
  const { deadLetter } = dead(
    rows(line, [`PO-${line}`]),
    'refused',
    '400',
    'Parameters are invalid',
  );
  return deadLetter && { ...deadLetter, firstAt: at, lastAt: at };
};

it('a group has the first and last time, independent of the sequence', () => {
  const [group] = groupsOf(refused(2, '2026-11-21T08:00:00Z'), refused(3, '2026-11-21T07:00:00Z'));
  expect(group).toMatchObject({
    count: 2,
    firstAt: '2026-11-21T07:00:00Z',
    lastAt: '2026-11-21T08:00:00Z',
  });
});

it('a refusal was first seen when the API refused, not at an attempt before, to which it answered nothing', () => {
  const one = refused(2, '2026-11-21T08:00:00Z');
  const [group] = groupsOf(one && { ...one, firstAt: '2026-11-21T07:00:00Z' });
  expect(group).toMatchObject({ firstAt: '2026-11-21T08:00:00Z', lastAt: '2026-11-21T08:00:00Z' });
});

it('kinds with the same signature are separate groups', () => {
  const { deadLetter } = dead(rows(9, ['PO-9']), 'failed', '400', 'Parameters are invalid');
  expect(groupsOf(refused(2), deadLetter).map(({ kind }) => kind)).toEqual(['refused', 'failed']);
});

it('a group keeps 50 orders and counts them all', () => {
  const [group] = groupsOf(...Array.from({ length: 120 }, (_, index) => refused(index + 2)));
  expect(group?.count).toBe(120);
  expect(group?.orders).toHaveLength(50);
});

it('of orders that come in any order, a group keeps the first of the file, in the order of the file', () => {
  const lines = Array.from({ length: 120 }, (_, index) => 2 + ((index * 77) % 120));
  const [group] = groupsOf(...lines.map((line) => refused(line)));
  expect(group?.orders.map(({ line }) => line)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 2),
  );
});

it('groups of the same size are in the order of the file', () => {
  const other = dead(rows(3, ['PO-3']), 'refused', '422', 'above the contract').deadLetter;
  const last = dead(rows(9, ['PO-9']), 'refused', '409', 'taken').deadLetter;
  expect(groupsOf(last, other, refused(2)).map(({ code }) => code)).toEqual(['400', '422', '409']);
});

it('an order names its other problems in short', () => {
  const fields = 'BCDEFGHIJK'.split('');
  const problems = ['A', ...fields, 'B', 'L'].map((field) =>
    problem(2, { field, code: 'missing' }),
  );
  const [group] = groupsOf(wrong(rows(2, ['7']), ...problems).deadLetter);
  expect(group?.orders[0]?.also).toBe(
    [...fields.map((field) => `${field} is empty`), '1 more'].join('; '),
  );
});

it('errors after the first 200 groups share one group for each kind', () => {
  const deadLetters = Array.from({ length: 300 }, (_, index) => {
    const code = `kind-${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + Math.floor(index / 26))}`;
    return dead(rows(index + 2, ['7']), 'refused', code, 'No').deadLetter;
  });
  const groups = groupsOf(...deadLetters);
  expect(groups).toHaveLength(201);
  expect(groups[0]).toMatchObject({ code: 'other', count: 100 });
});
