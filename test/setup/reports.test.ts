import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';

const { sentenceOf } = await loadSetupPart<{ sentenceOf: (report: object) => string }>('reports.mjs');

const none = { accepted: 0, duplicate: 0, conflict: 0, invalid: 0, refused: 0, failed: 0, inDoubt: 0, cancelled: 0 };

test('a finished batch is one line whose numbers add up', () => {
  const counts = { records: 20, orders: 12, ...none, accepted: 9, invalid: 2, refused: 1 };
  const report = { file: 'orders.csv', state: 'finished', counts, open: 3 };
  expect(sentenceOf(report)).toBe('orders.csv: 12 orders, 9 accepted, 2 invalid, 1 refused; 3 need a person');
  const one = { ...report, counts: { ...counts, ...none, orders: 1, accepted: 1 }, open: 0 };
  expect(sentenceOf(one)).toBe('orders.csv: 1 order, 1 accepted');
});

test('an unreadable file reports why', () => {
  const report = { file: 'a.json', state: 'unreadable', error: { code: 'x', message: 'Ends in the middle, line 3.' } };
  expect(sentenceOf(report)).toBe('a.json: cannot be read, no order was sent. Ends in the middle, line 3.');
});
