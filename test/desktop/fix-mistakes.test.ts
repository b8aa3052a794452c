import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { type Dropped, openFixRound } from '../support/fix-round.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { type Operation, openSpreadsheet, type TextForm } from './spreadsheet.ts';

// What people do to fix files in a spreadsheet, besides correcting them. Only what somebody ordered is sent.

const FIELDS = { purchaseOrderNumber: 'PO_NO', articleCode: 'MATNR', quantity: 'MENGE' };
const ROWS = [
  ['00987', '000123', '1'],
  ['00987', '1-2', 'none'],
  ['00988', '12E5', '1.5'],
  ['PO-4', 'A 7', 'none'],
  ['PO-5', '3/4', '1200'],
  ['PO-6', 'MAR1', '7'],
  ['PO-7', '12345678901234567', '5'],
];
const order = (purchaseOrderNumber: string, ...items: [string, number][]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
});
/** As the person means it: rows 2, 3 and 4 are corrected. */
const MEANT = [
  order('00987', ['000123', 1], ['1-2', 5]),
  order('00988', ['12E5', 2]),
  order('PO-4', ['A 7', 3]),
  order('PO-5', ['3/4', 1200]),
  order('PO-6', ['MAR1', 7]),
  order('PO-7', ['12345678901234567', 5]),
];
const CORRECTIONS = [
  { column: 'MENGE', row: 2, text: '5' },
  { column: 'MENGE', row: 3, text: '2' },
  { column: 'MENGE', row: 4, text: '3' },
];

/** What the person does, and how many of the orders are sent all the same. */
type Mistake = { name: string; after: Operation[]; sent: number; also?: unknown[] };
const [NUMBER, ARTICLE, QUANTITY] = [0, 1, 2];
const MISTAKES: Mistake[] = [
  { name: 'nothing else', after: [], sent: 6 },
  { name: 'sorts by the article', after: [{ do: 'sort', column: ARTICLE }], sent: 6 },
  { name: 'sorts the articles alone', after: [{ do: 'sort-alone', column: ARTICLE }], sent: 0 },
  { name: 'sorts the numbers alone', after: [{ do: 'sort-alone', column: NUMBER }], sent: 1 },
  { name: 'copies a row and pastes it below', after: [{ do: 'copy-row', row: 4, to: 8 }], sent: 5 },
  { name: 'pastes a row over another one', after: [{ do: 'copy-row', row: 5, to: 4 }], sent: 4 },
  { name: 'deletes the rows without an error', after: [{ do: 'delete-row', row: 1 }], sent: 5 },
  { name: 'hides a row', after: [{ do: 'hide-row', row: 1 }], sent: 6 },
  {
    name: 'merges the numbers of an order',
    after: [{ do: 'merge', column: NUMBER, row: 1, to: 2 }],
    sent: 5,
  },
  { name: 'inserts a column', after: [{ do: 'insert-column', column: ARTICLE }], sent: 6 },
  {
    name: 'types a formula into a quantity',
    after: [{ do: 'type', column: QUANTITY, row: 4, text: '=2*5' }],
    sent: 6,
    also: [order('PO-4', ['A 7', 10])],
  },
  {
    name: 'types an article that becomes a date',
    after: [{ do: 'type', column: ARTICLE, row: 4, text: '5-6' }],
    sent: 6,
    also: [order('PO-4', ['5-6', 3])],
  },
  {
    name: 'types a note below the table',
    after: [{ do: 'type', column: NUMBER, row: 8, text: 'please check row 4!' }],
    sent: 6,
  },
  {
    name: 'types a note below the articles',
    after: [{ do: 'type', column: ARTICLE, row: 8, text: 'checked by Ann' }],
    sent: 5,
  },
  {
    name: 'fills the numbers down',
    after: [{ do: 'fill-down', column: NUMBER, row: 1, to: 2 }],
    sent: 5,
  },
  {
    name: 'deletes the column of the messages',
    after: [{ do: 'delete-column', column: 5 }],
    sent: 0,
  },
  {
    name: 'deletes the column of the checks',
    after: [{ do: 'delete-column', column: 6 }],
    sent: 6,
  },
];

