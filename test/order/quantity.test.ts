import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decimal, readJsonQuantity, readQuantity } from '../../src/order/quantity.ts';

function read(text: string, decimal: Decimal = 'auto'): number | string {
  const found = readQuantity(text, decimal, false);
  return 'fault' in found ? found.fault : found.value;
}

describe('a quantity as text', () => {
  test.each([
    ['5', 5],
    ['007', 7],
    ['+5', 5],
    ['1.5', 1.5],
    ['1,5', 1.5],
    [',5', 0.5],
    ['0,125', 0.125],
    ['1234.567', 1234.567],
    ['1.234,50', 1234.5],
    ['1,234.50', 1234.5],
    ['1.234.567', 1234567],
    ['1,234,567.8', 1234567.8],
    ["12'345", 12345],
    ['12 345', 12345],
    ['12\u00a0345,5', 12345.5],
    ['999999999999999', 999999999999999],
  ])('%s is %d', (text, value) => {
    expect(read(text)).toBe(value);
  });

  test.each([
    ['1,000', 'ambiguous-number'],
    ['1.234', 'ambiguous-number'],
    ['12,345', 'ambiguous-number'],
    ['', 'missing'],
    ['0', 'not-positive'],
    ['0,000', 'not-positive'],
    ['-5', 'not-positive'],
    ['5-', 'not-positive'],
    ['1e3', 'not-a-number'],
    ['0x10', 'not-a-number'],
    ['Infinity', 'not-a-number'],
    ['NaN', 'not-a-number'],
    ['1 dozen', 'not-a-number'],
    ['5.', 'not-a-number'],
    ['1.2.3', 'not-a-number'],
    ['12,34,567', 'not-a-number'],
    ['1,234.567,8', 'not-a-number'],
    ['-5-', 'not-a-number'],
    ['٣', 'not-a-number'],
    ['5\n', 'not-a-number'],
    ['1000000000000000', 'too-large'],
    ['0.1234567890123456', 'too-precise'],
  ])('%j is reported as %s', (text, fault) => {
    expect(read(text)).toBe(fault);
  });

  test.each<[string, Decimal, number | string]>([
    ['1,000', '.', 1000],
    ['1.234', '.', 1.234],
    ['1,000', ',', 1],
    ['1.234', ',', 1234],
    ['1.5', ',', 'not-a-number'],
    ['1,5', '.', 'not-a-number'],
    ['1,234,567', ',', 'not-a-number'],
  ])('%s with decimal %s is %s', (text, decimal, value) => {
    expect(read(text, decimal)).toBe(value);
  });

  test('is an integer unless fractions are allowed, and 5.00 is an integer', () => {
    expect(readQuantity('5,00', 'auto', true)).toMatchObject({ value: 5 });
    expect(readQuantity('5.5', 'auto', true)).toEqual({ fault: 'not-whole' });
  });

  test('is the written number for each decimal sign of the mapping', () => {
    const amount = fc.tuple(
      fc.integer({ min: 0, max: 999_999_999 }),
      fc.integer({ min: 0, max: 999_999 }),
    );
    const decimals = fc.constantFrom<'.' | ','>('.', ',');
    fc.assert(
      fc.property(amount, decimals, fc.boolean(), ([whole, part], decimal, grouped) => {
        fc.pre(whole > 0 || part > 0);
        const separator = decimal === '.' ? ',' : '.';
        const digits = grouped
          ? String(whole).replace(/\B(?=(\d{3})+$)/g, separator)
          : String(whole);
        const text = part === 0 ? digits : `${digits}${decimal}${String(part).padStart(6, '0')}`;
        expect(read(text, decimal)).toBe(Number(`${whole}.${String(part).padStart(6, '0')}`));
      }),
    );
  });

  test('read without a named sign is never a different number than with the correct one', () => {
    const text = fc.stringMatching(/^\d{1,4}([.,]\d{1,4}){0,2}$/);
    fc.assert(
      fc.property(text, (written) => {
        const guessed = read(written, 'auto');
        if (typeof guessed !== 'number') return;
        const readings = [read(written, '.'), read(written, ',')].filter(
          (one) => typeof one === 'number',
        );
        expect(new Set(readings)).toEqual(new Set([guessed]));
      }),
    );
  });
});

describe('a quantity as JSON number', () => {
  test.each<[string, number | string]>([
    ['5', 5],
    ['5.0', 5],
    ['0.25', 0.25],
    ['-1', 'not-positive'],
    ['-0', 'not-positive'],
    ['1e3', 'not-a-number'],
    ['12345678901234567890', 'too-large'],
    ['0.10000000000000000001', 'too-precise'],
  ])('%s is %s', (source, value) => {
    const found = readJsonQuantity(source, false);
    expect('fault' in found ? found.fault : found.value).toBe(value);
  });
});
