import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadSetupPart } from '../support/setup-part.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

type Say = (line: string) => void;

const { sentenceOf, reportBatches, waitingReports } = await loadSetupPart<{
  sentenceOf: (report: object) => string;
  reportBatches: (
    folder: string,
    signal: AbortSignal,
    report: Say,
    more: {
      progress: Say;
      every: number;
      since?: string;
      waits?: () => Promise<object[]>;
      columns?: number | undefined;
    },
  ) => Promise<void>;
  waitingReports: (
    folder: string,
    since: string,
  ) => Promise<{ shown: { sentence: string }[]; more: number }>;
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
  const report = { file: 'orders.csv', state: 'finished', counts, open: 3 };
  expect(sentenceOf(report)).toBe(
    'orders.csv: 12 orders, 9 accepted, 2 invalid, 1 refused; 3 need a person',
  );
  expect(sentenceOf({ ...report, nameless: 2 })).toMatch(
    /^orders.csv: 10 orders and 2 rows without an order number, 9/,
  );
  const one = { ...report, counts: { ...counts, ...none, orders: 1, accepted: 1 }, open: 0 };
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

test('a batch that finished since the last start is shown; one that takes longer shows its progress, then its result; a held one shows why; one of another environment is not shown', async () => {
  await using folder = await makeTempFolder();
  const write = async (batch: string, report: object) => {
    await mkdir(path.join(folder.path, batch), { recursive: true });
    await writeFile(
      path.join(folder.path, batch, 'report.json'),
      JSON.stringify({ batch, environment: 'sandbox', open: 0, ...report }),
    );
  };
  const counts = { records: 5, orders: 50_000, ...none, accepted: 12_000 };
  await write('one', { file: 'large.csv', state: 'running', counts });
  await write('other', { file: 'own.csv', environment: 'staging', state: 'finished', counts });
  const finished = { state: 'finished', counts: { ...counts, orders: 1, accepted: 1 } };
  await write('older', { file: 'older.csv', ...finished, finishedAt: '2026-11-22T10:00:00.000Z' });
  await write('meanwhile', {
    file: 'meanwhile.csv',
    ...finished,
    finishedAt: '2026-11-22T10:00:01.000Z',
  });
  await write('two', {
    file: 'wrong.csv',
    state: 'waiting',
    counts,
    waits: { message: 'refused alike' },
  });
  const lines: string[] = [];
  const stop = new AbortController();
  const add = (line: string) => void lines.push(line);
  const reporting = reportBatches(folder.path, stop.signal, add, {
    progress: add,
    every: 0,
    since: '2026-11-22T10:00:00.000Z',
  });
  await until('all are shown', () => lines.length >= 3);
  await write('one', {
    file: 'large.csv',
    state: 'finished',
    counts: { ...counts, accepted: 50_000 },
  });
  await until('the result is shown', () => lines.length >= 4);
  stop.abort();
  await reporting;
  expect(lines).toEqual([
    'meanwhile.csv: 1 order, 1 accepted',
    'large.csv: 12,000 of 50,000 orders done',
    'wrong.csv: waits for a person: refused alike',
    'large.csv: 50,000 orders, 50,000 accepted',
  ]);
});

test.each([undefined, 120])(
  'a batch without progress shows all that its orders wait for, in lines that fit, and not its line again',
  async (columns) => {
    await using folder = await makeTempFolder();
    await mkdir(path.join(folder.path, 'one'));
    const counts = { records: 5, orders: 5_000, ...none, accepted: 4_990 };
    const report = {
      batch: 'one',
      environment: 'sandbox',
      file: 'big.csv',
      state: 'running',
      open: 0,
      counts,
    };
    await writeFile(path.join(folder.path, 'one', 'report.json'), JSON.stringify(report));
    const groups = [
      { for: 'answer', text: 'an answer of the API: attempt 1 is in flight', orders: 10 },
      { for: 'person', text: 'a person', orders: 2 },
      { for: 'unexamined', text: 'not examined one by one', orders: 1_383 },
    ];
    const long = {
      for: 'list',
      text: `the API's list: ${'every read of it failed '.repeat(9)}`,
      orders: 1,
    };
    let asked = 0;
    const lines: string[] = [];
    const stop = new AbortController();
    const reporting = reportBatches(folder.path, stop.signal, () => undefined, {
      progress: (line) => void lines.push(line),
      every: 0,
      columns,
      waits: async () => {
        asked += 1;
        return asked < 2 ? [] : asked < 4 ? groups : [long];
      },
    });
    await until('the second reason is shown', () => asked >= 6);
    stop.abort();
    await reporting;
    expect(lines).toEqual([
      'big.csv: 4,990 of 5,000 orders done',
      '  10 orders wait for an answer of the API: attempt 1 is in flight\n  1,383 more orders wait',
      expect.stringMatching(/^ {2}1 order waits for the API's list: every .*\n {4}\S/),
    ]);
    expect(lines.at(-1)?.trim().replace(/\s+/g, ' ')).toBe(`1 order waits for ${long.text.trim()}`);
    const rows = lines
      .flatMap((text) => `po-sync: ${text}`.split('\n'))
      .map(({ length }) => length);
    expect(Math.max(...rows)).toBeLessThan(columns ?? 80);
    expect(Math.max(...rows)).toBeGreaterThan((columns ?? 80) - 25);
  },
);

test('what orders wait for is asked at most every 20 s, and not repeated when it may have changed', async () => {
  await using folder = await makeTempFolder();
  const write = async (batch: string, state: string, accepted: number) => {
    await mkdir(path.join(folder.path, batch), { recursive: true });
    const counts = { records: 9, orders: 9, ...none, accepted };
    const report = {
      batch,
      environment: 'sandbox',
      file: 'a.csv',
      state,
      open: 0,
      counts,
      finishedAt: '2026-11-21T08:00:00.000Z',
    };
    await writeFile(path.join(folder.path, batch, 'report.json'), JSON.stringify(report));
  };
  const start = Date.now();
  let now = start;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now);
  let asked = 0;
  const rounds: string[] = [];
  const lines: string[] = [];
  const stop = new AbortController();
  await write('b', 'running', 1);
  const reporting = reportBatches(folder.path, stop.signal, (line) => void rounds.push(line), {
    progress: (line) => void lines.push(line),
    every: 5_000,
    // The first batch may be written before the folder is read for what earlier runs left.
    since: '2026-11-21T07:00:00.000Z',
    waits: async () => [{ for: 'turn', text: `reason ${++asked}`, orders: 1 }],
  });
  /** Resolves when the batch was looked at after so many seconds: one that is finished is reported after it. */
  async function at(seconds: number): Promise<void> {
    now = start + seconds * 1_000;
    const before = rounds.length;
    await write(`c-${seconds}`, 'finished', 9);
    await until('the next round', () => rounds.length > before);
  }
  try {
    await at(0);
    await at(5);
    await write('b', 'running', 2);
    await at(10);
    await at(15);
    await at(26);
  } finally {
    stop.abort();
    await reporting;
    clock.mockRestore();
  }
  expect(lines).toEqual([
    'a.csv: 1 of 9 orders done\n  1 order waits for reason 1',
    'a.csv: 2 of 9 orders done',
    'a.csv: 2 of 9 orders done\n  1 order waits for reason 2',
  ]);
});

test('a start names the newest reports with orders that need a person', async () => {
  await using folder = await makeTempFolder();
  for (let i = 0; i < 7; i += 1) {
    await mkdir(path.join(folder.path, `batch-${i}`));
    const environment = i === 0 ? 'staging' : 'sandbox';
    const report = {
      batch: `batch-${i}`,
      environment,
      file: `${i}.csv`,
      state: 'finished',
      open: 1,
    };
    await writeFile(path.join(folder.path, `batch-${i}`, 'report.json'), JSON.stringify(report));
  }
  await mkdir(path.join(folder.path, 'new'));
  const since = '2026-11-22T10:00:00.000Z';
  const fresh = {
    environment: 'sandbox',
    file: 'new.csv',
    state: 'finished',
    open: 1,
    finishedAt: '2026-11-23',
  };
  await writeFile(path.join(folder.path, 'new', 'report.json'), JSON.stringify(fresh));
  const { shown, more } = await waitingReports(folder.path, since);
  expect(shown.map(({ sentence }) => sentence)).toEqual(
    [2, 3, 4, 5, 6].map((i) => `${i}.csv: 1 needs a person`),
  );
  expect(more).toBe(1);
});