/** An order as text, whatever the sequence of its items. */
function shown(one: unknown): string {
  const { purchaseOrderNumber, items } = one as ReturnType<typeof order>;
  return JSON.stringify([
    purchaseOrderNumber,
    items.map((item) => JSON.stringify(item)).toSorted(),
  ]);
}

async function sentBy(dropping: Promise<Dropped>): Promise<unknown[]> {
  try {
    const { sent } = await dropping;
    return sent.filter((one) => Object.hasOwn(one as object, 'orderState'));
  } catch (error) {
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable')) throw error;
    return [];
  }
}

describe.each([
  ['en-US', ',', 'dead-letters.csv', 'csv'],
  ['de-DE', ';', 'dead-letters.csv', 'csv'],
  ['fr-FR', ';', 'dead-letters.csv', 'xlsx'],
  ['fr-FR', ';', 'dead-letters.xlsx', 'xlsx'],
  ['de-DE', ';', 'dead-letters.xlsx', 'csv'],
] as const)(
  'a person at LibreOffice in %s, delimiter %s, who opens %s and saves %s',
  (locale, delimiter, open, type) => {
    it('sends nothing but what is meant, whatever else happens to the sheet', async () => {
      const input = [['PO_NO', 'MATNR', 'MENGE'], ...ROWS]
        .map((row) => `${row.join(delimiter)}\r\n`)
        .join('');
      await using folder = await makeTempFolder();
      await using round = await openFixRound(input, {
        fields: FIELDS,
        delimiter,
        repeatedRows: 'hold',
      });
      await using office = await openSpreadsheet(locale);
      const as: TextForm = { delimiter, encoding: 'utf-8', quotedIsText: false };
      const file = path.join(round.written().folder, open);
      const saved = MISTAKES.map((_, index) => path.join(folder.path, `${index}.${type}`));
      await office.editAll(
        MISTAKES.map(({ after }, index) => ({
          open: file,
          as,
          type: CORRECTIONS,
          after,
          save: saved[index] ?? '',
        })),
      );
      const found: Record<string, unknown> = {};
      const wrong: Record<string, unknown> = {};
      for (const [index, { name, also = [] }] of MISTAKES.entries()) {
        const sent = await sentBy(round.drops(await readFile(saved[index] ?? '')));
        const meant = new Set([...MEANT, ...also].map(shown));
        const bad = sent.filter((one) => !meant.has(shown(one)));
        if (bad.length > 0) wrong[name] = bad;
        found[name] = sent.length;
      }
      expect(wrong).toEqual({});
      if (open.endsWith('.xlsx') || type === 'xlsx') return;
      expect(found).toEqual(Object.fromEntries(MISTAKES.map(({ name, sent }) => [name, sent])));
    });
  },
);

it.each(['.xls', '.ods'])(
  'a fix file that is saved as %s is refused, with what to save instead',
  async (extension) => {
    await using folder = await makeTempFolder();
    await using round = await openFixRound(`PO_NO,MATNR,MENGE\n1,A,x\n`, { fields: FIELDS });
    await using office = await openSpreadsheet('en-US');
    const open = path.join(round.written().folder, 'dead-letters.csv');
    const save = path.join(folder.path, `saved${extension}`);
    await office.edit({ open, as: { delimiter: ',', encoding: 'utf-8' }, type: [], save });
    const error: unknown = await round
      .drops(await readFile(save))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PoSyncError);
    expect((error as PoSyncError).code).toMatch(/^unreadable-/);
    expect(`${(error as PoSyncError).message} ${(error as PoSyncError).remedy}`).toMatch(/xlsx/);
  },
);
