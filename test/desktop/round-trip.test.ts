import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import { readFixCheck } from '../../src/order/fixing.ts';
import { encoderFor } from '../../src/report/encode.ts';
import type { Report } from '../../src/report/report.ts';
import { readText } from '../support/read-text.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import { openSpreadsheet, type Spreadsheet, type TextForm, type Typed } from './spreadsheet.ts';

// A person corrects a fix file in a spreadsheet program and drops it again.

const MAPPING = `mappings:
  erp:
    fields: { purchaseOrderNumber: [PO_NO, purchaseOrderNumber], articleCode: MATNR, quantity: MENGE }
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

/** Drops a file with three faulty orders, edits its fix file, drops that, and checks all outcomes. */
async function around(
  office: Spreadsheet,
  name: string,
  content: Buffer,
  as: TextForm,
  save: string,
  type = MENDED,
  fixFile = 'dead-letters.csv',
) {
  await place.drop(name, content);
  expect(await runOnce()).toBe(2);
  const [first] = await place.reportsNow();
  if (first === undefined) throw new Error('no report');
  expect(first).toMatchObject({ counts: { accepted: 1, invalid: 3 }, open: 3 });
  const fix = path.join(place.reports, first.batch, fixFile);
  const saved = path.join(place.folder, save);
  await office.edit({ open: fix, as, type, save: saved });
  await place.drop(save, await readFile(saved));
  return { first, code: await runOnce() };
}

async function lettersOf(report: Report): Promise<DeadLetter[]> {
  return JSON.parse(await place.read(report, 'dead-letters.json'));
}

/** What the check column says of each row of a CSV that LibreOffice saved. */
async function checksIn(file: string, { delimiter, encoding }: TextForm): Promise<string[]> {
  const text = new TextDecoder(encoding).decode(await readFile(file));
  const rows: string[][] = parse(text, { delimiter, relax_column_count: true });
  const at = (rows[0] ?? []).indexOf('_error_check');
  return rows.slice(1).map((row) => readFixCheck(row[at]));
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
  ['de-DE', '\t', 'utf-16le'],
  ['en-US', ';', 'utf-8'],
] as const)('LibreOffice in %s, delimiter %j, %s', (locale, delimiter, encoding) => {
  it.each(['mended.csv', 'mended.xlsx'])(
    'a fix file that it saves as %s sends what was wrong, and closes it',
    async (save) => {
      await using office = await openSpreadsheet(locale);
      const content = Buffer.from(encoderFor(encoding)(tableOf(delimiter)));
      const { first, code } = await around(
        office,
        'orders.csv',
        content,
        { delimiter, encoding },
        save,
      );
      expect(code).toBe(0);
      const [before, after] = await place.reportsNow();
      expect(after).toMatchObject({ counts: { orders: 3, accepted: 3 }, open: 0 });
      expect(before).toMatchObject({ batch: first.batch, counts: { invalid: 3 }, open: 0 });
      for (const { closed } of await lettersOf(first))
        expect(closed).toMatchObject({ batch: after?.batch });
      expect(Object.fromEntries(place.stored())).toEqual({
        '0010': 1,
        'PO-1': 1,
        'PO-2': 1,
        'PO-3': 1,
      });
      expect(await articles()).toEqual(ARTICLES);
    },
  );
});

describe.each([
  ['en-US', ',', 'utf-8'],
  ['de-DE', ';', 'windows-1252'],
] as const)('dead-letters.xlsx in LibreOffice in %s', (locale, delimiter, encoding) => {
  it.each(['fixed.csv', 'fixed.xlsx'])(
    'saved as %s, sends every value as it was in the file',
    async (save) => {
      await using office = await openSpreadsheet(locale);
      const content = Buffer.from(encoderFor(encoding)(tableOf(delimiter)));
      const form: TextForm = { delimiter, encoding, quotedIsText: false };
      const { code } = await around(
        office,
        'orders.csv',
        content,
        form,
        save,
        MENDED,
        'dead-letters.xlsx',
      );
      expect(code).toBe(0);
      expect((await place.reportsNow()).map(({ open }) => open)).toEqual([0, 0]);
      expect(await articles()).toEqual(ARTICLES);
      if (save !== 'fixed.csv') return;
      const checks = await checksIn(path.join(place.folder, save), form);
      expect(checks).toEqual(['intact', 'intact', 'intact', 'intact']);
    },
  );
});

describe('a workbook', () => {
  const sheet = textRows(TABLE);
  const form: TextForm = { delimiter: ',', encoding: 'utf-8' };

  it.each(['mended.csv', 'mended.xlsx'])('comes back as %s', async (save) => {
    await using office = await openSpreadsheet('en-US');
    const { first, code } = await around(
      office,
      'orders.xlsx',
      await writeWorkbook(sheet),
      form,
      save,
    );
    expect(code).toBe(0);
    expect((await lettersOf(first)).map(({ closed }) => closed?.by)).toEqual([
      'accepted',
      'accepted',
      'accepted',
    ]);
    expect(await articles()).toEqual(ARTICLES);
  });

  it('that was only opened and saved sends nothing, and its orders wait in the newest batch', async () => {
    await using office = await openSpreadsheet('en-US');
    const { code } = await around(
      office,
      'orders.xlsx',
      await writeWorkbook(sheet),
      form,
      'unmended.csv',
      [],
    );
    expect(code).toBe(2);
    const reports = await place.reportsNow();
    expect(reports.map(({ open }) => open)).toEqual([0, 3]);
    expect(reports[1]).toMatchObject({ counts: { orders: 3, invalid: 3, accepted: 0 } });
    expect([...place.stored().keys()]).toEqual(['PO-1']);
  });

  it('that is partly corrected leaves the rest in the newest fix file, which can be corrected later', async () => {
    await using office = await openSpreadsheet('en-US');
    const part = MENDED.slice(0, 1);
    const { code } = await around(
      office,
      'orders.xlsx',
      await writeWorkbook(sheet),
      form,
      'part.csv',
      part,
    );
    expect(code).toBe(2);
    const [, second] = await place.reportsNow();
    expect((await place.reportsNow()).map(({ open }) => open)).toEqual([0, 2]);
    const fix = path.join(place.reports, second?.batch ?? '', 'dead-letters.csv');
    const saved = path.join(place.folder, 'rest.csv');
    const rest = MENDED.slice(1).map((typed) => ({ ...typed, row: typed.row - 1 }));
    await office.edit({ open: fix, as: form, type: rest, save: saved });
    await place.drop('rest.csv', await readFile(saved));
    expect(await runOnce()).toBe(0);
    expect((await place.reportsNow()).map(({ open }) => open)).toEqual([0, 0, 0]);
    expect(await articles()).toEqual(ARTICLES);
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

    /** What is sent, as texts, and how many rows there are. */
    async function readBack(file: string) {
      const { orders, inspection } = await readText(await readFile(file));
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
      expect(original.sent).toHaveLength(3);
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

it('a number whose leading zeros LibreOffice removes, as it does by default, is sent with its zeros', async () => {
  await using office = await openSpreadsheet('en-US');
  const form: TextForm = { delimiter: ',', encoding: 'utf-8', quotedIsText: false };
  await place.drop('orders.csv', 'PO_NO,MATNR,MENGE\n0010,A,none\nPO-2,A,none\n');
  expect(await runOnce()).toBe(2);
  const [first] = await place.reportsNow();
  const open = path.join(place.reports, first?.batch ?? '', 'dead-letters.csv');
  const save = path.join(place.folder, 'mended.csv');
  const type = [1, 2].map((row) => ({ column: 'MENGE', row, text: '1' }));
  await office.edit({ open, as: form, type, save });
  expect(await readFile(save, 'utf8')).toMatch(/^10,A,1,/m);
  expect(await checksIn(save, form)).toEqual(['rewritten', 'rewritten']);
  await place.drop('mended.csv', await readFile(save));
  expect(await runOnce()).toBe(0);
  expect(Object.fromEntries(place.stored())).toEqual({ '0010': 1, 'PO-2': 1 });
  const [, after] = await place.reportsNow();
  expect(after?.warnings.join()).toContain('"10" was "0010"');
});
