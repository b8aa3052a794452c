import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { type ReportedOrder, writeReport } from '../../src/report/write-report.ts';
import { readSheet } from '../support/fix-workbook.ts';
import {
  AT,
  dead,
  done,
  each,
  inputOf,
  problem,
  reportOf,
  rows,
  wrong,
} from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let folder: string;
beforeEach(async () => {
  temp = await makeTempFolder();
  folder = join(temp.path, 'reports', '20261121T071500Z-inbox-orders-3f2a91c0');
});
afterEach(() => temp[Symbol.asyncDispose]());

const mixed: ReportedOrder[] = [
  done(rows(2, ['1', 'A', '1'])),
  wrong(rows(3, ['2', 'A', '1'], ['2', 'B', '1,5']), problem(4)),
  dead(rows(5, ['=3', 'C', '1']), 'refused', '400', 'Parameters are invalid'),
];

const fixRows = async () => (await readSheet(join(folder, 'fix.xlsx'))).rows;

const read = (name: string) => readFile(join(folder, name), 'utf8');

it('a batch with dead letters has five files', async () => {
  await writeReport(inputOf(folder, mixed));
  const names = ['dead-letters.json', 'fix.xlsx', 'report.html', 'report.json', 'results.csv'];
  expect((await readdir(folder)).sort()).toEqual(names);
  expect(JSON.parse(await read('report.json'))).toEqual(reportOf(mixed));
});

it('results.csv has a line for every order', async () => {
  await writeReport(inputOf(folder, mixed));
  expect(parse(await read('results.csv'))).toEqual([
    ['line', 'purchaseOrderNumber', 'outcome', 'attempts', 'at', 'code', 'message'],
    ['2', '1', 'accepted', '1', AT, '', ''],
    ['4', '2', 'invalid', '0', AT, 'not-whole', 'MENGE is not a whole number'],
    ['5', "'=3", 'refused', '1', AT, '400', 'Parameters are invalid'],
  ]);
});

it('dead-letters.json has one entry a line', async () => {
  await writeReport(inputOf(folder, mixed));
  const text = await read('dead-letters.json');
  const id = (ordinal: number) => `${reportOf([]).batch}-${ordinal}`;
  expect(JSON.parse(text)).toEqual([
    {
      ...mixed[1]?.deadLetter,
      id: id(0),
      revision: 1,
      rows: [
        { row: 1, line: 3, cells: { PO_NO: '2', MATNR: 'A', MENGE: '1' } },
        { row: 2, line: 4, cells: { PO_NO: '2', MATNR: 'B', MENGE: '1,5' } },
      ],
    },
    {
      ...mixed[2]?.deadLetter,
      id: id(0),
      revision: 1,
      rows: [{ row: 1, line: 5, cells: { PO_NO: '=3', MATNR: 'C', MENGE: '1' } }],
    },
  ]);
  expect(text.trimEnd().split('\n')).toHaveLength(4);
});

it('without open dead letters there is no fix file', async () => {
  await writeReport(inputOf(folder, mixed.slice(0, 1)));
  expect(await readdir(folder)).not.toContain('fix.xlsx');
  expect(JSON.parse(await read('dead-letters.json'))).toEqual([]);
});

it('a report that is there stays as it is, byte by byte, and its orders are still passed on', async () => {
  await writeReport(inputOf(folder, mixed));
  const files = await readdir(folder);
  const before = await Promise.all(files.map((name) => readFile(join(folder, name))));
  let passed = 0;
  async function* counted() {
    for (const one of mixed.slice(0, 1)) {
      passed += 1;
      yield one;
    }
  }
  await writeReport(inputOf(folder, [], { orders: counted() }));
  expect(await Promise.all(files.map((name) => readFile(join(folder, name))))).toEqual(before);
  expect([await readdir(folder), passed]).toEqual([files, 1]);
});

it('settled dead letters are in the list but not in the fix file', async () => {
  const [, second, third] = mixed;
  if (second?.deadLetter === undefined || third === undefined)
    throw new Error('the sample lacks dead letters');
  const settled = {
    ...second,
    deadLetter: { ...second.deadLetter, closed: { at: AT, by: 'retry', batch: 'b2' } },
  };
  await writeReport(inputOf(folder, [settled, third]));
  expect(JSON.parse(await read('dead-letters.json'))).toHaveLength(2);
  expect((await fixRows()).map((row) => row['PO_NO'])).toEqual(['=3']);
});

