import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainMapping } from '../../../src/config/config.ts';
import { closingsOf } from '../../../src/order/dead-letter.ts';
import type { CheckedOrder } from '../../../src/order/order.ts';
import { inspectFile } from '../../../src/parse/inspect.ts';
import { encoderFor } from '../../../src/report/encode.ts';
import { fixFilesIn } from '../../../src/report/fix-copies.ts';
import { openFixWorkbook } from '../../../src/report/fix-file/workbook.ts';
import { csvLine } from '../../../src/report/lines.ts';
import { refreshReport } from '../../../src/report/refresh-report.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { readOrders } from '../../../src/validate/read-orders.ts';
import { dead, inputOf, rows } from '../../support/reported.ts';
import { runs } from '../../support/runs.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { unzip } from '../../support/zip.ts';

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(() => temp[Symbol.asyncDispose]());

const HEADER = ['purchaseOrderNumber', 'articleCode', 'quantity'];

/** Writes the cells as a CSV and as the workbook made from it, and reads the workbook. */
async function throughWorkbook(
  cells: string[][],
  delimiter = ';',
  encoding = 'utf-8',
): Promise<string[][]> {
  const text = [HEADER, ...cells].map((row) => csvLine(row, { delimiter, newline: '\n' })).join('');
  const csv = join(temp.path, 'fix.csv');
  await writeFile(csv, encoderFor(encoding)(text));
  {
    await using draft = await openFixWorkbook(temp.path, {
      path: csv,
      format: { type: 'csv', delimiter, encoding },
    });
    await draft?.publish();
  }
  return readCells(join(temp.path, 'dead-letters.xlsx'));
}

async function readCells(path: string): Promise<string[][]> {
  const mapping = plainMapping();
  const read: CheckedOrder[] = [];
  for await (const order of readOrders(path, await inspectFile(path, mapping))) read.push(order);
  const records = read.flatMap((order) => order.records);
  return records.map((record) => (record.kind === 'row' ? [...record.cells] : []));
}

it('the cells of a workbook are read as the texts of the CSV it was made from', async () => {
  const cells = [
    '0010',
    '1-2',
    '1,000',
    '1.000',
    '3E5',
    '=1+1',
    '+49123',
    '12345678901234567890',
    'TRUE',
    '100.0',
    ' x ',
  ];
  const table = cells.map((cell, index) => [`PO-${index}`, cell, '1']);
  expect(await throughWorkbook(table)).toEqual(table);
});

it('quotes, line breaks, delimiters, markup and umlauts survive', async () => {
  const unit = fc.constantFrom(
    '"',
    ';',
    '<',
    '>',
    '&',
    "'",
    'ä',
    '€',
    'a',
    '1',
    '\n',
    '_x0041_',
    ']]>',
  );
  const cell = fc.string({ unit, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 4 }), async (texts) => {
      const table = texts.map((text, index) => [`PO-${index}`, `a${text}b`, '1']);
      expect(await throughWorkbook(table, ';', 'windows-1252')).toEqual(table);
    }),
    { numRuns: runs(40) },
  );
});

it('a workbook that Excel could not open is not written, and leaves no draft', async () => {
  const csv = join(temp.path, 'fix.csv');
  await writeFile(csv, `a,b\n${'x'.repeat(40_000)},1\n`);
  expect(
    await openFixWorkbook(temp.path, { path: csv, format: { type: 'csv', delimiter: ',' } }),
  ).toBeUndefined();
  expect(await fixFilesIn(temp.path)).toEqual([]);
});

it('a fix file that cannot be read is an error, and leaves no draft', async () => {
  const missing = { path: join(temp.path, 'missing.csv'), format: { type: 'csv' as const } };
  await expect(openFixWorkbook(temp.path, missing)).rejects.toThrow('ENOENT');
});

it('the workbook loses its settled orders with the CSV, and is removed with it', async () => {
  const shape = {
    format: { type: 'csv' as const, delimiter: ';' },
    header: HEADER,
    newline: '\n' as const,
  };
  const orders = ['1', '2'].map((number, index) =>
    dead(rows(index + 2, [number, 'A', '1']), 'refused', '400', 'No'),
  );
  await writeReport(inputOf(temp.path, orders, { shape }));
  expect(await fixFilesIn(temp.path)).toEqual(['dead-letters.csv', 'dead-letters.xlsx']);
  const close = (...numbers: string[]) =>
    closingsOf(
      numbers.map((number) => ({ number, at: '2026-11-22T08:00:00.000Z', by: 'accepted' })),
    );
  await refreshReport(temp.path, { open: 1 }, close('1'));
  const workbook = join(temp.path, 'dead-letters.xlsx');
  expect((await readCells(workbook)).map(([number]) => number)).toEqual(['2']);
  await refreshReport(temp.path, { open: 0 }, close('1', '2'));
  expect(await fixFilesIn(temp.path)).toEqual([]);
});

it('each cell of _error_check says what to do with it when it is selected, and takes any value', async () => {
  const csv = join(temp.path, 'fix.csv');
  const header = [...HEADER, '_error_message', '_error_check'];
  const lines = [header, ['1', 'A', 'x', 'No', '01,000'], ['2', 'B', 'y', 'No', '01,000']];
  await writeFile(
    csv,
    lines.map((row) => csvLine(row, { delimiter: ';', newline: '\n' })).join(''),
  );
  {
    await using draft = await openFixWorkbook(temp.path, {
      path: csv,
      format: { type: 'csv', delimiter: ';' },
    });
    await draft?.publish();
  }
  const parts = await unzip(await readFile(join(temp.path, 'dead-letters.xlsx')));
  const xml = parts.get('xl/worksheets/sheet1.xml')?.toString() ?? '';
  const [, tag = '', prompt = ''] =
    /<\/sheetData><dataValidations count="1">(<dataValidation [^>]*? prompt="([^"]*)"[^>]*>)/.exec(
      xml,
    ) ?? [];
  expect(tag).toMatch(/ sqref="E2:E3"\/>$/);
  expect(tag).not.toContain(' type=');
  expect(prompt).toMatch(
    /^Leave this cell as it is: .*&quot;confirmed&quot; only if _error_message says so/,
  );
  expect(prompt.length).toBeLessThanOrEqual(255);
});
