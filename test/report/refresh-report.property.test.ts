import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closingsOf } from '../../src/order/dead-letter.ts';
import { refreshReport } from '../../src/report/refresh-report.ts';
import { type ReportedOrder, writeReport } from '../../src/report/write-report.ts';
import { readSheet } from '../support/fix-workbook.ts';
import { dead, done, inputOf, problem, reportOf, rows, wrong } from '../support/reported.ts';
import { makeTempFolder } from '../support/temp-folder.ts';

const CLOSING = {
  at: '2026-11-22T08:00:00.000Z',
  by: 'fixed',
  batch: '20261122T080000Z-inbox-orders-00000000',
};

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let folder: string;
beforeEach(async () => {
  temp = await makeTempFolder();
  folder = join(temp.path, 'batch');
});
afterEach(() => temp[Symbol.asyncDispose]());

const mixed: ReportedOrder[] = [
  wrong(rows(2, ['1', 'A', '1'], ['1', 'line\nbreak', '1,5']), problem(3)),
  done(rows(4, ['2', 'A', '1'])),
  dead(rows(5, ['3', '"', '1']), 'refused', '400', 'No'),
  dead(rows(6, ['4', ';', '1'], ['4', 'A', '1']), 'conflict', 'conflict', 'Other content'),
];

const fixNumbers = async () =>
  (await readSheet(join(folder, 'fix.xlsx'))).rows.map((row) => row['PO_NO']);
const read = (name: string) => readFile(join(folder, name), 'utf8');
const close = (...numbers: string[]) =>
  closingsOf(numbers.map((number) => ({ number, ...CLOSING })));

it('entries are closed, open ones counted, and settled orders removed from the fix file', async () => {
  await writeReport(inputOf(folder, mixed));
  await refreshReport(folder, { open: 2 }, close('3'));
  expect(JSON.parse(await read('report.json'))).toEqual({ ...reportOf(mixed), open: 2 });
  const deadLetters = JSON.parse(await read('dead-letters.json'));
  expect(deadLetters.map((deadLetter: { closed?: object }) => deadLetter.closed)).toEqual([
    undefined,
    CLOSING,
    undefined,
  ]);
  expect(await fixNumbers()).toEqual(['1', '1', '4', '4']);
  expect(await read('report.html')).toContain('<h1>2 of 4 orders need you</h1>');
});

it('files in progress that correct orders are looked up together for many orders', async () => {
  await writeReport(inputOf(folder, mixed));
  const all = Promise.withResolvers<void>();
  let asked = 0;
  const brought = async () => {
    asked += 1;
    if (asked === 3) all.resolve();
    await all.promise;
    return { batch: CLOSING.batch, file: 'fix.csv', number: '1' };
  };
  await refreshReport(folder, { open: 3, brought }, close());
  expect(await read('report.html')).toContain('3 orders are being corrected in');
});

it('what was ordered before is counted when the report is written, and stays when its results have expired', async () => {
  const same = done(rows(7, ['5', 'A', '1']), 'duplicate');
  const message = 'this number is already accepted with different items, from "a.csv"';
  const orders = [
    ...mixed,
    { ...same, result: { ...same.result, code: 'duplicate' } },
    dead(rows(8, ['6', 'A', '1']), 'conflict', 'other-content', message),
  ];
  const before = async () =>
    (JSON.parse(await read('report.json')) as { orderedBefore?: object }).orderedBefore;
  await writeReport(inputOf(folder, orders));
  expect(await before()).toEqual({ same: 1, other: 1 });
  await refreshReport(folder, { open: 3 }, close('3'));
  expect(await before()).toEqual({ same: 1, other: 1 });
  await rm(join(folder, 'results.csv'));
  await refreshReport(folder, { open: 2 }, close('3', '6'));
  expect(await before()).toEqual({ same: 1, other: 1 });
  expect(await read('report.html')).toContain(
    '; 1 had been ordered before, and 1 more not exactly as in this file.',
  );
});

