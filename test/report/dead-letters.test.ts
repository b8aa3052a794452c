import { expect, it } from 'vitest';
import { deadLetterOf } from '../../src/report/dead-letters.ts';
import { AT, problem, rows } from '../support/reported.ts';

const records = rows(4, ['7', 'A', '1'], ['7', 'B', '1,5']);

it('a dead letter has the first problem, all problems, and every line of the order', () => {
  const problems = [problem(5), problem(5, { field: 'MATNR', code: 'missing' })];
  const deadLetter = deadLetterOf(
    'b',
    {
      ordinal: 0,
      number: '7',
      place: { line: 5 },
      records,
      valid: false,
      problems,
    },
    AT,
  );
  expect(deadLetter).toMatchObject({
    purchaseOrderNumber: '7',
    kind: 'invalid',
    code: 'not-whole',
    problems,
    attempts: 0,
    firstAt: AT,
    lastAt: AT,
    location: { line: 5, lines: [4, 5] },
  });
  expect(deadLetter).not.toHaveProperty('payload');
});

it('the pointer of JSON input is kept', () => {
  const place = { line: 1, pointer: '/orders/3' };
  const object = { kind: 'object' as const, place, value: {} };
  const order = {
    ordinal: 0,
    number: '',
    place,
    records: [object],
    valid: false as const,
    problems: [problem(1)],
  };
  expect(deadLetterOf('b', order, AT).location).toEqual(place);
});
