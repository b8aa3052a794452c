import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyOf } from '../../src/order/number-key.ts';
import { runs } from '../support/runs.ts';

it.each([
  ['po-007', 'PO-7'],
  ['PO 7', 'PO7'],
  ['00', '0'],
  ['A-0', 'A-0'],
  ['0088', '88'],
  ['a\u0301-1', '\u00e1-1'],
  ['x\u00df1', 'XSS1'],
])('%s and %s are one order', (one, other) => {
  expect(keyOf(one)).toBe(keyOf(other));
});

it.each([
  ['A-1.05', 'A-1.5'],
  ['1,05', '1,5'],
  ['PO-7', 'PO7'],
  ['PO-70', 'PO-7'],
  ['=po-7', '=PO-7'],
])('%s and %s are two orders', (one, other) => {
  expect(keyOf(one)).not.toBe(keyOf(other));
});

/** Numbers as people and spreadsheets write them, with what a fold may get wrong. */
const number = fc.oneof(
  fc.stringMatching(/^[Pp]?[Oo]?[- .,/]?0{0,3}\d{0,4}[- .,/]?0{0,2}\d{0,3}$/),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('0', '7', '.', ',', ' ', '-', 'ß', 'ŉ', 'ǰ', '\u0345', 'i') }),
);

it('the key of a key is itself', () => {
  fc.assert(
    fc.property(number, (one) => {
      expect(keyOf(keyOf(one))).toBe(keyOf(one));
    }),
    { numRuns: runs(2_000) },
  );
});

it('case, white space, composition and zeros that begin a group of digits make no difference', () => {
  const spelled = fc.tuple(
    fc.constantFrom(
      (text: string) => text.toUpperCase(),
      (text: string) => text.toLowerCase(),
    ),
    fc.constantFrom('NFC' as const, 'NFD' as const),
    fc.nat(3),
  );
  const plain = fc.stringMatching(/^[a-zäöé]{1,3}[-/]?[1-9]\d{0,3}[-/][1-9]\d{0,2}$/);
  fc.assert(
    fc.property(plain, spelled, (one, [inCase, form, zeros]) => {
      const other = inCase(one)
        .normalize(form)
        .replace(/(?<!\d)\d/g, `${'0'.repeat(zeros)}$&`)
        .replace(/[-/]/g, ' $& ');
      expect(keyOf(other)).toBe(keyOf(one));
    }),
    { numRuns: runs(1_000) },
  );
});
