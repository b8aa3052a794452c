import { expect, it } from 'vitest';
import { placeNow } from '../../src/ledger/batches/place-now.ts';
import { inboxSource } from '../support/inbox-source.ts';

const source = inboxSource('/here');
const FOLDERS = { sources: [source], data: '/data' };

it.each([
  [
    'of an inbox is below the folder that is configured now',
    { source: source.name, kind: 'inbox', path: '/before/processing/b-1/a.csv' },
    '/here/processing/b-1/a.csv',
  ],
  [
    'of an export is below `data`',
    { source: 'erp', kind: 'export', path: '/before/spool/erp/b-1/a.csv' },
    '/data/spool/erp/b-1/a.csv',
  ],
  [
    'of a source that is no longer configured is where it was',
    { source: 'former', kind: 'inbox', path: '/before/processing/b-1/a.csv' },
    '/before/processing/b-1/a.csv',
  ],
] as const)('the file of a batch %s', (_, batch, path) => {
  expect(placeNow(batch, FOLDERS)).toEqual({ ...batch, path });
  expect(placeNow(batch, undefined)).toEqual(batch);
});

it('a settled file is below the inbox that is configured now', () => {
  const settledPath = '/before/done/2026-11-23/a.csv';
  const batch = { source: source.name, kind: 'inbox' as const, path: '', settledPath };
  expect(placeNow(batch, FOLDERS)).toMatchObject({ settledPath: '/here/done/2026-11-23/a.csv' });
});