it('corrections counts as outdated what was settled elsewhere when the order was entered', async () => {
  const corrections = { taken: 3, restored: 0, discarded: 0, unchanged: 0, outdated: 1 };
  const one = done(rows(2, ['1', 'A', '1']));
  const from = { id: 'b1-4', revision: 1, number: '1', content: '' };
  const late = {
    ...one,
    order: { ...one.order, records: one.order.records.map((record) => ({ ...record, from })) },
    result: { ...one.result, outcome: 'cancelled', code: 'outdated' },
  } as const;
  await writeReport(
    inputOf(folder, [], { report: reportOf([], { corrections }), orders: each([late]) }),
  );
  expect(JSON.parse(await read('report.json')).corrections).toEqual({
    ...corrections,
    taken: 2,
    outdated: 2,
  });
});

it('an unreadable file has a report without a fix file', async () => {
  const error = {
    code: 'unclosed-quote',
    message: 'The quote that opens in line 7 is not closed.',
    line: 7,
    column: 3,
  };
  const report = reportOf([], { state: 'unreadable', format: null, error });
  await writeReport({ folder, report, shape: undefined, orders: each([]) });
  expect((await readdir(folder)).sort()).toEqual([
    'dead-letters.json',
    'report.html',
    'report.json',
    'results.csv',
  ]);
  expect(await read('report.html')).toContain('The quote that opens in line 7 is not closed.');
});

it('an error of the orders is passed on, and nothing is left', async () => {
  async function* breaking() {
    yield* each(mixed.slice(0, 1));
    throw new Error('Redis is gone');
  }
  await expect(writeReport(inputOf(folder, mixed, { orders: breaking() }))).rejects.toThrow(
    'Redis is gone',
  );
  expect(await readdir(folder)).toEqual([]);
});

it('drafts that a killed writer left more than an hour ago are removed; other files are not', async () => {
  await mkdir(folder, { recursive: true });
  const names = {
    old: '.po-sync-0123456789abcdef.tmp',
    young: '.po-sync-fedcba9876543210.tmp',
    other: '.mine.tmp',
  };
  for (const name of Object.values(names)) await writeFile(join(folder, name), 'half');
  const hoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
  await utimes(join(folder, names.old), hoursAgo, hoursAgo);
  await utimes(join(folder, names.other), hoursAgo, hoursAgo);
  await writeReport(inputOf(folder, mixed));
  const left = await readdir(folder);
  expect(left).toEqual(expect.arrayContaining([names.young, names.other]));
  expect(left).not.toContain(names.old);
});

it('report.json is written last, after all others', async () => {
  await mkdir(join(folder, 'report.html', 'in the way'), { recursive: true });
  await expect(writeReport(inputOf(folder, mixed))).rejects.toMatchObject({
    code: 'report-not-written',
  });
  expect((await readdir(folder)).sort()).toEqual([
    'dead-letters.json',
    'fix.xlsx',
    'report.html',
    'results.csv',
  ]);
});

describe('when the disk refuses', () => {
  async function refusal(path: string): Promise<PoSyncError> {
    const thrown = await writeReport(inputOf(path, mixed)).catch((error: unknown) => error);
    if (!(thrown instanceof PoSyncError)) throw new Error(`not a refusal: ${String(thrown)}`);
    return thrown;
  }

  it('a file with the name of the folder is reported', async () => {
    await writeFile(join(temp.path, 'reports'), '');
    const error = await refusal(folder);
    expect(error).toMatchObject({
      code: 'report-not-written',
      facts: { path: folder, reason: 'ENOTDIR' },
    });
    expect(error.message).toContain(`${folder} could not be written: `);
  });

  it('a folder with the name of a file is reported, and no draft stays', async () => {
    await mkdir(join(folder, 'results.csv'), { recursive: true });
    expect(await refusal(folder)).toMatchObject({
      facts: { path: join(folder, 'results.csv'), reason: 'EISDIR' },
    });
    expect(await readdir(folder)).toEqual(['results.csv']);
  });

  it('the report is complete once the disk accepts it', async () => {
    await writeFile(join(temp.path, 'reports'), '');
    await refusal(folder);
    const elsewhere = join(temp.path, 'fixed');
    await writeReport(inputOf(elsewhere, mixed));
    expect(await readdir(elsewhere)).toHaveLength(5);
  });
});