it('an order that another file sent does not count as one that went out from this file', async () => {
  const own = reportOf([]).batch;
  const known = problem(7, {
    code: 'number-known',
    message: 'this number is already accepted from "a.csv"',
  });
  await writeReport(
    inputOf(folder, [...mixed, wrong(rows(7, ['5', 'A', 'x']), problem(7), known)]),
  );
  const fixed = { batch: own, places: ['line 2', 'line 3'], number: '1', changes: [] };
  const corrections = new Map([
    [CLOSING.batch, new Map(fixed.places.map((place) => [place, fixed]))],
  ]);
  // Of the first, the rows came back; the second was sent again; the others have the number of an order of another file.
  const closings = ['1', '3', '4', '5'].map((number) => ({ number, ...CLOSING, by: 'accepted' }));
  const sent = closings.map((one) => (one.number === '3' ? { ...one, batch: own } : one));
  const facts = async () => {
    const { acceptedLater, acceptedElsewhere, orderedBefore } = JSON.parse(
      await read('report.json'),
    );
    return [acceptedLater?.orders, acceptedElsewhere, orderedBefore];
  };
  await refreshReport(folder, { open: 0 }, closingsOf(sent), corrections);
  expect(await facts()).toEqual([2, 1, { same: 0, other: 1 }]);
  const said = await read('report.html');
  expect(said).toContain(
    '3 of 5 orders went out from this file: 1 at first and 2 later; 1 had been ordered before, but not exactly as in this file; 1 went out from another file.',
  );
  // What an earlier version counted does not stay.
  const before = JSON.parse(await read('report.json'));
  await writeFile(
    join(folder, 'report.json'),
    JSON.stringify({ ...before, acceptedLater: { orders: 9, ofRows: 0 } }),
  );
  const letters = (await read('dead-letters.json')).replaceAll(
    '"by":"accepted"',
    '"by":"discarded"',
  );
  await writeFile(join(folder, 'dead-letters.json'), letters);
  await refreshReport(folder, { open: 0 }, closingsOf([]), corrections);
  expect(await facts()).toEqual([undefined, undefined, { same: 0, other: 1 }]);
  expect(JSON.parse(await read('report.json'))).toMatchObject({ discarded: 3 });
  expect(await read('report.html')).toContain('3 were discarded.');
});

it('the timeline does not change', async () => {
  await writeReport(inputOf(folder, mixed));
  const timeline = (page: string) =>
    /<section aria-labelledby="timeline">[\s\S]*?<\/section>/.exec(page)?.[0];
  const before = timeline(await read('report.html'));
  expect(before).toContain('First outcome');
  await refreshReport(folder, { open: 2 }, close('3'));
  expect(timeline(await read('report.html'))).toBe(before);
});

it('the fix file is removed with the last open entry', async () => {
  await writeReport(inputOf(folder, mixed));
  await refreshReport(folder, { open: 0 }, close('1', '3', '4'));
  expect(await readdir(folder)).not.toContain('fix.xlsx');
  expect(await read('report.html')).toContain('<h1>Nothing here needs you</h1>');
});

it('texts of the list do not change', async () => {
  const message = 'a\u2028b\u2029c\r\n"d", {e},';
  const orders = [
    dead(rows(2, ['1']), 'refused', '400', message),
    dead(rows(3, ['2']), 'refused', '400', message),
  ];
  await writeReport(inputOf(folder, orders));
  await refreshReport(folder, { open: 1 }, close('2'));
  const deadLetters = JSON.parse(await read('dead-letters.json'));
  expect(deadLetters.map((deadLetter: { message: string }) => deadLetter.message)).toEqual([
    message,
    message,
  ]);
});

it('refreshing can be done in steps and repeated', async () => {
  await writeReport(inputOf(folder, mixed));
  await refreshReport(folder, { open: 2 }, close('4'));
  await refreshReport(folder, { open: 1 }, close('4', '1'));
  await refreshReport(folder, { open: 1 }, close('4', '1'));
  expect(await fixNumbers()).toEqual(['3']);
});

it('a missing fix file is written again, and an expired report is left alone', async () => {
  await writeReport(inputOf(folder, mixed));
  await rm(join(folder, 'fix.xlsx'));
  await refreshReport(folder, { open: 2 }, close('3'));
  expect(await fixNumbers()).toEqual(['1', '1', '4', '4']);
  await rm(folder, { recursive: true });
  await refreshReport(folder, { open: 0 }, close('1', '3', '4'));
  expect(await readdir(temp.path)).toEqual([]);
});

it('rows of an order that came back apart are not listed as removed; one that did not come back is', async () => {
  const order = wrong(rows(2, ['1', 'A', '1'], ['1', 'B', '2'], ['1', 'C', '3']), problem(2));
  await writeReport(inputOf(folder, [order]));
  const gone = (line: number, from: string) => ({ place: `line ${line}`, field: '', from, to: '' });
  const renamed = { place: 'line 3', field: 'purchaseOrderNumber', from: '1', to: '11' };
  const one = {
    batch: 'batch',
    places: ['line 2'],
    number: '1',
    changes: [gone(3, '1, B, 2'), gone(4, '1, C, 3')],
  };
  const other = {
    batch: 'batch',
    places: ['line 3'],
    number: '11',
    changes: [renamed, gone(2, '1, A, 1')],
  };
  const places = new Map([
    ...one.places.map((at) => [at, one] as const),
    ...other.places.map((at) => [at, other] as const),
  ]);
  await refreshReport(folder, { open: 0 }, close('1'), new Map([[CLOSING.batch, places]]));
  const [letter] = JSON.parse(await read('dead-letters.json'));
  expect(letter.closed.changes).toEqual([gone(4, '1, C, 3'), renamed]);
});
