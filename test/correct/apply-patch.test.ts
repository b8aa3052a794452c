import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Applied, applyPatch, type Corrected } from '../../src/correct/apply-patch.ts';
import { letterRows } from '../../src/correct/letter-rows.ts';
import type { PatchRow } from '../../src/correct/patch.ts';
import type { DeadLetter } from '../../src/order/dead-letter.ts';
import type { Problem } from '../../src/order/problem.ts';
import type { SourceRecord } from '../../src/order/record.ts';
import { deadLetterOf, deliveryDeadLetterOf } from '../../src/report/dead-letters.ts';
import { mappingOf } from '../support/mapping-of.ts';
import { AT, rows } from '../support/reported.ts';
import { runs } from '../support/runs.ts';

const BATCH = '20261121T071500Z-inbox-orders-3f2a91c0';
const HEADER = ['purchaseOrderNumber', 'articleCode', 'quantity', 'note'];
const [PO, ART, QTY, NOTE] = HEADER as [string, string, string, string];

type Letter = Corrected['letters'][number];
type Wrong = { line: number; field: string; code?: string; rows?: string[] };

/** The dead letter of rows that failed a check in these cells, or that the API refused. */
function letter(
  ordinal: number,
  records: SourceRecord[],
  wrong?: Wrong[],
  more: Partial<Letter> = {},
): Letter {
  const number = records[0]?.kind === 'row' ? (records[0].cells[0] ?? '') : '';
  const place = records[0]?.place ?? { line: 0 };
  const common = { ordinal, number, place, records };
  const problems = wrong?.map(
    (one) => ({ code: 'not-whole', facts: { of: 'quantity' }, value: '', ...one }) as Problem,
  );
  const facts = {
    kind: 'refused' as const,
    code: '400',
    facts: { says: 'No' },
    attempts: 1,
    firstAt: AT,
    lastAt: AT,
  };
  const order = { purchaseOrderNumber: number, orderState: 'NEW', items: [] };
  const found: DeadLetter = problems
    ? deadLetterOf(BATCH, { ...common, valid: false, problems }, AT)
    : deliveryDeadLetterOf(BATCH, { ...common, valid: true, order }, facts);
  const kept = letterRows(common, found, { header: HEADER });
  return { ...found, rows: kept, ordinal, ...more };
}

function apply(letters: Letter[], patch: Omit<PatchRow, 'line'>[], isForm = false): Applied {
  const own = patch.map((row, i) => ({ ...row, line: i + 2 }));
  const corrected = { batch: BATCH, letters, shape: { header: HEADER }, mapping: mappingOf({}) };
  return applyPatch({ batch: BATCH, isForm, rows: own }, corrected);
}

const row = (
  ordinal: number,
  no: number,
  cells: Record<string, string>,
  act = '',
): Omit<PatchRow, 'line'> => ({
  id: { ordinal, row: no, revision: 1 },
  act,
  cells,
});

const cellsIn = ({ records }: Applied) =>
  records.map((one) => (one.kind === 'row' ? one.cells : []));
const heldIn = ({ records }: Applied) =>
  records.flatMap(({ held = [] }) => held.map(({ code }) => code));

const TWO = rows(2, ['7', 'A', 'two', 'x'], ['7', 'B', '3', 'y']);

