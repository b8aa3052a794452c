import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { PoSyncError } from '../../src/core/errors.ts';
import { type Dropped, type FixRound, openFixRound } from '../support/fix-round.ts';
import { writeWorkbook } from '../support/write-workbook.ts';

// What people and programs do to fix files. Either it is sent as it is meant, or it is held with both readings.

const FIELDS = {
  purchaseOrderNumber: 'PO_NO',
  articleCode: 'MATNR',
  quantity: 'MENGE',
  items: 'items',
};
const ERP = { fields: FIELDS };
const HEADER = 'PO_NO,MATNR,MENGE';
const order = (purchaseOrderNumber: string, ...items: [string, number][]) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: items.map(([articleCode, quantity]) => ({ articleCode, quantity })),
});

let round: FixRound | undefined;
afterEach(() => round?.[Symbol.asyncDispose]());

/** The copy of a fix file as it was written. */
const copyOf = (fix: string) => path.join(path.dirname(fix), `.${path.basename(fix)}`);

const ERROR_COLUMNS = ['_error_line', '_error_code', '_error_message', '_error_check'] as const;

/** The rows of a fix file without quotes in its own cells. */
type Rows = { header: string[]; rows: string[][] };

function rowsOf(text: string): Rows {
  const [header = [], ...rows] = text
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      (line.match(/"(?:[^"]|"")*"|[^,]+|(?<=,)(?=,|$)|^(?=,)/g) ?? []).map((cell) =>
        cell.replace(/^"(.*)"$/, '$1'),
      ),
    );
  return { header, rows };
}

