import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlCharacterIn, escapeHidden, escapeHiddenInJson, onOneLine } from '../../src/order/hidden-characters.ts';

describe('escapeHidden', () => {
  it.each([
    ['a\u202eb', 'a\\u202eb'],
    ['5\u00a0000', '5\\u00a0000'],
    ['a\tb\r\n\0', 'a\\tb\\r\\n\\u0000'],
    ['\u001b[31m', '\\u001b[31m'],
    ['\ud800x', '\\ud800x'],
    ['\u{e0041}', '\\udb40\\udc41'],
  ])('shows %j as %s', (text, shown) => {
    expect(escapeHidden(text)).toBe(shown);
  });

  it('leaves no control, format or lone surrogate character in any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(escapeHidden(text))));
  });
});

describe('escapeHiddenInJson', () => {
  it('keeps the layout and the value of every document', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = JSON.stringify({ text }, null, 2);
        const shown = escapeHiddenInJson(json);
        expect(JSON.parse(shown)).toEqual(JSON.parse(json));
        expect(/[\p{Cf}\p{Cs}]/u.test(shown)).toBe(false);
        expect(shown.split('\n')).toHaveLength(3);
      }),
    );
  });
});

it('controlCharacterIn names the first control character', () => {
  expect(controlCharacterIn('A\u001b\u0007')).toBe('U+001B');
  expect(controlCharacterIn('A\u202e')).toBeUndefined();
});

it('onOneLine replaces hidden characters by single blanks', () => {
  expect(onOneLine(' a\r\n\u202eb\u2028 ')).toBe('a b');
});
