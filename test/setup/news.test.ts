import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';

const { newsOf } = await loadSetupPart<{ newsOf: (line: string) => string | undefined }>(
  'news.mjs',
);

test.each([
  [
    {
      event: 'batch-finished',
      file: 'a.csv',
      orders: 3,
      accepted: 1,
      needPerson: 2,
      report: 'r/b',
    },
    'a.csv: 3 orders, 1 accepted; 2 need a person\n  r/b/report.html',
  ],
  [
    {
      event: 'batch-finished',
      file: 'a.csv',
      orders: 1,
      accepted: 1,
      needPerson: 0,
      report: 'r/b',
    },
    'a.csv: 1 order, 1 accepted\n  r/b/report.html',
  ],
  [
    { event: 'batch-unreadable', file: 'a.csv', reason: 'It ends.' },
    'a.csv: cannot be read. It ends.',
  ],
  [{ event: 'attempt-ended', order: 'PO-1' }, undefined],
])('of %j npm start shows %s', (facts, said) => {
  expect(newsOf(JSON.stringify(facts))).toBe(said);
});

test('a message, and a line that is cut off, are no news', () => {
  for (const line of ['po-sync: cannot start', '{"event":"file-le'])
    expect(newsOf(line)).toBe(undefined);
});
