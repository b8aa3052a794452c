import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { encode } from '../../src/report/encode.ts';
import type { Report } from '../../src/report/report.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import { openSpreadsheet, type Typed } from './spreadsheet.ts';

// A person corrects a fix file in a spreadsheet program and drops it again.

const MAPPING = `mappings:
  erp:
    columns: { PO_NO: { is: purchaseOrderNumber }, MATNR: { is: articleCode, like: '.+' }, MENGE: { is: quantity }, 'Größe': ignore }
`;
const SOURCE =
  '- { name: inbox, type: inbox, path: inbox, mapping: erp, stable: 100ms, poll: 200ms }';

/** One order is good, one has a formula for an article and a wrong quantity, one has leading zeros and none. */
const TABLE = [
  ['PO_NO', 'MATNR', 'MENGE', 'Größe'],
  ['PO-1', 'A-1', '3', 'L'],
  ['0010', '000123', '', 'M'],
  ['PO-2', '=A1', 'two', '1-2'],
  ['PO-2', '@good, "quoted"', '5', '-5'],
  ['PO-3', '12E5', '1,5', '12345678901234567890'],
];

const MENDED: Typed[] = [
  { column: 2, row: 1, text: '7' },
  { column: 2, row: 2, text: '2' },
  { column: 2, row: 4, text: '1' },
];

const ARTICLES = {
  '0010': ['000123'],
  'PO-1': ['A-1'],
  'PO-2': ['=A1', '@good, "quoted"'],
  'PO-3': ['12E5'],
};

let place: Workplace;
beforeEach(async () => {
  place = await openWorkplace({ source: SOURCE, more: MAPPING });
});
afterEach(() => place[Symbol.asyncDispose]());

async function runOnce(): Promise<number | null> {
  const { code, err } = await place.run(['start', '--once']);
  // Only the sum of what a person must do, and nothing where there is none.
  expect(err).toMatch(code === 2 ? /^\d+ files? needs? a person \(.*\.\n$/ : /^$/);
  return code;
}

/** Drops a file with three faulty orders, edits its fix.xlsx, drops that, and checks all outcomes. */
async function around(
  locale: 'en-US' | 'de-DE',
  name: string,
  content: Buffer,
  type: readonly Typed[],
) {
  await place.drop(name, content);
  expect(await runOnce()).toBe(2);
  const [first] = await place.reportsNow();
  if (first === undefined) throw new Error('no report');
  expect(first).toMatchObject({ counts: { accepted: 1, invalid: 3 }, open: 3 });
  const open = path.join(place.reports, first.batch, 'fix.xlsx');
  const save = path.join(place.folder, 'mended.xlsx');
  await using office = await openSpreadsheet(locale);
  await office.edit({ open, type, save });
  await place.drop('mended.xlsx', await readFile(save));
  return { first, code: await runOnce() };
}

async function lettersOf(report: Report): Promise<DeadLetter[]> {
  return JSON.parse(await place.read(report, 'dead-letters.json'));
}

async function articles(): Promise<Record<string, string[]>> {
  const listed = (await place.api.orders(await place.api.token())) as {
    purchaseOrderNumber: string;
    items: { articleCode: string }[];
  }[];
  return Object.fromEntries(
    listed.map(({ purchaseOrderNumber, items }) => [
      purchaseOrderNumber,
      items.map((item) => item.articleCode),
    ]),
  );
}

const tableOf = (delimiter: string) =>
  TABLE.map((row) =>
    row
      .map((cell) => (/[",;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
      .join(delimiter),
  ).join('\r\n');

describe.each([
  ['en-US', ',', 'utf-8'],
  ['de-DE', ';', 'windows-1252'],
] as const)('fix.xlsx in LibreOffice in %s', (locale, delimiter, encoding) => {
  it('sends what was wrong, with every other value as it was in the file, and closes it', async () => {
    const content = Buffer.from(encode(tableOf(delimiter), encoding));
    const { first, code } = await around(locale, 'orders.csv', content, MENDED);
    expect(code).toBe(0);
    const [before, after] = await place.reportsNow();
    const corrections = { taken: 3, restored: 0 };
    expect(after).toMatchObject({ counts: { orders: 3, accepted: 3 }, open: 0, corrections });
    expect(before).toMatchObject({ batch: first.batch, counts: { invalid: 3 }, open: 0 });
    for (const { closed } of await lettersOf(first))
      expect(closed).toMatchObject({ batch: after?.batch });
    expect(await articles()).toEqual(ARTICLES);
  });

  it('sends nothing where it is only opened and saved', async () => {
    const book = await writeWorkbook(textRows(TABLE));
    const { code } = await around(locale, 'orders.xlsx', book, []);
    expect(code).toBe(2);
    const [before, after] = await place.reportsNow();
    expect([before?.open, after?.open]).toEqual([3, 0]);
    expect(after).toMatchObject({ corrections: { taken: 0, restored: 0, unchanged: 3 } });
    expect([...place.stored().keys()]).toEqual(['PO-1']);
  });
});
