import fc from 'fast-check';
import { expect, it } from 'vitest';
import { visible } from '../../../src/report/page/html.ts';

it.each([
  ['a\u202eb', 'a\\u202Eb'],
  ['a\u200bb', 'a\\u200Bb'],
  ['5\u00a0000', '5\\u00A0000'],
  ['a\tb\r\n\0', 'a\\tb\\r\\n\\0'],
  ['\u001b[31m', '\\u001B[31m'],
  ['\ud800x', '\\uD800x'],
  ['\u{e0041}', '\\u{E0041}'],
  ['\ufeff', '\\uFEFF'],
])('writes out what cannot be seen in %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it.each(['Größe 5', '漢字　', 'שלום', '👍🏽', "O'Neill <b>"])('leaves %j as it is', (text) => {
  expect(visible(text)).toBe(text);
});

it('ends a long text with an ellipsis, never within a character', () => {
  expect(visible('👍'.repeat(10), 3)).toBe('👍\ufffd…');
});

it('leaves no control or format character in any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(visible(text))));
});
