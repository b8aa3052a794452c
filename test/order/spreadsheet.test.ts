import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeFormula, restore } from '../../src/order/spreadsheet.ts';

it.each([
  '=1+1',
  '+SUM(A1)',
  '-2+3+cmd|calc',
  '@SUM(1)',
  '\t=1',
  '\rx',
  '  =1',
  '\u00a0=1',
  '"=1',
  '＝1',
  '－x',
  '-',
  '--5',
  '-5-5',
  "'=1",
])('puts an apostrophe before %j', (text) => {
  expect(escapeFormula(text)).toBe(`'${text}`);
});

it.each([
  '-5',
  '+5,00',
  '-1.234,50',
  "-1'000",
  '-.5',
  '-3e4',
  '5',
  'A-1',
  '',
  "'5",
  "'abc",
  "O'Neill",
  "''",
])('leaves %j as it is', (text) => {
  expect(escapeFormula(text)).toBe(text);
  expect(restore(text)).toBe(text);
});

const hostile = fc.string({
  unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', ' ', '"', '＝', '5', ',', 'x'),
});

it('restores every text, whatever it begins with', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string()), (text) => restore(escapeFormula(text)) === text),
  );
});

it('leaves nothing that a spreadsheet runs', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const written = escapeFormula(text);
      return !/^[\s"]*[=+\-@＝]/.test(written) || /^[+-][\d., ']*\d$/.test(written);
    }),
  );
});
