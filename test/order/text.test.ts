import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { jsonNumber, sourceOfNumber } from '../../src/order/quantity.ts';
import {
  controlCharacterIn,
  escapeHidden,
  escapeHiddenInJson,
  onOneLine,
  shellWord,
  shellWords,
  shorten,
  trimBlanks,
} from '../../src/order/text.ts';
import { anyText } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';

test('a cell loses the spaces and tabs around it, but no line end', () => {
  expect(trimBlanks('\u00a0 4711 ')).toBe('4711');
  expect(trimBlanks(' a b ')).toBe('a b');
  expect(trimBlanks('\t4711\n')).toBe('4711\n');
});

test('spaces and tabs of any kind are removed from the ends of any text, and nothing else', () => {
  const unit = fc.constantFrom(
    ' ',
    '\t',
    '\u00a0',
    '\u3000',
    '\u2009',
    '\n',
    '\0',
    '\x7f',
    '!',
    '~',
    'A',
    '1',
    'é',
    '😀',
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(trimBlanks(text)).toBe(text.replace(/^[\p{Zs}\t]+|[\p{Zs}\t]+$/gu, ''));
    }),
    { numRuns: runs(2_000) },
  );
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
    fc.assert(fc.property(anyText(), (text) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(escapeHidden(text))));
  });
});

describe('escapeHiddenInJson', () => {
  it('keeps the layout and the value of every document', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
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

it('onOneLine replaces hidden characters by single spaces', () => {
  expect(onOneLine(' a\r\n\u202eb\u2028 ')).toBe('a b');
});

test('a word of a command is quoted where a shell would read it otherwise', () => {
  expect(['PO-1', '4711/a', 'A 1', "O'Neil", '$(id)', 'a;b', ''].map(shellWord)).toEqual([
    'PO-1',
    '4711/a',
    "'A 1'",
    "'O'\\''Neil'",
    "'$(id)'",
    "'a;b'",
    "''",
  ]);
});

test('an argument of a command that begins with a hyphen is after the options, where none is read as one', () => {
  expect(shellWords('-1 x', '--as', 'accepted')).toBe("--as accepted -- '-1 x'");
  expect(shellWords('PO-1', '--as', 'accepted')).toBe('PO-1 --as accepted');
});
