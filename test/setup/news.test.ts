import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';

const { newsOf } = await loadSetupPart<{ newsOf: (line: string) => string | undefined }>(
  'news.mjs',
);

const finished = { event: 'batch-finished', file: 'a.csv', needPerson: 0, report: 'r/b' };

test.each([
  [
    { ...finished, orders: 4_001, accepted: 3_998, invalid: 1, inDoubt: 2, needPerson: 3 },
    'a.csv: 4,001 orders, 3,998 accepted, 1 invalid, 2 in doubt; 3 need a person\n  r/b/report.html',
  ],
  [
    { ...finished, orders: 1, accepted: 0, duplicate: 1 },
    'a.csv: 1 order, 1 duplicate\n  r/b/report.html',
  ],
  [
    { ...finished, orders: 0, accepted: 0, reason: 'It ends.' },
    'a.csv: cannot be read. It ends.\n  r/b/report.html',
  ],
  [
    { ...finished, orders: 2, accepted: 2, reason: 'It ends.' },
    'a.csv: cannot be read. It ends. 2 orders, 2 accepted\n  r/b/report.html',
  ],
  [
    { event: 'batch-progress', file: 'a.csv', done: 12_000, orders: 50_000 },
    'a.csv: 12,000 of 50,000 orders done',
  ],
  [{ event: 'batch-progress', file: 'a.csv', done: 7 }, 'a.csv: 7 orders done'],
  [
    { event: 'batch-progress', file: 'a.csv', done: 7, records: 9 },
    'a.csv: 7 of at most 9 orders done',
  ],
  [{ event: 'batch-unreadable', file: 'a.csv', reason: 'It ends.' }, undefined],
  [{ event: 'attempt-ended', order: 'PO-1' }, undefined],
])('of %j npm start shows %s', (facts, said) => {
  expect(newsOf(JSON.stringify(facts))).toBe(said);
});

test('a message, and a line that is cut off, are no news', () => {
  for (const line of ['po-sync: cannot start', '{"event":"file-le'])
    expect(newsOf(line)).toBe(undefined);
});
