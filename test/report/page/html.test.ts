import fc from 'fast-check';
import { expect, it } from 'vitest';
import { visible } from '../../../src/report/page/html.ts';
import { anyText } from '../../support/any-text.ts';

it.each([
  ['a\u202eb', 'a\\u202eb'],
  ['a\u200bb', 'a\\u200bb'],
  ['5\u00a0000', '5\\u00a0000'],
  ['a\tb\r\n\0', 'a\\tb\\r\\n\\u0000'],
  ['\u001b[31m', '\\u001b[31m'],
  ['\ud800x', '\\ud800x'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['\ufeff', '\\ufeff'],
])('hidden characters of %j are written out', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it.each(['Größe 5', '漢字　', 'שלום', '👍🏽', "O'Neill <b>"])('%j is left as it is', (text) => {
  expect(visible(text)).toBe(text);
});

it('a long text ends with an ellipsis, never inside a character', () => {
  expect(visible('👍'.repeat(10), 3)).toBe('👍\ufffd…');
});

it('no control or format character is left in any text', () => {
  fc.assert(fc.property(anyText(), (text) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(visible(text))));
});
