import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { encoderFor } from '../../src/report/encode.ts';
import type { Report } from '../../src/report/report.ts';
import { mappingOf, readText } from '../support/read-text.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import { openSpreadsheet, type Spreadsheet, type TextForm, type Typed } from './spreadsheet.ts';

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
  { column: 'MENGE', row: 1, text: '7' },
  { column: 'MENGE', row: 2, text: '2' },
  { column: 'MENGE', row: 4, text: '1' },
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
  office: Spreadsheet,
  name: string,
  content: Buffer,
  as: TextForm,
  type: readonly Typed[] = MENDED,
) {
  await place.drop(name, content);
  expect(await runOnce()).toBe(2);
  const [first] = await place.reportsNow();
  if (first === undefined) throw new Error('no report');
  expect(first).toMatchObject({ counts: { accepted: 1, invalid: 3 }, open: 3 });
  const open = path.join(place.folder, 'fix.xlsx');
  await copyFile(path.join(place.reports, first.batch, 'fix.xlsx'), open);
  // The titles are read from a CSV.
  await writeFile(path.join(place.folder, 'fix.csv'), (TABLE[0] ?? []).join(as.delimiter));
  const saved = path.join(place.folder, 'mended.xlsx');
  await office.edit({ open, as, type, save: saved });
  await place.drop('mended.xlsx', await readFile(saved));
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
    await using office = await openSpreadsheet(locale);
    const content = Buffer.from(encoderFor(encoding)(tableOf(delimiter)));
    const { first, code } = await around(office, 'orders.csv', content, { delimiter, encoding });
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
    await using office = await openSpreadsheet(locale);
    const book = await writeWorkbook(textRows(TABLE));
    const form: TextForm = { delimiter, encoding };
    const { code } = await around(office, 'orders.xlsx', book, form, []);
    expect(code).toBe(2);
    const [before, after] = await place.reportsNow();
    expect([before?.open, after?.open]).toEqual([3, 0]);
    expect(after).toMatchObject({ corrections: { taken: 0, restored: 0, unchanged: 3 } });
    expect([...place.stored().keys()]).toEqual(['PO-1']);
  });
});

describe.each(['en-US', 'de-DE'] as const)(
  'an input that LibreOffice in %s opens and saves',
  (locale) => {
    const delimiter = locale === 'en-US' ? ',' : ';';
    const form: TextForm = { delimiter, encoding: 'utf-8' };
    const HEADER = ['purchaseOrderNumber', 'articleCode', 'quantity', 'note'];
    const ROWS = [
      ['0010', '000123', '7', 'Größe'],
      ['0010', '1-2', '12', 'a;b,c'],
      ['12E5', '123456789012345678', '1', 'two\nlines'],
      ['PO-3', '=A-1', '5', ' x '],
      ['4500017', '1E-2', '1000', '"19'],
    ];

    const WITH_NOTE = mappingOf({
      columns: {
        purchaseOrderNumber: { is: 'purchaseOrderNumber' },
        articleCode: { is: 'articleCode', like: '.+' },
        quantity: { is: 'quantity' },
        note: { ignore: true, lineBreaks: true },
      },
    });

    /** What is sent, as texts, and how many rows there are. */
    async function readBack(file: string) {
      const { orders, inspection } = await readText(await readFile(file), WITH_NOTE);
      const sent = orders.flatMap((one) => (one.valid ? [JSON.stringify(one.order)] : []));
      return { sent, records: inspection.records };
    }

    it.each(['csv', 'xlsx'] as const)('reads like the original, from %s', async (type) => {
      const quoted = [HEADER, ...ROWS].map((row) =>
        row.map((cell) => `"${cell.replaceAll('"', '""')}"`),
      );
      // The titles are read from the CSV.
      const names = [
        HEADER.join(delimiter),
        ...quoted.slice(1).map((row) => row.join(delimiter)),
        '',
      ].join('\n');
      await writeFile(path.join(place.folder, 'input.csv'), names);
      await writeFile(
        path.join(place.folder, 'input.xlsx'),
        await writeWorkbook(textRows([HEADER, ...ROWS])),
      );
      const original = await readBack(path.join(place.folder, `input.${type}`));
      expect(original.sent).toHaveLength(4);
      await using office = await openSpreadsheet(locale);
      for (const save of ['saved.csv', 'saved.xlsx']) {
        const saved = path.join(place.folder, save);
        await office.edit({
          open: path.join(place.folder, `input.${type}`),
          as: form,
          type: [],
          save: saved,
        });
        expect(await readBack(saved), save).toEqual(original);
      }
    });

    it('reads like the original as a workbook where numbers have a format', async () => {
      const number = (value: number, format?: string) => ({
        type: Number,
        value,
        ...(format !== undefined && { format }),
      });
      const text = (value: string) => ({ type: String, value });
      const cells = [
        [text('1'), number(42, '00000'), number(1234)],
        [text('2'), text('A'), number(1234, '#,##0')],
        [text('3'), number(4711), number(5, '0.00')],
        [text('4'), number(44_000, 'dd.mm.yyyy'), number(1)],
      ];
      await writeFile(
        path.join(place.folder, 'input.csv'),
        `${HEADER.slice(0, 3).join(delimiter)}\n`,
      );
      await writeFile(
        path.join(place.folder, 'input.xlsx'),
        await writeWorkbook([...textRows([HEADER.slice(0, 3)]), ...cells]),
      );
      const original = await readBack(path.join(place.folder, 'input.xlsx'));
      expect(original.sent).toHaveLength(2);
      await using office = await openSpreadsheet(locale);
      const saved = path.join(place.folder, 'saved.xlsx');
      await office.edit({
        open: path.join(place.folder, 'input.xlsx'),
        as: form,
        type: [],
        save: saved,
      });
      expect(await readBack(saved)).toEqual(original);
    });
  },
);
