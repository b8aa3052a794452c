import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { patternFault, SEEN } from '../../src/config/mapping-schema.ts';
import { inferPattern } from '../../src/setup/patterns.ts';
import { printProposals } from '../../src/setup/print.ts';
import { mappingInput, type Proposal } from '../../src/setup/propose.ts';
import { anyText } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { fileIn, proposed, triedWith } from './samples.ts';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;

beforeAll(async () => {
  folder = await makeTempFolder();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

/** Texts with everything that YAML, comments, CSV and patterns give a meaning to. */
const hostile = fc.oneof(
  anyText({ maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      ...Array.from('#: \'"\\\n\r\t,;|{}[]&*!%@`->?=\u0085\u2028\u200b\ufeffaA1.é漢😀'),
    ),
    maxLength: 40,
  }),
  fc.constantFrom('true', 'null', '~', '12', '- a', '# x', 'a: b', '__proto__', 'constructor', 'y'),
);

const wellFormed = hostile.map((text) => text.toWellFormed());

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(',')}\n`).join('');
}

test('the printed mapping of any table loads', async () => {
  const table = fc.integer({ min: 1, max: 6 }).chain((width) =>
    fc.record({
      header: fc.array(fc.oneof(wellFormed, fc.constantFrom('PO', 'Article', 'Qty', 'Status')), {
        minLength: width,
        maxLength: width,
      }),
      rows: fc.array(
        fc.array(fc.oneof(wellFormed, fc.nat(2_000).map(String)), {
          minLength: width,
          maxLength: width,
        }),
        { minLength: 1, maxLength: 12 },
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(table, async ({ header, rows }) => {
      // The columns that a mapping must have.
      const own = (nth: number) => [`P-${nth}`, `A-${nth}`, '1'];
      const content = csvOf([
        ['PO', 'Article', 'Qty', ...header],
        ...rows.map((row, nth) => [...own(nth), ...row]),
      ]);
      const { printed } = await proposed(await fileIn(folder.path, 'any.csv', content));
      expect(printed).toContain('mappings:');
    }),
    { numRuns: runs(500) },
  );
});

test('the printed mapping of any JSON loads', async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      wellFormed,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(
      fc.oneof(wellFormed, fc.constantFrom('po', 'sku', 'qty', 'lines')),
      tie('value'),
      {
        maxKeys: 4,
      },
    ),
  }));
  await fc.assert(
    fc.asyncProperty(fc.array(value.object, { minLength: 1, maxLength: 4 }), async (objects) => {
      const content = JSON.stringify(
        objects.map((one) => ({ ...Object(one), po: 'P-1', sku: 'A-1', qty: 1 })),
      );
      const { printed } = await proposed(await fileIn(folder.path, 'any.json', content));
      expect(printed).toContain('mappings:');
    }),
    { numRuns: runs(500) },
  );
});

test('a table of orders is sent with its proposed mapping, whatever is beside them', async () => {
  const code = fc.stringMatching(/^[A-Z]{1,3}-?\d{1,5}$/);
  const order = fc.array(
    fc.record({ article: code, quantity: fc.integer({ min: 1, max: 99_999 }), text: wellFormed }),
    { minLength: 1, maxLength: 5 },
  );
  const orders = fc.array(order, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(orders, fc.constantFrom(',', ';', '\t', '|'), async (all, delimiter) => {
      const rows = all.flatMap((items, nth) =>
        items.map(({ article, quantity, text }, at) => [
          `PO-${1000 + nth}`,
          String(at + 1),
          // A text at the end of a line keeps it from being a date or a list.
          `${text}.`,
          `${article}${at}`,
          String(quantity),
        ]),
      );
      const table = [['Order no', 'Line', 'Remark', 'Article no', 'Quantity'], ...rows];
      const content = table.map((row) => `${row.map(quoted).join(delimiter)}\n`).join('');
      const file = await fileIn(folder.path, 'orders.csv', content);
      expect(await triedWith(file)).toBe(`${all.length} sent`);
    }),
    { numRuns: runs(500) },
  );
});

test('no text breaks out of a comment, a key or a value, and lines are bounded', () => {
  const entry = fc.record({
    key: wellFormed.filter((key) => key !== ''),
    value: wellFormed,
    note: wellFormed,
  });
  const columns = fc.uniqueArray(entry, { selector: ({ key }) => key, maxLength: 5 });
  fc.assert(
    fc.property(columns, fc.array(wellFormed), (drawn, notes) => {
      const proposal: Proposal = {
        name: 'm',
        files: notes,
        notes,
        questions: notes,
        before: [],
        columns: drawn.map(({ note, ...one }, nth) => ({
          ...one,
          ...(nth % 2 === 0 ? { note } : { question: note.repeat(50) }),
        })),
        after: [],
      };
      const printed = printProposals([proposal]);
      const document = parseDocument(printed);
      expect(document.errors).toEqual([]);
      const { m } = document.toJS().mappings;
      expect(Object.entries(m.columns)).toEqual(Object.entries(mappingInput(proposal).columns));
      expect(Object.keys(m)).toEqual(['columns']);
    }),
    { numRuns: runs(2_000) },
  );
});

test('a pattern matches every value that it was made of, and is one that the configuration accepts', () => {
  const text = fc
    .oneof(wellFormed, fc.stringMatching(/^[A-Z]{0,4}[-/ .]?\d{1,8}$/))
    .map((one) => one.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ''));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), (values) => {
      const filled = values.filter((one) => one !== '');
      const found = inferPattern(values);
      expect(found.values).toBe(new Set(filled).size);
      if (found.like === undefined) return;
      expect(patternFault(found.like, SEEN.value, true)).toBeUndefined();
      const pattern = new RegExp(`^(?:${found.like})$`, 'u');
      expect(filled.filter((one) => !pattern.test(one))).toEqual([]);
    }),
    { numRuns: runs(2_000) },
  );
});

test.each([
  [['4500017891', '4500017892', '4512345678'], '45\\d{8}'],
  [['AB-123', 'CD-456789', 'EF-1234', 'XY-999'], '[A-Z]{2}-\\d{3,6}'],
  [['PO-1', 'PO-22', 'PO-333'], 'PO-\\d{1,3}'],
  [['#1001', '#1002'], '#\\d{4}'],
  [['A-1', 'B7'], '[A-Z]-\\d|[A-Z]\\d'],
  [['Ü-1', 'Ö-2'], '[\\p{L}\\p{M}]-\\d'],
  [['a.b', 'c/d', 'x y', 'Q_1', 'z+9'], '[\\dA-Za-z./ _+]{1,10}'],
  [Array.from('!"#$%&()*+,-./:;<'), undefined],
])('the pattern of %j is %s', (values, like) => {
  expect(inferPattern(values).like).toBe(like);
});
