import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import {
  escapeFormula,
  isSpreadsheetDamage,
  isUnsureDamage,
  restore,
} from '../../src/order/spreadsheet.ts';

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

test.each([
  ['000123', '123'],
  ['00987', '987'],
  ['1,000', '1000'],
  ['1,000', '1'],
  ['1.000', '1'],
  ['1.000', '1000'],
  ['100.0', '100'],
  ['3E5', '300000'],
  ['12E3', '12000'],
  ['1-2', '01. Feb'],
  ['1-2', '02-Jan'],
  ['1-2', '2026-01-02'],
  ['1/2', '46024'],
  ['MAR1', '01. Mrz'],
  ['MAR1', '1-Mar'],
  ['+49123', '49123'],
  ['-A1', '#NAME?'],
  ['123456789012345678', '1.23456789012346E+017'],
  ['123456789012345678', '123456789012345000'],
  ['1234567890123456', '1.23E+15'],
  ['TRUE', 'WAHR'],
  ['10:30', '10:30:00'],
  ['50%', '0.5'],
  ['$5', '5'],
  [' A1', 'A1'],
  ['2024-12', 'Dec-24'],
  ['MAR-10', '10-Mar'],
  ['1-2-2024', '01.02.2024'],
  ['1,50', '1,5'],
])('%s that comes back as %s is what a spreadsheet makes of it', (original, returned) => {
  expect(isSpreadsheetDamage(original, returned)).toBe(true);
});

test.each([
  ['000123', '000123'],
  ['', '000123'],
  ['two', '2'],
  ['A-1', 'A-2'],
  ['4500017891', '4500017892'],
  ['12', '21'],
  ['PUMP', 'PUMPE'],
  ['1,000', '100'],
  ['A1', 'A10'],
  ['#N/A', 'A-1'],
  ['1-2', '1-3'],
  ['1100-12', '1200-12'],
  ['ab 7', 'ab7'],
  ['ab-7', 'AB-7'],
  ['10-11-001', '10-11-002'],
  ['2024-11-007', '2025-11-007'],
  ['=1+1', 'A-1'],
  ['-A1', 'A1'],
  ['@A1', 'A1'],
  ['+A1', 'B1'],
  ['123456789012345678', '123456789012345679'],
  ['MAR-10', 'MARS-10'],
  ['4711-1', '4712-1'],
  ['50/3', '70/3'],
  ['1-2', '2-1'],
  ['10:30', '22:30'],
  ['123', '000123'],
  ['1-2-2024', '2-1-2024'],
])('%s that comes back as %s is a correction', (original, returned) => {
  expect(isSpreadsheetDamage(original, returned)).toBe(false);
  expect(isUnsureDamage(original, returned)).toBe(false);
});

test.each([
  ['=1+1', '2'],
  ['2.00', '200'],
  ['5,00', '500'],
  ['1.5', '15'],
  ['123456789012345678', '123456789012345680'],
])('%s that comes back as %s can be either', (original, returned) => {
  expect(isSpreadsheetDamage(original, returned)).toBe(false);
  expect(isUnsureDamage(original, returned)).toBe(true);
});