describe('a row that comes back', () => {
  it.each<[string, Letter[], Omit<PatchRow, 'line'>[], object]>([
    [
      'takes a cell that is at fault',
      [letter(0, TWO, [{ line: 2, field: QTY }])],
      [row(0, 1, { [QTY]: '2' })],
      { taken: 1, restored: 0 },
    ],
    [
      'restores another cell',
      [letter(0, TWO, [{ line: 2, field: QTY }])],
      [row(0, 1, { [QTY]: '2', [NOTE]: 'z' })],
      { taken: 1, restored: 1 },
    ],
    [
      'restores a cell of a row without a fault',
      [letter(0, TWO, [{ line: 2, field: QTY }])],
      [row(0, 2, { [QTY]: '9' })],
      { taken: 0, restored: 1, unchanged: 1 },
    ],
    [
      'takes any cell of a refused order',
      [letter(0, TWO)],
      [row(0, 2, { [NOTE]: 'z' })],
      { taken: 1, restored: 0 },
    ],
    [
      'takes any cell where no cell is to blame',
      [letter(0, TWO, [{ line: 2, field: '' }])],
      [row(0, 2, { [ART]: 'C' })],
      { taken: 1 },
    ],
    [
      'takes nothing of a letter that has ended',
      [letter(0, TWO, [], { ended: 'it was discarded' })],
      [row(0, 1, { [QTY]: '2' })],
      { taken: 0, outdated: 1 },
    ],
    [
      'takes nothing in another revision',
      [letter(0, TWO, undefined, { revision: 2 })],
      [row(0, 1, { [QTY]: '2' })],
      { taken: 0, outdated: 1 },
    ],
    [
      'takes nothing where an id is there twice',
      [letter(0, TWO)],
      [row(0, 1, { [QTY]: '2' }), row(0, 1, { [QTY]: '3' })],
      { taken: 0, outdated: 1 },
    ],
    [
      'takes nothing of an unknown letter',
      [letter(0, TWO)],
      [row(1, 1, { [QTY]: '2' })],
      { taken: 0, outdated: 1 },
    ],
    [
      'takes nothing of an unknown row',
      [letter(0, TWO)],
      [row(0, 3, { [QTY]: '2' })],
      { taken: 0, outdated: 1 },
    ],
    [
      'takes nothing of an order in doubt',
      [letter(0, TWO, undefined, { kind: 'inDoubt' })],
      [row(0, 1, { [QTY]: '2' })],
      { taken: 0, unchanged: 1 },
    ],
    [
      'sends no order in doubt',
      [letter(0, TWO, undefined, { kind: 'inDoubt' })],
      [row(0, 1, {}, 'send')],
      { taken: 0, unchanged: 1 },
    ],
    [
      'discards no order in doubt',
      [letter(0, rows(2, ['7', 'A', '1', '']), undefined, { kind: 'inDoubt' })],
      [row(0, 1, {}, 'discard')],
      { discarded: 0, unchanged: 1 },
    ],
    [
      'discards an order in all of its rows',
      [letter(0, TWO)],
      [row(0, 1, {}, 'discard'), row(0, 2, {}, 'discard')],
      { discarded: 1, taken: 0 },
    ],
    [
      'discards no order in one of its rows',
      [letter(0, TWO)],
      [row(0, 1, {}, 'discard')],
      { discarded: 0, unchanged: 1 },
    ],
    [
      'does nothing that it does not know',
      [letter(0, TWO)],
      [row(0, 1, {}, 'delte')],
      { taken: 0, unchanged: 1 },
    ],
    [
      'gives an order no second number',
      [letter(0, TWO)],
      [row(0, 1, { [PO]: '8' })],
      { taken: 0, unchanged: 1 },
    ],
    [
      'gives an order another number in all rows',
      [letter(0, TWO)],
      [row(0, 1, { [PO]: '8' }), row(0, 2, { [PO]: '8' })],
      { taken: 1 },
    ],
    [
      'gives it to all rows where only one is at fault',
      [letter(0, TWO, [{ line: 2, field: PO }])],
      [row(0, 1, { [PO]: '8' }), row(0, 2, { [PO]: '8' })],
      { taken: 1, restored: 0 },
    ],
    [
      'adds a row to the order that it names',
      [letter(0, TWO)],
      [{ act: '', cells: { [PO]: '7', [ART]: 'C', [QTY]: '1' } }],
      { taken: 1 },
    ],
    [
      'adds no row to an order that is not open',
      [letter(0, TWO)],
      [{ act: '', cells: { [PO]: '9', [ART]: 'C', [QTY]: '1' } }],
      { taken: 0 },
    ],
  ])('%s', (_, letters, patch, counts) => {
    expect(apply(letters, patch).counts).toMatchObject(counts);
  });

  it('is part of the complete order, with the rows that are not there as they were', () => {
    const applied = apply([letter(0, TWO, [{ line: 2, field: QTY }])], [row(0, 1, { [QTY]: '2' })]);
    expect(cellsIn(applied)).toEqual([
      ['7', 'A', '2', 'x'],
      ['7', 'B', '3', 'y'],
    ]);
    const from = { id: `${BATCH}-0`, revision: 1, number: '7', content: '' };
    expect(applied.records.map((record) => record.from)).toEqual([from, from]);
  });

  it('has the width of its table again where cells were missing or too many', () => {
    const narrow = letter(0, rows(2, ['7', 'A']), [{ line: 2, field: '' }]);
    expect(cellsIn(apply([narrow], [row(0, 1, { [QTY]: '2' })]))).toEqual([['7', 'A', '2', '']]);
    const wide = letter(0, rows(2, ['7', 'A', '1', '', 'more']), [{ line: 2, field: '' }]);
    const cleared = apply([wide], [row(0, 1, { 'column 5': '' })]);
    expect(cellsIn(cleared)).toEqual([['7', 'A', '1', '']]);
  });
});

describe('what was wrong and was not changed', () => {
  const wrong = [
    { line: 2, field: QTY, code: 'ambiguous-number' },
    { line: 3, field: ART, code: 'cut' },
  ];

  it('is held again, in its row', () => {
    const applied = apply([letter(0, TWO, wrong)], [row(0, 1, { [QTY]: '2' })]);
    expect(heldIn(applied)).toEqual(['cut']);
    expect(applied.records[1]?.held).toHaveLength(1);
  });

  it('is not where its row says send', () => {
    const applied = apply(
      [letter(0, TWO, wrong)],
      [row(0, 1, {}, 'send'), row(0, 2, { [ART]: 'C' })],
    );
    expect(heldIn(applied)).toEqual([]);
    expect(applied.records.map(({ isConfirmed }) => isConfirmed)).toEqual([true, undefined]);
  });

  it('confirms the complete order where no cell is to blame', () => {
    const held = letter(0, TWO, [{ line: 2, field: '', code: 'beside-damaged', rows: ['line 9'] }]);
    const applied = apply([held], [row(0, 2, {}, 'send')]);
    expect(applied.records.every(({ isConfirmed }) => isConfirmed)).toBe(true);
    expect(heldIn(applied)).toEqual([]);
  });
});

