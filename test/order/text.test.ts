import { describe, expect, test } from 'vitest';
import { jsonNumber, sourceOfNumber } from '../../src/order/json-number.ts';
import { shorten, textFault, trimBlanks } from '../../src/order/text.ts';

describe('a number or code that is to be sent', () => {
  test.each(['4711', '0004711', 'A B', 'Größe-Ω', '😀'.repeat(256), 'x'.repeat(256), '1E5'])('may be %j', (text) => {
    expect(textFault(text)).toBeUndefined();
  });

  test.each([
    ['', 'missing'],
    ['x'.repeat(257), 'too-long'],
    ['😀'.repeat(257), 'too-long'],
    ['a\tb', 'control-character'],
    ['a\u0000', 'control-character'],
    ['a\u0085', 'control-character'],
    ['a\u202eb', 'hidden-character'],
    ['a\u200bb', 'hidden-character'],
    ['a\ufffdb', 'replacement-character'],
    ['a\u0308', 'not-normalized'],
    ['a\ud800', 'lone-surrogate'],
    ['1.23E+15', 'spreadsheet-damage'],
    ['4,5E+08', 'spreadsheet-damage'],
    ['="00123"', 'spreadsheet-damage'],
    ['#N/A', 'spreadsheet-damage'],
    ['#wert!', 'spreadsheet-damage'],
    ['#######', 'spreadsheet-damage'],
    ['#', undefined],
    ['#12', undefined],
  ])('may not be %j: %s', (text, fault) => {
    expect(textFault(text)).toBe(fault);
  });

  test('loses the blanks and tabs around it, but no line end', () => {
    expect(trimBlanks('\u00a0 4711 ')).toBe('4711');
    expect(trimBlanks(' a b ')).toBe('a b');
    expect(trimBlanks('\t4711\n')).toBe('4711\n');
  });
});

test('a shown text is cut between characters', () => {
  expect(shorten('abc', 3)).toBe('abc');
  expect(shorten('ab😀cd', 4)).toBe('ab…');
  expect(shorten('x'.repeat(500))).toHaveLength(200);
});

test('a JSON number is written again as it was read', () => {
  for (const source of ['1', '1.50', '12345678901234567890', '1e400', '-0', '0.1']) {
    const value = jsonNumber(source);
    expect(JSON.stringify({ value })).toBe(`{"value":${source}}`);
    expect(sourceOfNumber(value)).toBe(source);
  }
  expect(sourceOfNumber('1')).toBeUndefined();
});
