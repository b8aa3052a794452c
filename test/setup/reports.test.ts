import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

type Say = (line: string) => void;

const { sentenceOf, reportBatches } = await loadSetupPart<{
  sentenceOf: (report: object) => string;
  reportBatches: (
    folder: string,
    signal: AbortSignal,
    report: Say,
    more: {
      progress: Say;
      every: number;
      since?: string;
      status: () => Promise<object>;
      columns?: number | undefined;
    },
  ) => Promise<void>;
}>('reports.mjs');

const none = {
  accepted: 0,
  duplicate: 0,
  conflict: 0,
  invalid: 0,
  refused: 0,
  failed: 0,
  inDoubt: 0,
  cancelled: 0,
};

test('a finished batch is one line whose numbers add up', () => {
  const counts = { records: 20, orders: 12, ...none, accepted: 9, invalid: 2, refused: 1 };
  const report = { file: 'orders.csv', state: 'finished', counts };
  expect(sentenceOf(report)).toBe(
    'orders.csv: 12 orders, 9 accepted, 2 invalid, 1 refused; 3 need a person',
  );
  expect(sentenceOf({ ...report, nameless: 2 })).toMatch(
    /^orders.csv: 10 orders and 2 rows without an order number, 9/,
  );
  const one = { ...report, counts: { ...counts, ...none, orders: 1, accepted: 1 } };
  expect(sentenceOf(one)).toBe('orders.csv: 1 order, 1 accepted');
});

test('an unreadable file reports why', () => {
  const report = {
    file: 'a.json',
    state: 'unreadable',
    counts: { records: 0, orders: 0, ...none },
    error: { code: 'x', message: 'Ends in the middle, line 3.' },
  };
  expect(sentenceOf(report)).toBe(
    'a.json: cannot be read, no order was sent. Ends in the middle, line 3.',
  );
  const counts = { records: 0, orders: 4_000, ...none };
  expect(sentenceOf({ ...report, counts })).toContain(
    'cannot be read, 4,000 orders were admitted before. Ends',
  );
});

/** Follows reports and what `status` says until `enough` lines are shown. */
async function linesOf(
  folder: string,
  status: () => Promise<object>,
  enough: (lines: string[]) => boolean,
  more: { since?: string; columns?: number | undefined } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const stop = new AbortController();
  const add = (line: string) => void lines.push(line);
  const reporting = reportBatches(folder, stop.signal, add, {
    progress: add,
    every: 0,
    status,
    ...more,
  });
  await until('all lines', () => enough(lines));
  stop.abort();
  await reporting;
  return lines;
}

test('a file that finished since the last start is shown, and the progress of others; one that waits shows why', async () => {
  await using folder = await makeTempFolder();
  const counts = { records: 5, orders: 50_000, ...none, accepted: 12_000 };
  const write = async (batch: string, report: object) => {
    await mkdir(path.join(folder.path, batch), { recursive: true });
    await writeFile(
      path.join(folder.path, batch, 'report.json'),
      JSON.stringify({ batch, environment: 'sandbox', state: 'finished', ...report }),
    );
  };
  const one = { counts: { ...counts, orders: 1, accepted: 1 } };
  await write('older', { file: 'older.csv', ...one, finishedAt: '2026-11-22T10:00:00.000Z' });
  await write('other', { file: 'own.csv', environment: 'staging', ...one });
  await write('new', { file: 'new.csv', ...one, finishedAt: '2026-11-22T10:00:01.000Z' });
  await mkdir(path.join(folder.path, '20261122T100002Z-inbox-large-3f2a91c0'));
  const batches = [
    { batch: 'a', file: 'large.csv', state: 'sending', counts },
    {
      batch: 'b',
      file: 'wrong.csv',
      state: 'waiting',
      counts,
      waits: { message: 'refused alike' },
    },
  ];
  const lines = await linesOf(
    folder.path,
    async () => ({ batches }),
    (all) => all.length >= 3,
    {
      since: '2026-11-22T10:00:00.000Z',
    },
  );
  expect(lines).toEqual([
    'new.csv: 1 order, 1 accepted',
    'large.csv: 12,000 of 50,000 orders done',
    'wrong.csv: waits for a person: refused alike',
  ]);
});