describe('rows without a number', () => {
  const doubt = (line: number, ...places: string[]) => [
    { line, field: '', code: 'beside-damaged', rows: places },
  ];
  const letters = (...ended: (string | undefined)[]) => [
    letter(0, rows(2, ['7', 'A', '1', '']), doubt(2, 'line 3')),
    letter(1, rows(3, ['', 'B', '2', '']), [{ line: 3, field: PO }], { ended: ended[0] }),
    letter(2, rows(4, ['', 'C', '3', '']), [{ line: 4, field: PO }], { ended: ended[1] }),
    letter(3, rows(5, ['8', 'D', '4', '']), doubt(5, 'line 4')),
  ];

  it('join the order that they are given, and what was held only because of them is sent', () => {
    const applied = apply(letters(), [row(1, 1, { [PO]: '7' }), row(2, 1, { [PO]: '7' })]);
    expect(
      cellsIn(applied)
        .map(([number, article]) => `${number} ${article}`)
        .sort(),
    ).toEqual(['7 A', '7 B', '7 C', '8 D']);
    expect(heldIn(applied)).toEqual([]);
  });

  it('leave their neighbors held while another of them may belong to these', () => {
    const applied = apply(letters(), [row(1, 1, { [PO]: '9' })]);
    expect(cellsIn(applied)).toEqual([['9', 'B', '2', '']]);
    const joined = apply(letters(), [row(1, 1, { [PO]: '7' })]);
    expect(heldIn(joined)).toEqual(['beside-damaged']);
  });

  it('release their neighbors also where the others were decided on before', () => {
    const applied = apply(letters(undefined, 'it was discarded'), [row(1, 1, { [PO]: '9' })]);
    expect(new Set(cellsIn(applied).map(([number]) => number))).toEqual(new Set(['7', '8', '9']));
  });
});

it('in the form, every cell is taken, a row can be left out, and the values can stay', () => {
  const held = letter(0, TWO, [{ line: 2, field: QTY }]);
  const form = apply(
    [held],
    [row(0, 1, { [QTY]: '2', [NOTE]: 'z' }), row(0, 2, {}, 'delete')],
    true,
  );
  expect(cellsIn(form)).toEqual([['7', 'A', '2', 'z']]);
  expect(apply([letter(0, TWO)], [row(0, 1, {})], true).counts).toMatchObject({ taken: 1 });
});

const cell = fc.string({ unit: fc.constantFrom('a', '1', ' ', ',', '"', 'ä'), maxLength: 3 });
const order = fc.record({
  cells: fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 3 }),
  wrong: fc.option(fc.constantFrom(...HEADER.slice(1)), { nil: undefined }),
});

it('changes no cell that is not at fault, and no row that is not there, whatever comes back', () => {
  fc.assert(
    fc.property(
      fc.array(order, { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(5), fc.nat(4), fc.constantFrom(...HEADER), cell), { maxLength: 8 }),
      (orders, edits) => {
        const letters = orders.map(({ cells, wrong }, i) => {
          const records = rows(i * 10 + 2, ...cells.map((own) => [String(i + 1), ...own]));
          return letter(i, records, wrong ? [{ line: i * 10 + 2, field: wrong }] : undefined);
        });
        const patch = edits.map(([ordinal, no, name, text]) =>
          row(ordinal, no + 1, { [name]: text }),
        );
        const applied = apply(letters, patch);
        const before = new Map(
          letters.flatMap(({ rows: own = [] }) =>
            own.map((one) => [`line ${one.line}`, one.cells]),
          ),
        );
        const edited = new Set(
          patch.map(({ id }) => `line ${(id?.ordinal ?? 0) * 10 + (id?.row ?? 0) + 1}`),
        );
        const numbers = new Map<string, number>();
        const left = new Map(letters.map(({ id, rows: own = [] }) => [id, [...own]]));
        for (const one of applied.records) {
          const place = `line ${left.get(one.from?.id ?? '')?.shift()?.line}`;
          const was = before.get(place);
          if (one.kind !== 'row' || was === undefined) throw new Error('a row of nothing');
          const own = letters[Number(was[PO]) - 1];
          HEADER.forEach((name, i) => {
            const isOpen =
              own?.kind === 'refused' ||
              own?.problems?.some(({ field, line }) => field === name && `line ${line}` === place);
            const mayDiffer = isOpen && edited.has(place);
            if (!mayDiffer) expect(one.cells[i]).toBe(was[name]);
          });
          numbers.set(was[PO] ?? '', (numbers.get(was[PO] ?? '') ?? 0) + 1);
        }
        // Half an order is never sent.
        for (const [number, count] of numbers)
          expect(count).toBe(letters[Number(number) - 1]?.rows?.length);
      },
    ),
    { numRuns: runs(300) },
  );
});