function textOf({ header, rows }: Rows): string {
  const cell = (text: string) => (text.includes(',') ? `"${text}"` : text);
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\n`).join('');
}

function without({ header, rows }: Rows, names: readonly string[]): Rows {
  const kept = header.flatMap((name, index) => (names.includes(name) ? [] : [index]));
  const pick = (row: string[]) => kept.map((index) => row[index] ?? '');
  return { header: pick(header), rows: rows.map(pick) };
}

/** A table as a spreadsheet saves it that takes cells for numbers. */
function saved({ header, rows }: Rows): Rows {
  return {
    header,
    rows: rows.map((row) =>
      row.map((cell) =>
        /^0[\d.,]+$|^\d[\d.,]*$/.test(cell)
          ? String(Number(cell.replace(/[.,](?=\d{3}$)/, '')))
          : cell,
      ),
    ),
  };
}

/** Sets cells of a row by the names of their columns. */
function withCells({ header, rows }: Rows, at: number, cells: Record<string, string>): Rows {
  const set = (row: string[]) => row.map((cell, index) => cells[header[index] ?? ''] ?? cell);
  return { header, rows: rows.map((row, index) => (index === at ? set(row) : row)) };
}

async function whyRefused(
  dropping: Promise<Dropped>,
): Promise<Pick<PoSyncError, 'code' | 'remedy'>> {
  const error: unknown = await dropping.catch((thrown: unknown) => thrown);
  if (!(error instanceof PoSyncError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  return error;
}

describe('an order of several rows', () => {
  const INPUT = `${HEADER}\n00987,000123,1\n00987,,5\n00987,A-3,3\n`;

  test('is sent when its faulty row is corrected', async () => {
    round = await openFixRound(INPUT, ERP);
    const fixed = withCells(rowsOf(round.written().text), 1, { MATNR: 'A-2' });
    const { sent, warnings } = await round.drops(textOf(fixed));
    expect([sent, warnings]).toEqual([[order('00987', ['000123', 1], ['A-2', 5], ['A-3', 3])], []]);
  });

  test('is held when a row has a cell after the last column, and counts all columns of the fix file', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 1, { MATNR: 'A-2' });
    const { messages } = await round.drops(
      textOf({ header, rows: rows.map((row, at) => (at === 1 ? [...row, 'x'] : row)) }),
    );
    expect(messages.join()).toContain('has more fields than the header (8 instead of 7)');
    expect(messages.join()).not.toContain('instead of 3');
  });

  test.each([0, 2])(
    'is held when row %d was filtered out or deleted, and names the row',
    async (gone) => {
      round = await openFixRound(INPUT, ERP);
      const { header, rows } = withCells(rowsOf(round.written().text), 1, { MATNR: 'A-2' });
      const { sent, messages } = await round.drops(
        textOf({ header, rows: rows.toSpliced(gone, 1) }),
      );
      expect(sent).toEqual([{ '00987': ['2 fix-row-missing'] }]);
      expect(messages).toEqual([
        expect.stringMatching(
          gone === 0 ? /line 2 of "orders of May.csv" \(00987, 000123, 1\)/ : /line 4.*A-3, 3/,
        ),
      ]);
    },
  );

  test('is held when its faulty row was deleted, and sent when each other row is confirmed', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = rowsOf(round.written().text);
    const rest = { header, rows: rows.toSpliced(1, 1) };
    const { text } = round.written();
    expect((await round.drops(textOf(rest))).sent).toEqual([{ '00987': ['2 fix-row-missing'] }]);
    expect(round.written().text).not.toBe(text);
    const half = withCells(rest, 0, { _error_check: 'confirmed' });
    expect((await round.drops(textOf(half))).sent).toEqual([{ '00987': ['2 fix-row-missing'] }]);
    const both = withCells(half, 1, { _error_check: 'Confirmed ' });
    expect((await round.drops(textOf(both))).sent).toEqual([
      order('00987', ['000123', 1], ['A-3', 3]),
    ]);
  });

  test('with two equal rows is sent when one is removed and the others are confirmed, as its message says', async () => {
    round = await openFixRound(`${HEADER}\n00987,A-1,1\n00987,A-2,5\n00987,A-2,5\n`, ERP);
    const { text } = round.written();
    expect(text).toContain('line 4 is equal to line 3 in every value');
    expect(text).toContain(
      'In a fix file, also write confirmed into _error_check of each remaining row of the order.',
    );
    const { header, rows } = rowsOf(text);
    const rest = { header, rows: rows.toSpliced(2, 1) };
    const confirmed = [0, 1].reduce(
      (table, at) => withCells(table, at, { _error_check: 'confirmed' }),
      rest,
    );
    expect((await round.drops(textOf(confirmed))).sent).toEqual([
      order('00987', ['A-1', 1], ['A-2', 5]),
    ]);
  });

  const heldIn = ({ sent }: Dropped) =>
    sent.flatMap((one) => Object.values(one as object).filter(Array.isArray)).flat();
  const rowWith = ({ rows }: Rows, cell: string) => rows.findIndex((row) => row.includes(cell));

  test('with rows apart that differ in the quantity is held in each fix file until all its rows are confirmed', async () => {
    round = await openFixRound(`${HEADER}\nT-11,A-1,7\nT-11,B-1,5\nT-12,C-1,x\nT-11,A-1,9\n`, ERP);
    for (const _ of [1, 2])
      expect(heldIn(await round.drops(round.written().text))).toContainEqual(
        expect.stringMatching(/ repeated-row$/),
      );
    const written = rowsOf(round.written().text);
    const all = written.rows.reduce(
      (table, _, at) => withCells(table, at, { _error_check: 'confirmed' }),
      written,
    );
    const { sent } = await round.drops(textOf(all));
    expect(sent).toContainEqual(order('T-11', ['A-1', 7], ['B-1', 5], ['A-1', 9]));
  });

  test('with rows apart of which one is wrong is held when that is corrected, also in a second fix file', async () => {
    round = await openFixRound(`${HEADER}\nT-5,A-1,ten\nT-6,C-1,x\nT-5,A-1,9\n`, ERP);
    expect(round.written().text).toContain('in every value but the quantity');
    const written = rowsOf(round.written().text);
    await round.drops(textOf(withCells(written, rowWith(written, 'ten'), { MENGE: 'zehn' })));
    const again = rowsOf(round.written().text);
    const held = heldIn(
      await round.drops(textOf(withCells(again, rowWith(again, 'zehn'), { MENGE: '10' }))),
    );
    expect(held).toContainEqual(expect.stringMatching(/ repeated-row$/));
    expect(held.filter((one) => /MENGE/.test(String(one)))).toEqual([
      expect.stringMatching(/MENGE not-a-number$/),
    ]);
  });

  test.each([0, 2])(
    'with rows apart that differ in the quantity is held when only row %d of them is confirmed',
    async (at) => {
      round = await openFixRound(
        `${HEADER}\nT-11,A-1,7\nT-11,B-1,5\nT-12,C-1,1\nT-11,A-1,9\n`,
        ERP,
        (no) => no === 'T-12',
      );
      const one = withCells(rowsOf(round.written().text), at, { _error_check: 'confirmed' });
      expect((await round.drops(textOf(one))).sent).toEqual([{ 'T-11': ['4 repeated-row'] }]);
    },
  );

  test('is held when a person adds a row below other orders that differs from one of its rows in the quantity', async () => {
    round = await openFixRound(`${HEADER}\nT-1,A-1,7\nT-1,B-1,x\nT-2,C-1,1\n`, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 1, { MENGE: '5' });
    const { sent } = await round.drops(
      textOf({ header, rows: [...rows, ['T-1', 'A-1', '9', '', '', '', '']] }),
    );
    expect(sent).toEqual([order('T-2', ['C-1', 1]), { 'T-1': ['5 repeated-row'] }]);
  });

  test.each([
    ['repeated-row', `${HEADER}\nT-1,A-1,7\nT-2,B-1,1\nT-1,A-1,9\n`, 'T-1'],
    ['cut-off', `${HEADER}\nT-2,B-1,1\nT-1,A-1,5`, 'T-1'],
  ])(
    'that was held as %s is held in a fix file that is joined to that of another batch, and without its report',
    async (code, file, number) => {
      round = await openFixRound(`${HEADER}\nPO-1,A-1,x\n`, ERP, (no) => no === 'T-2');
      const first = rowsOf(round.written().text);
      await round.drops(file);
      const { header, rows } = rowsOf(round.written().text);
      const held = expect.stringContaining(
        `this row was held (${code}), and whether it was changed is not known`,
      );
      const joined = { header, rows: [...withCells(first, 0, { MENGE: '2' }).rows, ...rows] };
      await round.forget();
      for (const table of [joined, { header, rows }]) {
        const { sent, messages } = await round.drops(textOf(table));
        expect(sent).toContainEqual({ [number]: expect.anything() });
        expect(messages).toContainEqual(held);
      }
      const confirmed = rows.reduce(
        (table, _, at) => withCells(table, at, { _error_check: 'confirmed' }),
        {
          header,
          rows,
        },
      );
      const { sent } = await round.drops(textOf(confirmed));
      expect(sent).toContainEqual(expect.objectContaining({ purchaseOrderNumber: number }));
    },
  );

  test('with adjacent rows that differ in the quantity is not held when another row is corrected', async () => {
    round = await openFixRound(`${HEADER}\nT-8,A-1,7\nT-8,B-1,x\nT-8,A-1,9\n`, ERP);
    const fixed = withCells(rowsOf(round.written().text), 1, { MENGE: '5' });
    expect((await round.drops(textOf(fixed))).sent).toEqual([
      order('T-8', ['A-1', 7], ['B-1', 5], ['A-1', 9]),
    ]);
  });

  describe('that was held for a row without a number', () => {
    const file = `${HEADER}\nPO-1,C-5,5\n,H-3,4\nPO-2,C-6,x\n`;

    test('is not sent while that row is left out of the fix file or has no number', async () => {
      round = await openFixRound(file, ERP);
      const { header, rows } = rowsOf(round.written().text);
      const alone = await round.drops(textOf({ header, rows: rows.slice(0, 1) }));
      expect(alone.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(alone.messages).toEqual([
        expect.stringMatching(
          /may be missing: line 3 of "orders of May.csv" \(, H-3, 4\) waits for a person and may belong to/,
        ),
      ]);
      // The next fix file still says so.
      expect((await round.drops(round.written().text)).sent).toEqual([
        { 'PO-1': ['2 row-in-doubt'] },
      ]);
      const confirmed = withCells(rowsOf(round.written().text), 0, { _error_check: 'confirmed' });
      expect((await round.drops(textOf(confirmed))).sent).toEqual([order('PO-1', ['C-5', 5])]);
    });

    test('is sent when that row gets its number, or another one', async () => {
      round = await openFixRound(file, ERP);
      const joined = await round.drops(
        textOf(withCells(rowsOf(round.written().text), 1, { PO_NO: 'PO-1' })),
      );
      expect(joined.sent[0]).toEqual(order('PO-1', ['C-5', 5], ['H-3', 4]));
      await round[Symbol.asyncDispose]();
      round = await openFixRound(file, ERP);
      const other = await round.drops(
        textOf(withCells(rowsOf(round.written().text), 1, { PO_NO: 'PO-3' })),
      );
      expect(other.sent.slice(0, 2)).toEqual([
        order('PO-1', ['C-5', 5]),
        order('PO-3', ['H-3', 4]),
      ]);
    });

    test.each([
      ['above', 'PO-1', [order('PO-1', ['C-5', 5], ['H-3', 4]), order('PO-2', ['C-6', 6])]],
      ['below', 'PO-2', [order('PO-1', ['C-5', 5]), order('PO-2', ['H-3', 4], ['C-6', 6])]],
    ])(
      'is sent with the other one beside that row when it gets the number of the order %s',
      async (_, number, sent) => {
        round = await openFixRound(`${HEADER}\nPO-1,C-5,5\n,H-3,4\nPO-2,C-6,6\n`, ERP);
        const { header, rows } = rowsOf(round.written().text);
        const at = rows.findIndex((row) => row.includes('H-3'));
        const found = await round.drops(textOf(withCells({ header, rows }, at, { PO_NO: number })));
        expect(found.sent).toEqual(sent);
      },
    );

    test('is sent when a row is added to it', async () => {
      round = await openFixRound(file, ERP);
      const { header, rows } = rowsOf(round.written().text);
      const added = [...header.keys()].map((at) => ['PO-1', 'H-3', '4'][at] ?? '');
      const found = await round.drops(textOf({ header, rows: [...rows.slice(0, 1), added] }));
      expect(found.sent).toEqual([order('PO-1', ['C-5', 5], ['H-3', 4])]);
    });

    test('is not sent with an added row that is another one', async () => {
      round = await openFixRound(file, ERP);
      const { header, rows } = rowsOf(round.written().text);
      const other = [...header.keys()].map((at) => ['PO-1', 'H-9', '4'][at] ?? '');
      const found = await round.drops(textOf({ header, rows: [...rows.slice(0, 1), other] }));
      expect(found.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
    });

    test('is sent with both rows confirmed, and orders of JSON that differ in case are not sent without each other', async () => {
      round = await openFixRound(`${HEADER}\nPO-7a,A,1\nPO-7A,B,2\n`, ERP);
      const both = rowsOf(round.written().text);
      const all = [0, 1].reduce(
        (table, at) => withCells(table, at, { _error_check: 'confirmed' }),
        both,
      );
      expect((await round.drops(textOf(all))).sent).toEqual([
        order('PO-7a', ['A', 1]),
        order('PO-7A', ['B', 2]),
      ]);
      await round[Symbol.asyncDispose]();
      const json = ['a', 'A'].map((letter) => ({
        PO_NO: `PO-7${letter}`,
        items: [{ MATNR: letter, MENGE: 1 }],
      }));
      round = await openFixRound(JSON.stringify(json), ERP);
      const [opening, first = ''] = round.written().text.split('\n');
      const alone = [opening, first.replace(/,$/, ''), ']'].join('\n');
      expect((await round.drops(alone)).sent).toEqual([{ 'PO-7a': ['2 row-in-doubt'] }]);
      const confirmed = alone.replace(/"_error_check":"[^"]*"/, '"_error_check":"confirmed"');
      expect((await round.drops(confirmed)).sent).toEqual([order('PO-7a', ['a', 1])]);
    });

    test('is no reason to hold another order that is next to that row in the fix file only', async () => {
      round = await openFixRound(
        `${HEADER}\nPO-0,C-1,x\nPO-1,C-5,5\n,H-3,4\n`,
        ERP,
        (number) => number === 'PO-9',
      );
      const { header, rows } = rowsOf(round.written().text);
      const first = withCells({ header, rows: rows.filter((_, at) => at !== 1) }, 0, {
        MENGE: '7',
      });
      const found = await round.drops(textOf(first));
      expect(found.sent).toEqual([order('PO-0', ['C-1', 7]), { '': ['3 PO_NO missing'] }]);
    });
  });

  describe('next to several rows without a number below each other', () => {
    const file = `${HEADER}\nPO-1,A-1,1\n,B-2,2\n,C-3,3\n,D-4,4\nPO-2,E-5,5\n`;
    /** The rows of the fix file with these articles, some of them with a number. */
    function chosen(articles: string[], numbers: Record<string, string> = {}): Rows {
      const { header, rows } = rowsOf(round?.written().text ?? '');
      const numbered = rows.map((row) =>
        row[1] && numbers[row[1]] ? row.with(0, numbers[row[1]] ?? '') : row,
      );
      return { header, rows: numbered.filter((row) => articles.includes(row[1] ?? '')) };
    }
    const withAdded = ({ header, rows }: Rows, ...added: string[][]): string =>
      textOf({
        header,
        rows: [...rows, ...added.map((row) => [...row, ...header.slice(row.length).map(() => '')])],
      });

    test('is not sent with fewer rows added than were left out of an earlier fix file', async () => {
      round = await openFixRound(file, ERP);
      const first = await round.drops(textOf(chosen(['A-1', 'B-2'], { 'B-2': 'PO-1' })));
      expect(first.sent).toEqual([{ 'PO-1': ['2 row-in-doubt', '2 row-in-doubt'] }]);
      expect(first.messages[0]).toContain(
        'line 4 of "orders of May.csv" (, C-3, 3) waits for a person and',
      );
      const half = await round.drops(withAdded(chosen(['A-1', 'B-2']), ['PO-1', 'C-3', '3']));
      expect(half.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(half.messages[0]).toContain(
        'line 5 of "orders of May.csv" (, D-4, 4) waits for a person and',
      );
      const all = await round.drops(withAdded(chosen(['A-1', 'B-2', 'C-3']), ['PO-1', 'D-4', '4']));
      expect(all.sent).toEqual([order('PO-1', ['A-1', 1], ['B-2', 2], ['C-3', 3], ['D-4', 4])]);
    });

    test('is held where an added row has another quantity than the one that was left out, until somebody confirms', async () => {
      round = await openFixRound(file, ERP);
      await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3'], { 'B-2': 'PO-1', 'C-3': 'PO-1' })));
      const other = await round.drops(
        withAdded(chosen(['A-1', 'B-2', 'C-3']), ['PO-1', 'D-4', '40']),
      );
      expect(other.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(other.messages[0]).toContain(
        'line 5 of "orders of May.csv" (, D-4, 4) waits for a person',
      );
      const { header, rows } = chosen(['A-1', 'B-2', 'C-3', 'D-4']);
      const check = header.indexOf('_error_check');
      const meant = await round.drops(
        textOf({ header, rows: rows.map((row) => row.with(check, 'confirmed')) }),
      );
      expect(meant.sent).toEqual([order('PO-1', ['A-1', 1], ['B-2', 2], ['C-3', 3], ['D-4', 40])]);
    });

    test.each([
      [{}, true],
      [{ waitsIn: '20261122T071500Z-erp-orders-3f2a91c0' }, false],
    ])(
      'is sent when the row that was left out is settled in its own report, not while it waits elsewhere: %j',
      async (end, isSent) => {
        round = await openFixRound(file, ERP);
        const list = path.join(round.written().folder, 'dead-letters.json');
        await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3'], { 'B-2': 'PO-1', 'C-3': 'PO-1' })));
        const letters = JSON.parse(await readFile(list, 'utf8')) as {
          location: { line: number };
        }[];
        const closed = { at: '2026-11-21T08:00:00.000Z', by: 'discard', ...end };
        await writeFile(
          list,
          JSON.stringify(
            letters.map((one) => (one.location.line === 5 ? { ...one, closed } : one)),
          ),
        );
        const again = await round.drops(round.written().text);
        const sent = order('PO-1', ['A-1', 1], ['B-2', 2], ['C-3', 3]);
        expect(again.sent).toEqual(isSent ? [sent] : [{ 'PO-1': ['2 row-in-doubt'] }]);
      },
    );

    test('is held where another column of the row that was left out has the quantity of an added row', async () => {
      round = await openFixRound(
        `${HEADER},PREIS\nPO-1,A-1,1,10\n,B-2,2,20\n,C-3,3,30\n,D-4,4,40\nPO-2,E-5,5,50\n`,
        ERP,
      );
      await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3'], { 'B-2': 'PO-1', 'C-3': 'PO-1' })));
      const rest = chosen(['A-1', 'B-2', 'C-3']);
      const other = await round.drops(withAdded(rest, ['PO-1', 'D-4', '40', '40']));
      expect(other.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(other.messages[0]).toContain(
        'line 5 of "orders of May.csv" (, D-4, 4, 40) waits for a person',
      );
    });

    test('is held where rows were added for more than its messages name, until somebody confirms', async () => {
      const lines = Array.from({ length: 14 }, (_, at) => `,B-${at},${at + 1}\n`);
      round = await openFixRound(`${HEADER}\nPO-1,A-1,1\n${lines.join('')}PO-2,E-5,5\n`, ERP);
      await round.drops(textOf(chosen(['A-1', 'B-0'], { 'B-0': 'PO-1' })));
      const added = lines
        .slice(1)
        .map((_, at) => ['PO-1', `B-${at + 1}`, `${at < 9 ? at + 2 : at + 200}`]);
      const other = await round.drops(withAdded(chosen(['A-1', 'B-0']), ...added));
      expect(other.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(other.messages[0]).toContain('(, B-10, 11) and 3 more wait for a person');
      const { header, rows } = rowsOf(round.written().text);
      const check = header.indexOf('_error_check');
      const meant = await round.drops(
        textOf({ header, rows: rows.map((row) => row.with(check, 'confirmed')) }),
      );
      expect(JSON.stringify(meant.sent)).toContain('{"articleCode":"B-13","quantity":212}');
    });

    test('is held for those that are not in the fix file, also where the next one is', async () => {
      round = await openFixRound(file, ERP);
      await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3'], { 'B-2': 'PO-1' })));
      const second = await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3'], { 'C-3': 'PO-1' })));
      expect(second.sent).toEqual([{ 'PO-1': ['2 row-in-doubt'] }]);
      expect(second.messages[0]).toContain(
        'line 5 of "orders of May.csv" (, D-4, 4) waits for a person',
      );
    });

    test.each([
      ['not in the fix file', ['A-1', 'B-2']],
      ['in the fix file without a number', ['A-1', 'B-2', 'C-3', 'D-4']],
    ])(
      'one of them is not sent under its own number while those below it are %s',
      async (_, articles) => {
        round = await openFixRound(file, ERP);
        const { sent } = await round.drops(textOf(chosen(articles, { 'B-2': 'PO-9' })));
        const doubts = articles.includes('C-3')
          ? ['3 row-in-doubt']
          : ['3 row-in-doubt', '3 row-in-doubt'];
        expect(sent.slice(0, 2)).toEqual([order('PO-1', ['A-1', 1]), { 'PO-9': doubts }]);
        // One without a number says only that.
        if (articles.includes('C-3'))
          expect(sent.slice(2)).toEqual([{ '': ['4 PO_NO missing'] }, { '': ['5 PO_NO missing'] }]);
        await round[Symbol.asyncDispose]();
        round = await openFixRound(file, ERP);
        const numbers = { 'B-2': 'PO-9', 'C-3': 'PO-9', 'D-4': 'PO-8' };
        const all = await round.drops(textOf(chosen(['A-1', 'B-2', 'C-3', 'D-4', 'E-5'], numbers)));
        expect(all.sent.slice(1, 3)).toEqual([
          order('PO-9', ['B-2', 2], ['C-3', 3]),
          order('PO-8', ['D-4', 4]),
        ]);
      },
    );

    test('one of them is not sent under its own number while those above it wait', async () => {
      round = await openFixRound(file, ERP);
      const { sent, messages } = await round.drops(textOf(chosen(['D-4'], { 'D-4': 'PO-9' })));
      expect(sent).toEqual([{ 'PO-9': ['2 row-in-doubt', '2 row-in-doubt'] }]);
      expect(messages[0]).toContain('line 4 of "orders of May.csv" (, C-3, 3) waits for a person');
    });

    test('is sent with the added ones below one that was discarded', async () => {
      round = await openFixRound(file, ERP);
      const list = path.join(round.written().folder, 'dead-letters.json');
      const letters = JSON.parse(await readFile(list, 'utf8')) as { location: { line: number } }[];
      const closed = { at: '2026-11-21T08:00:00.000Z', by: 'discard' };
      await writeFile(
        list,
        JSON.stringify(letters.map((one) => (one.location.line === 3 ? { ...one, closed } : one))),
      );
      const own = chosen(['A-1']);
      const half = await round.drops(withAdded(own, ['PO-1', 'C-3', '3']));
      expect(half.messages).toEqual([
        expect.stringContaining('line 5 of "orders of May.csv" (, D-4, 4) waits'),
      ]);
      const all = await round.drops(withAdded(own, ['PO-1', 'C-3', '3'], ['PO-1', 'D-4', '4']));
      expect(all.sent).toEqual([order('PO-1', ['A-1', 1], ['C-3', 3], ['D-4', 4])]);
    });

    test('is sent in rows of JSON when all have a number, as the messages say, and not before', async () => {
      const items = ['A', 'B', 'C', 'D'].map((letter, at) => ({
        PO_NO: at === 0 ? 'PO-1' : '',
        MATNR: letter,
        MENGE: at + 1,
      }));
      const json = JSON.stringify([...items, { PO_NO: 'PO-2', MATNR: 'E', MENGE: 5 }]);
      const numbered = (...numbers: string[]) => {
        const rows = JSON.parse(round?.written().text ?? '') as { PO_NO: string }[];
        return JSON.stringify(rows.map((row, at) => ({ ...row, PO_NO: numbers[at] ?? row.PO_NO })));
      };
      round = await openFixRound(json, ERP);
      const one = await round.drops(
        JSON.stringify(JSON.parse(numbered('PO-1', 'PO-1')).slice(0, 2)),
      );
      expect(one.messages).toEqual(
        [2, 3].map((at) => expect.stringContaining(`missing: /${at} of "orders of May.csv" (`)),
      );
      await round[Symbol.asyncDispose]();
      round = await openFixRound(json, ERP);
      const { sent } = await round.drops(numbered('PO-1', 'PO-1', 'PO-9', 'PO-9'));
      expect(sent).toEqual([
        order('PO-1', ['A', 1], ['B', 2]),
        order('PO-9', ['C', 3], ['D', 4]),
        order('PO-2', ['E', 5]),
      ]);
    });
  });

  describe('whose rows were separated', () => {
    const file = `${HEADER}\nPO-4,D-7,4 x\nPO-4,D-8,4\n`;
    const whole = order('PO-4', ['D-7', 4], ['D-8', 4]);

    test('is held, and sent when its row has its number again, also with its own values corrected', async () => {
      round = await openFixRound(file, ERP);
      // A merged cell.
      const merged = withCells(withCells(rowsOf(round.written().text), 0, { MENGE: '4' }), 1, {
        PO_NO: '',
      });
      const first = await round.drops(textOf(merged));
      expect(JSON.stringify(first.sent)).not.toContain('NEW');
      expect(first.messages).toContainEqual(
        expect.stringMatching(
          /line 3 of "orders of May.csv" \(PO-4, D-8, 4\), here line 3, was in this order in the fix file/,
        ),
      );
      // Dropped as it is, it stays so.
      const again = await round.drops(round.written().text);
      expect(JSON.stringify(again.sent)).not.toContain('NEW');
      const restored = withCells(rowsOf(round.written().text), 1, { PO_NO: 'PO-4' });
      expect((await round.drops(textOf(restored))).sent).toEqual([whole]);
    });

    test('by another number is sent when that is changed back, and with the other number only when all is confirmed', async () => {
      round = await openFixRound(file, ERP);
      const typed = withCells(withCells(rowsOf(round.written().text), 0, { MENGE: '4' }), 0, {
        PO_NO: 'PO-44',
      });
      expect((await round.drops(textOf(typed))).sent).toEqual([
        { 'PO-44': ['2 fix-row-missing'] },
        { 'PO-4': ['3 fix-row-missing'] },
      ]);
      const apart = rowsOf(round.written().text);
      const one = await round.drops(textOf(withCells(apart, 0, { _error_check: 'confirmed' })));
      expect(one.sent).toEqual([order('PO-44', ['D-7', 4]), { 'PO-4': ['3 fix-row-missing'] }]);
      await round[Symbol.asyncDispose]();
      round = await openFixRound(file, ERP);
      await round.drops(textOf(typed));
      expect(
        (await round.drops(textOf(withCells(rowsOf(round.written().text), 0, { PO_NO: 'PO-4' }))))
          .sent,
      ).toEqual([whole]);
    });

    test('into more than two is not sent before all are together', async () => {
      round = await openFixRound(
        `${HEADER}\nPO-4,D-7,4\nPO-4,D-8,4\nPO-4,D-9,4\nPO-4,D-6,x\n`,
        ERP,
      );
      const { text } = round.written();
      const numbers = ['PO-4', 'PO-41', 'PO-42', 'PO-4'];
      const numbered = (table: Rows) =>
        numbers.reduce((all, number, at) => withCells(all, at, { PO_NO: number }), table);
      await round.drops(textOf(numbered(withCells(rowsOf(text), 3, { MENGE: '1' }))));
      for (const at of [2, 3]) {
        const rows = rowsOf(round.written().text);
        const own = rows.rows.findIndex((cells) => cells.includes(`D-${at + 6}`));
        const { sent } = await round.drops(textOf(withCells(rows, own, { PO_NO: 'PO-4' })));
        if (at === 2) expect(JSON.stringify(sent)).not.toContain('NEW');
        else expect(sent).toEqual([order('PO-4', ['D-9', 4], ['D-8', 4], ['D-7', 4], ['D-6', 1])]);
      }
    });

    test('and one deleted is not sent with as many added rows as are not enough', async () => {
      round = await openFixRound(`${HEADER}\nPO-4,D-7,x\nPO-4,D-8,4\nPO-4,D-9,4\n`, ERP);
      const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '4' });
      const held = await round.drops(textOf({ header, rows: rows.slice(0, 1) }));
      expect(held.sent).toEqual([{ 'PO-4': ['2 fix-row-missing', '2 fix-row-missing'] }]);
      const added = (...cells: string[]) => [...cells, ...header.slice(3).map(() => '')];
      const half = rowsOf(round.written().text);
      const one = await round.drops(
        textOf({ header, rows: [...half.rows, added('PO-4', 'D-8', '4')] }),
      );
      expect(one.sent).toEqual([{ 'PO-4': ['2 fix-row-missing'] }]);
      expect(one.messages).toEqual([expect.stringContaining('(PO-4, D-9, 4) was in this order')]);
      const all = rowsOf(round.written().text);
      const two = await round.drops(
        textOf({ header, rows: [...all.rows, added('PO-4', 'D-9', '4')] }),
      );
      expect(two.sent).toEqual([order('PO-4', ['D-7', 4], ['D-8', 4], ['D-9', 4])]);
    });

    test('and many of whose rows are gone is not sent with those that the messages name', async () => {
      const lines = Array.from({ length: 14 }, (_, at) => `PO-4,D-${at},${at === 0 ? 'x' : 1}\n`);
      round = await openFixRound(`${HEADER}\n${lines.join('')}`, ERP);
      const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '4' });
      const held = await round.drops(textOf({ header, rows: rows.slice(0, 1) }));
      expect(held.messages).toHaveLength(10);
      expect(held.messages[0]).toContain(
        '(PO-4, D-1, 1) and 3 more were in this order in the fix file and are not',
      );
      const added = (at: number) => ['PO-4', `D-${at}`, '1', ...header.slice(3).map(() => '')];
      const kept = rowsOf(round.written().text).rows;
      const ten = Array.from({ length: 10 }, (_, at) => added(at + 1));
      expect(
        JSON.stringify((await round.drops(textOf({ header, rows: [...kept, ...ten] }))).sent),
      ).not.toContain('NEW');
    });

    test('by a row that was typed again in the same fix file is sent', async () => {
      round = await openFixRound(file, ERP);
      const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '4' });
      const typed = [...header.keys()].map((at) => ['PO-4', 'D-8', '4'][at] ?? '');
      expect((await round.drops(textOf({ header, rows: [rows[0] ?? [], typed] }))).sent).toEqual([
        whole,
      ]);
    });

    test('is not sent with a copy of a row that is in another order of the file', async () => {
      round = await openFixRound(file, ERP);
      const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '4' });
      const typed = [...header.keys()].map((at) => ['PO-4', 'D-8', '4'][at] ?? '');
      const other = withCells({ header, rows }, 1, { PO_NO: 'PO-44', _error_check: 'confirmed' });
      const { sent } = await round.drops(
        textOf({ header, rows: [rows[0] ?? [], typed, ...other.rows.slice(1)] }),
      );
      expect(sent).toEqual([{ 'PO-4': ['2 fix-row-missing'] }, order('PO-44', ['D-8', 4])]);
    });

    test('with equal rows does not take one of them for the other', async () => {
      round = await openFixRound(`${HEADER}\nPO-4,D-7,x\nPO-4,D-8,4\nPO-4,D-8,4\n`, {
        ...ERP,
        repeatedRows: 'allow',
      });
      const fixed = withCells(withCells(rowsOf(round.written().text), 0, { MENGE: '4' }), 2, {
        PO_NO: 'PO-5',
      });
      await round.drops(textOf(fixed));
      const { header, rows } = rowsOf(round.written().text);
      const without = await round.drops(
        textOf({ header, rows: rows.filter((cells) => cells[0] === 'PO-4') }),
      );
      expect(without.sent).toEqual([{ 'PO-4': ['2 fix-row-missing'] }]);
    });

    test('in rows of JSON names the row that is missing, also when an order before it was closed', async () => {
      const rows = ['K1', 'K1', 'K2', 'K2'].map((PO_NO, at) => ({
        PO_NO,
        MATNR: `A-${at}`,
        MENGE: at + 1,
      }));
      round = await openFixRound(JSON.stringify(rows), ERP);
      const list = path.join(round.written().folder, 'dead-letters.json');
      const [first, ...others] = JSON.parse(await readFile(list, 'utf8')) as object[];
      const closed = { at: '2026-11-21T08:00:00.000Z', by: 'discard' };
      await writeFile(list, JSON.stringify([{ ...first, closed }, ...others]));
      const entries = JSON.parse(round.written().text) as object[];
      const { sent } = await round.drops(JSON.stringify(entries.slice(3)));
      expect(JSON.stringify(sent)).toContain('fix-row-missing');
    });

    test('in rows of JSON is sent when its row has its number again', async () => {
      const rows = [
        { PO_NO: 'PO-4', MATNR: 'D-7', MENGE: 'x' },
        { PO_NO: 'PO-4', MATNR: 'D-8', MENGE: 4 },
      ];
      round = await openFixRound(JSON.stringify(rows), ERP);
      const typed = round
        .written()
        .text.replace('"x"', '4')
        .replace(/("PO_NO":\s*"PO-4)("[^}]*D-8)/, '$14$2');
      expect(JSON.stringify((await round.drops(typed)).sent)).not.toContain('NEW');
      const back = round.written().text.replace(/"PO-44"/g, '"PO-4"');
      expect((await round.drops(back)).sent).toEqual([whole]);
    });
  });

  test('stays held when it comes back unchanged without its row, and is sent when the row is added again', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = rowsOf(round.written().text);
    await round.drops(textOf({ header, rows: rows.toSpliced(1, 1) }));
    const again = round.written().text;
    const second = await round.drops(again);
    expect(second.sent).toEqual([{ '00987': ['2 fix-row-missing'] }]);
    expect(second.messages).toEqual([
      expect.stringMatching(/line 3 of "orders of May.csv".*was in this order in the fix file/),
    ]);
    const third = rowsOf(round.written().text);
    const added = ['00987', 'A-2', '5', '', '', '', ''];
    const { sent } = await round.drops(
      textOf({ header: third.header, rows: [...third.rows, added] }),
    );
    expect(sent).toEqual([order('00987', ['000123', 1], ['A-3', 3], ['A-2', 5])]);
  });

  test('is held when only one of its rows got the new number', async () => {
    round = await openFixRound(INPUT, ERP);
    const renamed = withCells(rowsOf(round.written().text), 1, { MATNR: 'A-2', PO_NO: '00988' });
    const { sent } = await round.drops(textOf(renamed));
    expect(JSON.stringify(sent)).toMatch(/"00988":\["3 fix-row-missing"\]/);
    expect(JSON.stringify(sent)).not.toContain('NEW');
  });
});

describe('error columns that are not as they were', () => {
  const INPUT = `${HEADER}\n00987,000123,1\n00987,000124,none\n00988,000125,none\n`;
  const RIGHT = [order('00987', ['000123', 1], ['000124', 5]), order('00988', ['000125', 6])];
  const corrected = (text: string) =>
    withCells(withCells(rowsOf(text), 1, { MENGE: '5' }), 2, { MENGE: '6' });

  const combinations = Array.from({ length: 2 ** ERROR_COLUMNS.length - 1 }, (_, bits) =>
    ERROR_COLUMNS.filter((__, index) => ((bits >> index) & 1) === 1),
  );
  test.each(combinations)(
    'without %j %j %j, nothing else than what was meant is sent',
    async (...names) => {
      round = await openFixRound(INPUT, ERP);
      const { text } = round.written();
      for (const form of [corrected(text), saved(corrected(text))]) {
        const { sent } = await round.drops(textOf(without(form, names)));
        const orders = sent.filter((one) => Object.hasOwn(one as object, 'orderState'));
        for (const one of orders) expect(RIGHT).toContainEqual(one);
        if (!names.includes('_error_message'))
          expect(orders, 'each row names its place').toEqual(RIGHT);
      }
    },
  );

  test('in another sequence and between the others are the same columns', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = saved(corrected(round.written().text));
    const turned = (row: string[]) => [6, 2, 5, 0, 4, 1, 3].map((index) => row[index] ?? '');
    expect(
      (await round.drops(textOf({ header: turned(header), rows: rows.map(turned) }))).sent,
    ).toEqual(RIGHT);
  });

  test.each(['error_message', 'Error message', 'Fehler'])(
    'renamed to %s are refused with a remedy',
    async (name) => {
      round = await openFixRound(INPUT, ERP);
      const { header, rows } = saved(corrected(round.written().text));
      const names = header.map((cell) => (cell.startsWith('_error') ? name + cell.slice(6) : cell));
      const { code, remedy } = await whyRefused(round.drops(textOf({ header: names, rows })));
      expect(code).toBe('unreadable-fix-columns');
      expect(remedy).toContain('Name them as in the fix file');
    },
  );

  test('that are there while a column that is sent is not: the remedy names that column and the fix file', async () => {
    round = await openFixRound(INPUT, ERP);
    const { code, remedy } = await whyRefused(
      round.drops(textOf(without(rowsOf(round.written().text), ['MENGE']))),
    );
    expect(code).toBe('unreadable-column-missing');
    expect(remedy).toMatch(
      /^This is a fix file without a column that it had\. Bring the column back .*\(MENGE\), or take/,
    );
  });

  test('renamed in JSON are refused with a remedy', async () => {
    round = await openFixRound(
      JSON.stringify([{ PO_NO: '1', items: [{ MATNR: 'A', MENGE: 'x' }] }]),
      ERP,
    );
    const text = round.written().text.replaceAll('"_error_', '"error_').replace('"x"', '2');
    expect((await whyRefused(round.drops(text))).code).toBe('unreadable-fix-columns');
  });

  test('that are empty in an added row hold it where a program rewrote the others and its number can be theirs', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = saved(corrected(round.written().text));
    const added = (number: string, article: string) => [number, article, '7', '', '', '', ''];
    const text = textOf({
      header,
      rows: [...rows, added('987', 'A-1'), added('4711', 'A-1'), added('4712', '125')],
    });
    const { sent, messages } = await round.drops(text);
    expect(sent).toEqual([
      ...RIGHT,
      { 987: ['5 PO_NO spreadsheet-rewrite'] },
      order('4711', ['A-1', 7]),
      { 4712: ['7 MATNR spreadsheet-rewrite'] },
    ]);
    expect(messages[0]).toContain('"987" can be a new value, or what a program made of "00987"');
  });
});

describe('columns that a fix file came back without', () => {
  const TABLE = 'Date,PO_NO,MATNR,MENGE,Order status,Remark,Unit\n';
  const ROWS = [
    'K1,A-1,5,CANCELLED,,',
    'K2,A-1,5,Entwurf,,',
    'K3,A-1,none,open,,',
    'K4,A-1,5,open,storniert,',
    'K5,A-1,5,,,DZ',
  ];
  const INPUT = TABLE + ROWS.map((row) => `2026-11-01,${row}\n`).join('');
  const HELD = [
    { K1: ['2 Order status called-off'] },
    { K2: ['3 Order status called-off'] },
    order('K3', ['A-1', 7]),
    { K4: ['5 Remark called-off'] },
    { K5: ['6 Unit other-value'] },
  ];
  const GONE = ['Date', 'Order status', 'Remark', 'Unit'];
  const came = (what: 'columns' | 'keys', names: readonly string[]) =>
    `This fix file came back without ${what} that it had: ${names.map((name) => `"${name}"${what === 'keys' ? ', first in line 1 (/0, order K1)' : ''}`).join(what === 'keys' ? '; ' : ', ')}. Their values count as unchanged. To correct one, bring it back with its name; to send a row that is held because of one, write confirmed into its _error_check.`;
  const corrected = (text: string) => withCells(rowsOf(text), 2, { MENGE: '7' });
  const confirmed = (table: Rows) =>
    table.rows.reduce((all, _, at) => withCells(all, at, { _error_check: 'confirmed' }), table);
  const renamed = (table: Rows) => ({
    ...table,
    header: table.header.map((name) => (GONE.includes(name) ? `${name} 2` : name)),
  });

  test.each<[string, (table: Rows) => Rows]>([
    ['removed', (table) => without(table, GONE)],
    ['removed, and saved by a spreadsheet', (table) => saved(without(table, GONE))],
    ['renamed', renamed],
  ])('hold their orders with the values that they had: %s', async (_, change) => {
    round = await openFixRound(INPUT, ERP);
    const { sent, warnings, changes } = await round.drops(
      textOf(change(corrected(round.written().text))),
    );
    expect([sent, warnings]).toEqual([HELD, [came('columns', GONE)]]);
    expect(changes).toEqual([{ place: 'line 4', field: 'MENGE', from: 'none', to: '7' }]);
  });

  test.each<[string, (fix: string, corrected: string) => Promise<void>]>([
    ['corrected in the report', (fix, corrected) => writeFile(fix, corrected)],
    ['moved out of the report', (fix) => rm(fix)],
    [
      'corrected in the report of an earlier version',
      (fix, corrected) => Promise.all([writeFile(fix, corrected), rm(copyOf(fix))]).then(() => {}),
    ],
    [
      'moved out of the report of an earlier version',
      (fix) => Promise.all([rm(fix), rm(copyOf(fix))]).then(() => {}),
    ],
  ])('hold their orders when the fix file was %s', async (_, change) => {
    round = await openFixRound(INPUT, ERP);
    const back = textOf(without(corrected(round.written().text), GONE));
    await change(path.join(round.written().folder, 'dead-letters.csv'), back);
    const { sent, warnings, changes } = await round.drops(back);
    expect([sent, warnings]).toEqual([HELD, [came('columns', GONE)]]);
    expect(changes).toEqual([{ place: 'line 4', field: 'MENGE', from: 'none', to: '7' }]);
  });

  test('hold rows of which it is not known what they had there, until a person confirms them', async () => {
    round = await openFixRound(INPUT, ERP);
    const { text, folder } = round.written();
    const copy = copyOf(path.join(folder, 'dead-letters.csv'));
    await writeFile(copy, (await readFile(copy, 'utf8')).replace(/^.*K2.*\n/m, ''));
    const table = without(corrected(text), ['Order status']);
    const { sent, messages } = await round.drops(textOf(table));
    expect(sent).toEqual([HELD[0], { K2: ['3 spreadsheet-rewrite'] }, ...HELD.slice(2)]);
    expect(messages.join()).toContain(
      'the row came back without "Order status", and what it had there is not known',
    );
    const next = withCells(rowsOf(round.written().text), 1, { _error_check: 'confirmed' });
    expect((await round.drops(textOf(next))).sent[1]).toEqual(order('K2', ['A-1', 5]));
  });

  test.each(['01.000', 'confirmed'])(
    'refuse the file where a new one can be a sent one renamed: check %s',
    async (check) => {
      round = await openFixRound(`${HEADER}\nK1,none\u00a0?,5\nK2,A-2,6\n`, {
        ...ERP,
        defaults: { quantity: 1 },
      });
      const table = withCells(rowsOf(round.written().text), 0, {
        MATNR: 'A-1',
        MENGE: '50',
        _error_check: check,
      });
      const header = table.header.map((name) => (name === 'MENGE' ? 'Bestellmenge' : name));
      const error = await whyRefused(round.drops(textOf({ header, rows: table.rows })));
      expect(error).toMatchObject({
        code: 'unreadable-fix-columns',
        message:
          'The fix file came back without its column "MENGE", which is sent, and with "Bestellmenge", which it did not have: "MENGE" may have been renamed.',
        remedy: expect.stringContaining('Name the column "MENGE" again'),
      });
      expect(
        (await round.drops(textOf({ header: table.header, rows: table.rows }))).sent[0],
      ).toEqual(order('K1', ['A-1', 50]));
    },
  );

  test('hold a row whose sent cell is empty beside a new column, instead of sending the default', async () => {
    round = await openFixRound(`${HEADER}\nK1,none\u00a0?,5\nK2,A\u00a0?,6\n`, {
      ...ERP,
      defaults: { quantity: 1 },
    });
    const { header, rows } = withCells(
      withCells(rowsOf(round.written().text), 0, { MATNR: 'A-1', MENGE: '' }),
      1,
      {
        MATNR: 'A-2',
      },
    );
    const added = (values: string[]) => ({
      header: ['Neu', ...header],
      rows: rows.map((row, i) => [values[i] ?? '', ...row]),
    });
    const { sent, messages } = await round.drops(textOf(added(['50', ''])));
    expect(sent).toEqual([{ K1: ['2 MENGE spreadsheet-rewrite'] }, order('K2', ['A-2', 6])]);
    expect(messages.join()).toContain(
      'it was "5" and is empty now, and the row has "50" in the new column "Neu": the value can be that one, or none',
    );
    const kept = withCells(rowsOf(round.written().text), 0, { MENGE: '50' });
    expect((await round.drops(textOf(kept))).sent).toContainEqual(order('K1', ['A-1', 50]));
  });

  test('are in the next fix file, where their values can be corrected', async () => {
    round = await openFixRound(INPUT, ERP);
    await round.drops(textOf(without(corrected(round.written().text), GONE)));
    const next = rowsOf(round.written().text);
    expect(next.header).toEqual(['PO_NO', 'MATNR', 'MENGE', ...GONE, ...ERROR_COLUMNS]);
    const first = withCells(withCells(next, 0, { 'Order status': 'open' }), 1, {
      'Order status': '',
    });
    expect((await round.drops(textOf(first))).sent.slice(0, 2)).toEqual([
      order('K1', ['A-1', 5]),
      order('K2', ['A-1', 5]),
    ]);
  });

  test('do not hold rows that a person confirms', async () => {
    round = await openFixRound(INPUT, ERP);
    const { sent } = await round.drops(
      textOf(confirmed(without(corrected(round.written().text), GONE))),
    );
    expect(sent).toEqual([1, 2, 3, 4, 5].map((no) => order(`K${no}`, ['A-1', no === 3 ? 7 : 5])));
  });

  test('hold nothing when the mapping does not look at them, or when they only moved', async () => {
    round = await openFixRound(INPUT, ERP);
    const table = corrected(round.written().text);
    const { sent, warnings } = await round.drops(textOf(without(table, ['Date'])));
    expect([sent, warnings]).toEqual([HELD, [came('columns', ['Date'])]]);
    const turned = (row: readonly string[]) => row.toReversed();
    const open = withCells(withCells(table, 0, { 'Order status': 'open' }), 1, {
      'Order status': 'open',
    });
    await round[Symbol.asyncDispose]();
    round = await openFixRound(INPUT, ERP);
    const moved = await round.drops(
      textOf({ header: turned(open.header), rows: open.rows.map(turned) }),
    );
    const free = [order('K1', ['A-1', 5]), order('K2', ['A-1', 5])];
    expect([moved.sent, moved.warnings]).toEqual([[...free, ...HELD.slice(2)], []]);
  });

  test('give no value to rows that a person added, nor to rows whose originals are gone', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = without(corrected(round.written().text), GONE);
    const { sent } = await round.drops(
      textOf({ header, rows: [...rows, ['K6', 'A-1', '2', '', '', '', '']] }),
    );
    expect(sent).toEqual([...HELD, order('K6', ['A-1', 2])]);
    await round[Symbol.asyncDispose]();
    round = await openFixRound(INPUT, ERP);
    await round.forget();
    const unknown = await round.drops(textOf({ header, rows }));
    expect(JSON.stringify(unknown)).not.toContain('came back without');
    expect(unknown.sent.slice(0, 2)).toEqual([order('K1', ['A-1', 5]), order('K2', ['A-1', 5])]);
  });

  test('and that have a default send the value of the row, not the default, and the default for an added row', async () => {
    const settings = { ...ERP, defaults: { quantity: 1 } };
    round = await openFixRound(`${HEADER}\nK1,none\u00a0?,5\nK2,A-2,6\n`, settings);
    const { header, rows } = without(withCells(rowsOf(round.written().text), 0, { MATNR: 'A-1' }), [
      'MENGE',
    ]);
    const { sent } = await round.drops(
      textOf({ header, rows: [...rows, ['K3', 'A-1', '', '', '', '']] }),
    );
    expect(sent).toEqual([
      order('K1', ['A-1', 5]),
      order('K2', ['A-2', 6]),
      order('K3', ['A-1', 1]),
    ]);
  });

  test('are counted neither in the message of a row with too many cells nor as its cells', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = without(corrected(round.written().text), GONE);
    const { messages } = await round.drops(
      textOf({ header, rows: rows.map((row) => [...row, 'x']) }),
    );
    expect(messages.join()).toContain('has more fields than the header (8 instead of 7)');
    expect(rowsOf(round.written().text).rows[0]?.slice(0, 7)).toEqual([
      'K1',
      'A-1',
      '5',
      '2026-11-01',
      'CANCELLED',
      '',
      '',
    ]);
  });

  test('hold their orders in a workbook too', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = without(corrected(round.written().text), GONE);
    const { sent, warnings } = await round.drops(await writeWorkbook([header, ...rows]));
    expect([sent, warnings]).toEqual([HELD, [came('columns', GONE)]]);
  });

  describe('in JSON, as keys', () => {
    const item = (MATNR: string, MENGE: unknown, rest: object = {}) => ({ MATNR, MENGE, ...rest });
    const all = [
      {
        PO_NO: 'K1',
        status: 'cancelled',
        info: { deleted: true },
        date: '2026-11-01',
        items: [item('A-1', 5)],
      },
      {
        PO_NO: 'K2',
        items: [item('A-1', 5), item('A-2', 5, { status: 'storniert' }), item('A-3', 5)],
      },
      { PO_NO: 'K3', date: '2026-11-01', items: [item('A-1', 'none')] },
    ];
    type Entry = {
      PO_NO: string;
      items: { MATNR: string; MENGE: unknown; status?: string }[];
      [key: string]: unknown;
    };
    const without = (one: object, ...keys: string[]) =>
      Object.fromEntries(Object.entries(one).filter(([key]) => !keys.includes(key)));
    const strip = (entry: Entry) => ({
      ...without(entry, 'status', 'info', 'date'),
      items: entry.items.map((one) => ({
        ...without(one, 'status'),
        MATNR: one.MATNR,
        MENGE: one.MENGE === 'none' ? 7 : one.MENGE,
      })),
    });
    const held = [
      { K1: [expect.stringContaining('status called-off')] },
      { K2: [expect.stringContaining('status called-off')] },
      order('K3', ['A-1', 7]),
    ];

    test.each<[string, (items: Entry['items']) => Entry['items']]>([
      ['every object', (items) => items],
      ['objects whose items moved', (items) => items.toReversed()],
      [
        'objects with a corrected article',
        (items) => items.map((one) => ({ ...one, MATNR: one.MATNR.replace('A-2', 'B-2') })),
      ],
    ])('hold their orders when they are removed from %s', async (_, change) => {
      round = await openFixRound(JSON.stringify(all), ERP);
      const entries = (JSON.parse(round.written().text) as Entry[]).map(strip);
      const { sent, warnings } = await round.drops(
        JSON.stringify(entries.map((one) => ({ ...one, items: change(one.items) }))),
      );
      expect([sent, warnings]).toEqual([held, [came('keys', ['status', 'info', 'date'])]]);
    });

    test.each(['01.000', 'confirmed'])(
      'refuse the file where a new one can be a sent one renamed: %s',
      async (check) => {
        round = await openFixRound(JSON.stringify(all), ERP);
        const entries = (JSON.parse(round.written().text) as Entry[]).map((one) => ({
          ...one,
          _error_check: check,
        }));
        const renamed = entries.map((one) => ({
          ...one,
          items: one.items.map(({ MENGE, ...rest }) => ({
            ...rest,
            Bestellmenge: MENGE === 'none' ? 7 : 50,
          })),
        }));
        expect(await whyRefused(round.drops(JSON.stringify(renamed)))).toMatchObject({
          code: 'unreadable-fix-columns',
          message: expect.stringMatching(
            /^In line 1 \(\/0\/items\/0, order K1\), the key "MENGE", which is sent, is missing, and "Bestellmenge" is there/,
          ),
        });
      },
    );

    test('are named with the line and the pointer of the first object that lacks them', async () => {
      const opened = await openFixRound(JSON.stringify(all), ERP);
      round = opened;
      const entries = JSON.parse(opened.written().text) as Entry[];
      const drop = (renamed: object) =>
        opened.drops(
          JSON.stringify(
            entries.map((one, i) => (i === 1 ? renamed : one)),
            null,
            1,
          ),
        );
      const { PO_NO, ...rest } = entries[1] ?? { PO_NO: '' };
      const file = JSON.stringify(entries, null, 1).split('\n');
      const line = file.findIndex((one) => one.includes('"K2"'));
      expect(await whyRefused(drop({ number: PO_NO, ...rest }))).toMatchObject({
        message: expect.stringContaining(
          `In line ${line} (/1, order K2), the key "PO_NO", which is sent, is missing`,
        ),
      });
      const { warnings } = await drop(rest);
      expect(warnings).toEqual([
        expect.stringContaining(`"PO_NO", first in line ${line} (/1, order K2). Their`),
      ]);
    });

    test('are no reason to hold an order that is confirmed, or whose item was removed', async () => {
      round = await openFixRound(JSON.stringify(all), ERP);
      const [first, second, third] = (JSON.parse(round.written().text) as Entry[]).map(strip);
      const items = second?.items.filter(({ MATNR }) => MATNR !== 'A-2');
      const { sent } = await round.drops(
        JSON.stringify([{ ...first, _error_check: 'confirmed' }, { ...second, items }, third]),
      );
      expect(sent).toEqual([
        order('K1', ['A-1', 5]),
        order('K2', ['A-1', 5], ['A-3', 5]),
        order('K3', ['A-1', 7]),
      ]);
    });

    test('are not brought back where the message asks to remove them', async () => {
      const twice = { PO_NO: 'K1', po_no: 'K1', items: [item('A-1', 5)] };
      const nested = {
        PO_NO: 'K2',
        items: [item('A-1', 5)],
        next: { PO_NO: 'K9', items: [item('A-9', 9)] },
      };
      round = await openFixRound(JSON.stringify([twice, nested]), ERP);
      const entries = (JSON.parse(round.written().text) as Entry[]).map((one) =>
        without(one, 'po_no', 'next'),
      );
      const { sent, warnings } = await round.drops(JSON.stringify(entries));
      expect([sent, warnings]).toEqual([[order('K1', ['A-1', 5]), order('K2', ['A-1', 5])], []]);
    });

    test('hold their orders that came as XML', async () => {
      const xml =
        '<os><o status="draft"><PO_NO>K1</PO_NO><items><MATNR>A-1</MATNR><MENGE>5</MENGE></items></o><o><PO_NO>K2</PO_NO><items><MATNR>A-1</MATNR><MENGE>x</MENGE></items></o></os>';
      round = await openFixRound(xml, ERP);
      const entries = (JSON.parse(round.written().text.slice(1)) as Entry[]).map((one) =>
        without(one, 'status'),
      );
      const { sent, warnings } = await round.drops(JSON.stringify(entries).replace('"x"', '3'));
      expect(sent).toEqual([
        { K1: [expect.stringContaining('status called-off')] },
        order('K2', ['A-1', 3]),
      ]);
      expect(warnings).toEqual([came('keys', ['status'])]);
    });
  });
});

describe('a row that was held because a program may have changed it', () => {
  const INPUT = `${HEADER}\n00987,000123,none\nPO-2,A-1,none\n`;

  async function heldOnce(): Promise<FixRound> {
    const one = await openFixRound(INPUT, ERP);
    const rows = saved(
      withCells(withCells(rowsOf(one.written().text), 0, { MENGE: '1' }), 1, { MENGE: '2' }),
    );
    await one.forget();
    const { sent } = await one.drops(textOf(rows));
    expect(sent).toEqual([
      {
        987: [
          '2 PO_NO spreadsheet-rewrite',
          '2 MATNR spreadsheet-rewrite',
          '2 MENGE spreadsheet-rewrite',
        ],
      },
      { 'PO-2': ['3 MENGE spreadsheet-rewrite'] },
    ]);
    return one;
  }

  test('is held again when it comes back unchanged, with or without its code', async () => {
    round = await heldOnce();
    const { text } = round.written();
    for (const back of [
      text,
      textOf(without(rowsOf(text), ['_error_code'])),
      text.replaceAll('spreadsheet-rewrite', ''),
    ]) {
      const { sent, messages } = await round.drops(back);
      expect(JSON.stringify(sent)).not.toContain('NEW');
      expect(messages[0]).toMatch(
        /^PO_NO: "987" can be the value that is meant.* unchanged since it was held.*confirmed/,
      );
    }
  });

  test('is sent when it is corrected, or when a person confirms it', async () => {
    round = await heldOnce();
    const rows = rowsOf(round.written().text);
    const right = withCells(rows, 0, {
      PO_NO: '00987',
      MATNR: '000123',
      MENGE: '1',
      _error_check: 'confirmed',
    });
    const both = withCells(right, 1, { _error_check: 'confirmed' });
    expect((await round.drops(textOf(both))).sent).toEqual([
      order('00987', ['000123', 1]),
      order('PO-2', ['A-1', 2]),
    ]);
  });
});

describe('a value that a program may have changed', () => {
  test('names both readings where the original is known', async () => {
    round = await openFixRound(`${HEADER}\nPO-1,A-1,2.00\nPO-2,12345678901234567,none\n`, ERP);
    const rows = saved(rowsOf(round.written().text));
    const back = withCells(withCells(rows, 0, { MENGE: '200' }), 1, {
      MATNR: '12345678901234560',
      MENGE: '1',
    });
    const { sent, messages } = await round.drops(textOf(back));
    expect(JSON.stringify(sent)).not.toContain('NEW');
    expect(messages).toContainEqual(
      expect.stringContaining('MENGE: "200" can be a correction of "2.00", or what a program'),
    );
    expect(messages.join()).not.toContain('nothing shows which');
  });

  test('names what to do where the message asked for the value', async () => {
    round = await openFixRound(`${HEADER}\nPO-1,A-1,"1,000"\n`, ERP);
    const rows = saved(withCells(rowsOf(round.written().text), 0, { MENGE: '1000' }));
    const { sent, messages } = await round.drops(textOf(rows));
    expect(JSON.stringify(sent)).not.toContain('NEW');
    expect(messages).toEqual([
      expect.stringMatching(
        /^MENGE: "1000" can be a correction of "1,000", .* or write confirmed into _error_check/,
      ),
    ]);
  });

  test.each([
    ['4711', 'A-1', '3', ['PO_NO', 'MENGE']],
    ['PO-1', '01. Feb', '3', ['MATNR', 'MENGE']],
    ['PO-1', '2026-02-01', '3', ['MATNR', 'MENGE']],
    ['PO-1', '12:30:00', '3', ['MATNR', 'MENGE']],
    ['PO-1', 'A-1', '1000', ['MENGE']],
  ])('%s %s %s is held if the original is not known', async (number, article, quantity, fields) => {
    round = await openFixRound(`${HEADER}\n${number},X,none\n`, ERP);
    const rows = saved(
      withCells(rowsOf(round.written().text), 0, { MATNR: article, MENGE: quantity }),
    );
    await round.forget();
    const { sent, messages } = await round.drops(textOf(rows));
    expect(sent).toEqual([{ [number]: fields.map((field) => `2 ${field} spreadsheet-rewrite`) }]);
    for (const message of messages)
      expect(message).toMatch(/can be the value that is meant, or what a program made of another/);
  });
});

describe('characters that look like others', () => {
  const INPUT = `${HEADER}\nPO 1,AB 7,none\nPO-2,ABC,none\n`;

  test.each([
    ['PO\u00a01', 'AB\u202f7'],
    ['РO 1', 'АВ 7'],
    ['ＰＯ 1', 'AB ７'],
    ['PO ١', 'AB ۷'],
  ])('that replaced those of the original are restored: %s, %s', async (number, article) => {
    round = await openFixRound(INPUT, ERP);
    const rows = withCells(rowsOf(round.written().text), 0, {
      PO_NO: number,
      MATNR: article,
      MENGE: '5',
    });
    const { sent, warnings } = await round.drops(textOf(rows));
    expect(sent[0]).toEqual(order('PO 1', ['AB 7', 5]));
    expect(warnings.join()).toContain('A spreadsheet changed 2 cells');
  });

  test.each(['A\u00a09', 'А-9', 'A‑9', 'Α9', 'A９', 'A٩'])(
    'in a new value hold it, with both readings: %s',
    async (article) => {
      round = await openFixRound(INPUT, ERP);
      const rows = withCells(rowsOf(round.written().text), 1, { MATNR: article, MENGE: '5' });
      const { sent, messages } = await round.drops(textOf(rows));
      expect(sent[1]).toEqual({ 'PO-2': ['3 MATNR spreadsheet-rewrite'] });
      expect(messages.at(-1)).toMatch(/U\+[0-9A-F]{4}.*or "[A-Z][- ]?9"/);
    },
  );

  test('are no doubt in a word of another script, and letters with accents are none', async () => {
    round = await openFixRound(INPUT, ERP);
    const rows = withCells(rowsOf(round.written().text), 0, { MATNR: 'Болт', MENGE: '1' });
    const { sent } = await round.drops(
      textOf(withCells(rows, 1, { MATNR: 'Größe 7', MENGE: '1' })),
    );
    expect(sent).toEqual([order('PO 1', ['Болт', 1]), order('PO-2', ['Größe 7', 1])]);
  });

  test.each(['１２', '١٢', '1\u00a02', 'I2'])('in a quantity hold it: %s', async (quantity) => {
    round = await openFixRound(INPUT, ERP);
    const { sent } = await round.drops(
      textOf(withCells(rowsOf(round.written().text), 1, { MENGE: quantity })),
    );
    expect(JSON.stringify(sent[1])).toContain('PO-2":["3 MENGE');
  });

  test('beyond ASCII that were read in another encoding hold the row', async () => {
    round = await openFixRound(`${HEADER}\nPO-1,Größe,none\n`, ERP);
    const rows = withCells(rowsOf(round.written().text), 0, { MENGE: '1' });
    for (const article of ['GrÃ¶ÃŸe', 'Gr??e', 'Gr”áe']) {
      const { sent, messages } = await round.drops(textOf(withCells(rows, 0, { MATNR: article })));
      expect(sent).toEqual([{ 'PO-1': ['2 MATNR spreadsheet-rewrite'] }]);
      expect(messages[0]).toContain(
        'a correction of "Größe", or the same text read in another encoding',
      );
    }
  });
});

describe('rows that are not where they were', () => {
  const INPUT = `${HEADER}\nPO-1,A-1,5 pc\nPO-2,A-2,6\nPO-3,A-3,7\nPO-4,A-4,8\n`;

  test('sorted with all their cells are the same orders', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '5' });
    const { sent } = await round.drops(textOf({ header, rows: rows.toReversed() }));
    expect(sent).toEqual([4, 3, 2, 1].map((no) => order(`PO-${no}`, [`A-${no}`, no + 4])));
  });

  test.each([0, 1, 2])('sorted by column %d alone are held, with both readings', async (column) => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '5' });
    const sorted = rows.map((row) => row[column] ?? '').toReversed();
    const moved = { header, rows: rows.map((row, at) => row.with(column, sorted[at] ?? '')) };
    const { sent, messages } = await round.drops(textOf(moved));
    expect(JSON.stringify(sent)).not.toContain('NEW');
    expect(messages.join()).toMatch(/"PO-4" was "PO-1"|"A-4" was "A-1"|"8" was "5 pc"/);
  });

  test('that are left out are counted in a warning', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = rowsOf(round.written().text);
    const { sent, warnings } = await round.drops(textOf({ header, rows: rows.slice(1, 2) }));
    expect(sent).toEqual([order('PO-2', ['A-2', 6])]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^3 of the 4 orders of "orders of May\.csv" \(batch [\w-]+\) that needed a person are not in this file, so reading it leaves them open: PO-1, PO-3, PO-4\.$/,
      ),
    ]);
  });

  test('that are left out are counted apart from orders where some have no number', async () => {
    round = await openFixRound(`${HEADER}\nPO-1,A-1,none\n,A-2,6\n`, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '5' });
    const { warnings } = await round.drops(textOf({ header, rows: rows.slice(0, 1) }));
    expect(warnings.join()).toContain('1 of the 2 orders and rows without a number of "');
  });

  test('and were the first of an order are left out of it: the order is not counted as missing', async () => {
    round = await openFixRound(`${HEADER}\nPO-1,OLD-77,none\nPO-1,A-2,2\nPO-2,A-3,none\n`, ERP);
    const [gone, ...kept] = rowsOf(round.written().text).rows;
    const { header } = rowsOf(round.written().text);
    const rest = withCells({ header, rows: kept }, 0, { _error_check: 'confirmed' });
    const { sent, warnings } = await round.drops(textOf(withCells(rest, 1, { MENGE: '6' })));
    expect([gone?.[1], sent, warnings]).toEqual([
      'OLD-77',
      [order('PO-1', ['A-2', 2]), order('PO-2', ['A-3', 6])],
      [],
    ]);
  });

  test('that a person typed as a new order are named in a warning, but not rows of known orders', async () => {
    round = await openFixRound(INPUT, ERP);
    const { header, rows } = withCells(rowsOf(round.written().text), 0, { MENGE: '5' });
    const added = (number: string) => rows[0]?.map((_, at) => [number, 'A-9', '3'][at] ?? '') ?? [];
    const known = await round.drops(
      textOf({ header, rows: [...rows.slice(0, 1), added('PO-1'), ...rows.slice(1)] }),
    );
    expect(known.warnings).toEqual([]);
    const { warnings } = await round.drops(textOf({ header, rows: [...rows, added('K7-55')] }));
    expect(warnings).toEqual([
      'New in this fix file, and read as new orders: K7-55. See whether the numbers are right.',
    ]);
  });

  test('cut off at any byte send nothing that was not meant', async () => {
    round = await openFixRound(`${INPUT}PO-5,A-5,none\nPO-5,A-6,16\n`, ERP);
    const text = textOf(
      withCells(withCells(rowsOf(round.written().text), 0, { MENGE: '5' }), 4, { MENGE: '15' }),
    );
    const right = [1, 2, 3, 4].map((no) => order(`PO-${no}`, [`A-${no}`, no + 4]));
    const all = [...right, order('PO-5', ['A-5', 15], ['A-6', 16])];
    for (let at = text.indexOf('\n') + 1; at < text.length; at += 7) {
      const cut = await round.drops(text.slice(0, at)).catch(() => undefined);
      const orders = (cut?.sent ?? []).filter((one) => Object.hasOwn(one as object, 'orderState'));
      for (const one of orders) expect(all, `cut at ${at}`).toContainEqual(one);
    }
  });
});

describe('the items of a JSON order that a program rewrote', () => {
  const item = (MATNR: unknown, MENGE: unknown) => ({ MATNR, MENGE });
  const INPUT = [
    { PO_NO: 'PO-1', items: [item('000123', 5), item('000124', 'none'), item('1-2', 7)] },
  ];

  async function comesBack(items: object[]): Promise<Dropped> {
    round = await openFixRound(JSON.stringify(INPUT), ERP);
    const [entry] = JSON.parse(round.written().text);
    return await round.drops(JSON.stringify([{ ...entry, items, _error_check: 1000 }]));
  }

  test.each<[string, object[], [string, number][]]>([
    [
      'in place',
      [item(123, 5), item(124, 6), item('01. Feb', 7)],
      [
        ['000123', 5],
        ['000124', 6],
        ['1-2', 7],
      ],
    ],
    [
      'after one was deleted',
      [item(124, 6), item('01. Feb', 7)],
      [
        ['000124', 6],
        ['1-2', 7],
      ],
    ],
    [
      'in reverse',
      [item('01. Feb', 7), item(124, 6), item(123, 5)],
      [
        ['1-2', 7],
        ['000124', 6],
        ['000123', 5],
      ],
    ],
    [
      'after one was inserted',
      [item('X', 1), item(123, 5), item(124, 6), item('01. Feb', 7)],
      [
        ['X', 1],
        ['000123', 5],
        ['000124', 6],
        ['1-2', 7],
      ],
    ],
  ])('are restored by their article: %s', async (_, items, right) => {
    expect((await comesBack(items)).sent).toEqual([order('PO-1', ...right)]);
  });

  test('are held with both readings where an article can be two of them', async () => {
    round = await openFixRound(
      JSON.stringify([{ PO_NO: 'PO-1', items: [item('00123', 5), item('0123', 'x')] }]),
      ERP,
    );
    const [entry] = JSON.parse(round.written().text);
    const { sent, messages } = await round.drops(
      JSON.stringify([{ ...entry, items: [item(123, 7)], _error_check: 1 }]),
    );
    expect(sent).toEqual([{ 'PO-1': ['1 MATNR spreadsheet-rewrite'] }]);
    expect(messages[0]).toContain('"00123" or "0123" as a program changed it');
  });

  test('are held where the quantity of a corrected article may be rewritten', async () => {
    round = await openFixRound(
      JSON.stringify([{ PO_NO: 'PO-1', items: [item('', '1,000'), item('B', 'x')] }]),
      ERP,
    );
    const [entry] = JSON.parse(round.written().text);
    const items = [item('B', 2), item('A', 1)];
    expect(
      (await round.drops(JSON.stringify([{ ...entry, items, _error_check: 1 }]))).sent,
    ).toEqual([{ 'PO-1': ['1 MATNR spreadsheet-rewrite'] }]);
  });

  test('are sent as they are where nothing was rewritten', async () => {
    round = await openFixRound(JSON.stringify(INPUT), ERP);
    const [entry] = JSON.parse(round.written().text);
    const items = [item('123', 6), item('1-2', 7)];
    expect((await round.drops(JSON.stringify([{ ...entry, items }]))).sent).toEqual([
      order('PO-1', ['123', 6], ['1-2', 7]),
    ]);
  });
});

describe('a fix file of a source with a named encoding', () => {
  const OBJECTS = (letter: string) =>
    JSON.stringify([{ PO_NO: 'PO-1', items: [{ MATNR: `Schr${letter}ge`, MENGE: 'x' }] }]);

  test.each(['json', 'csv'])(
    'is UTF-8 where it is valid UTF-8, also without a byte order mark: %s',
    async (type) => {
      const text = type === 'json' ? OBJECTS('\x84') : `${HEADER}\nPO-1,Schr\x84ge,x\n`;
      round = await openFixRound(Buffer.from(text, 'latin1'), { ...ERP, encoding: 'cp850' });
      const back = round
        .written()
        .text.replace('\ufeff', '')
        .replace(/"x"|(?<=,)x(?=,)/, '3');
      expect(back).toContain('Schräge');
      expect((await round.drops(back)).sent).toEqual([order('PO-1', ['Schräge', 3])]);
    },
  );

  test('is read in that encoding where it was written in it', async () => {
    round = await openFixRound(Buffer.from(`${HEADER}\nPO-1,Schräge,x\n`, 'latin1'), {
      ...ERP,
      encoding: 'windows-1252',
    });
    const back = Buffer.from(
      round.written().bytes.toString('latin1').replace(',x,', ',3,'),
      'latin1',
    );
    expect((await round.drops(back)).sent).toEqual([order('PO-1', ['Schräge', 3])]);
    const utf8 = back.toString('latin1');
    expect((await round.drops(utf8)).sent).toEqual([order('PO-1', ['Schräge', 3])]);
  });

  test('of JSON that few letters show to be UTF-8 is sent when it is confirmed', async () => {
    const json = JSON.stringify([{ PO_NO: 'PO-1', MATNR: 'Öl', MENGE: 1 }]);
    round = await openFixRound(json, { ...ERP, encoding: 'iso-8859-1' });
    const { text } = round.written();
    expect(text).toContain('Öl');
    expect((await round.drops(text)).sent).toEqual([
      { 'PO-1': [expect.stringContaining('MATNR spreadsheet-rewrite')] },
    ]);
    const confirmed = round
      .written()
      .text.replace(/"_error_check":\s*"[^"]*"/, '"_error_check": "confirmed"');
    expect((await round.drops(confirmed)).sent).toEqual([order('PO-1', ['Öl', 1])]);
  });

  test('is held where it is in neither that encoding nor UTF-8', async () => {
    round = await openFixRound(Buffer.from(`${HEADER}\nPO-1,Schr\x84ge,x\n`, 'latin1'), {
      ...ERP,
      encoding: 'cp850',
    });
    const latin = Buffer.from(
      round.written().text.replace('\ufeff', '').replace(',x,', ',3,'),
      'latin1',
    );
    expect((await round.drops(latin)).sent).toEqual([{ 'PO-1': ['2 MATNR encoding-unsure'] }]);
  });
});

describe('a row that only the other rows of its file made doubtful', () => {
  const PRICED = `${HEADER},PREIS`;
  const P_2 = (quantity: number) => order('P-2', ['B-1', quantity]);
  const CUT = `${HEADER}\nP-1,A-1,50\nP-2,B-1,5`;
  const MOVED = `${PRICED}\nP-1,A-1,5,\nP-3,A-2,7,9\nP-4,A-3,8,4\nP-2,8,4,\n`;
  const SIGN = `${HEADER}\nP-1,A-1,"1,5"\nP-3,A-1,1.5\nP-2,B-1,2.400\n`;

  test.each([
    [
      'the end of a file without a line end',
      CUT,
      /^MENGE: "5" may be only the beginning of the value: .*, and is unchanged since it was held/,
    ],
    [
      'a row that may lack an empty cell',
      MOVED,
      /^: the row can be read as it is .*, and is unchanged since it was held/,
    ],
  ])(
    'stays held when its fix file comes back unchanged, until it is confirmed: %s',
    async (_, input, message) => {
      round = await openFixRound(input, ERP, (number) => number !== 'P-2');
      for (let times = 0; times < 2; times += 1) {
        const { sent, messages } = await round.drops(round.written().text);
        expect(sent).toEqual([{ 'P-2': [expect.any(String)] }]);
        expect(messages).toEqual([expect.stringMatching(message)]);
      }
      const { sent } = await round.drops(
        textOf(withCells(rowsOf(round.written().text), 0, { _error_check: 'confirmed' })),
      );
      expect(sent).toMatchObject([{ purchaseOrderNumber: 'P-2' }]);
    },
  );

  test('stays held where the rows that came back with it have one decimal sign only', async () => {
    round = await openFixRound(SIGN, { ...ERP, quantity: 'number' }, (number) => number === 'P-3');
    for (let times = 0; times < 2; times += 1) {
      const { sent, messages } = await round.drops(round.written().text);
      expect(sent).toEqual([order('P-1', ['A-1', 1.5]), { 'P-2': [expect.any(String)] }]);
      expect(messages).toEqual([expect.stringMatching(/^MENGE: "2\.400" can be read in two ways/)]);
    }
  });

  test('stays held when the message of an ambiguous quantity does not come from its own file any more', async () => {
    const settings = { ...ERP, quantity: 'number' as const, decimal: ',' as const };
    round = await openFixRound(SIGN, settings, (number) => number === 'P-1');
    const fixed = round.written().text.replace('P-3,A-1,1.5', 'P-3,A-1,"1,5"');
    const { sent, messages } = await round.drops(fixed);
    expect(sent).toEqual([order('P-3', ['A-1', 1.5]), { 'P-2': [expect.any(String)] }]);
    expect(messages).toEqual([
      expect.stringMatching(/^MENGE: "2\.400".*, and is unchanged since it was held/),
    ]);
    const answered = withCells(rowsOf(round.written().text), 1, { MENGE: '2400' });
    expect((await round.drops(textOf(answered))).sent).toContainEqual(P_2(2_400));
  });

  /** The fix file of the second row, as a person or a program leaves it, and whether the report folder keeps it. */
  test.each<[what: string, input: string, change: (fixed: Rows) => Rows, moves?: true]>([
    ['a number with lost zeros', MOVED.replaceAll('P-', '00'), saved],
    ['a cut-off number with lost zeros', `MENGE,MATNR,PO_NO\n1,A-1,0171\n2,A-1,017`, saved],
    ['a cut-off article with lost zeros', `PO_NO,MENGE,MATNR\nP-1,1,00181\nP-2,2,0018`, saved],
    ['a cut-off quantity with a zero before it', `${HEADER}\nP-1,A-1,50\nP-2,B-1,05`, saved],
    ['a space before the quantity', MOVED, (fixed) => withCells(fixed, 0, { MENGE: ' 4' })],
    ['a space behind a cut-off quantity', CUT, (fixed) => withCells(fixed, 0, { MENGE: '5 ' })],
    ['another number', MOVED, (fixed) => withCells(fixed, 0, { PO_NO: 'P-20' })],
    ['a fix file that was moved', MOVED, (fixed) => fixed, true],
    ['a column of messages that was deleted', MOVED, (fixed) => without(fixed, ['_error_message'])],
    ['a cut-off row without messages', CUT, (fixed) => without(fixed, ['_error_message'])],
    [
      'a cut-off article of 210 characters',
      `PO_NO,MENGE,MATNR\nP-1,1,A\nP-2,2,${'x'.repeat(210)}`,
      (fixed) => fixed,
    ],
  ])('stays held where that is no answer to it: %s', async (_, input, change, moves) => {
    const last = input.trim().split('\n').at(-1) ?? '';
    round = await openFixRound(input, ERP, (number) => !last.includes(number));
    const { text, folder } = round.written();
    if (moves) await rm(path.join(folder, 'dead-letters.csv'));
    const { sent } = await round.drops(textOf(change(rowsOf(text))));
    expect(sent).toEqual([expect.not.objectContaining({ items: expect.anything() })]);
  });

  test('is sent when the rest of its value was added', async () => {
    round = await openFixRound(CUT, ERP, (number) => number !== 'P-2');
    const { sent } = await round.drops(
      textOf(withCells(rowsOf(round.written().text), 0, { MENGE: '50' })),
    );
    expect(sent).toEqual([P_2(50)]);
  });

  test('is sent when the empty cell was inserted', async () => {
    round = await openFixRound(MOVED, ERP, (number) => number !== 'P-2');
    const cells = { MATNR: 'B-1', MENGE: '8', PREIS: '4' };
    const { sent } = await round.drops(textOf(withCells(rowsOf(round.written().text), 0, cells)));
    expect(sent).toEqual([P_2(8)]);
  });

  test('does not hold another row of its order with the same value', async () => {
    round = await openFixRound(`${HEADER}\nP-2,A-1,5\nP-2,B-1,5`, ERP);
    const { sent } = await round.drops(
      textOf(withCells(rowsOf(round.written().text), 1, { MENGE: '50' })),
    );
    expect(sent).toEqual([order('P-2', ['A-1', 5], ['B-1', 50])]);
  });
});
