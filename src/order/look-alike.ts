import { controlCharacterIn } from './text.ts';

/**
 * Letters that look like one of the Latin alphabet, in the fonts that programs show tables in (Unicode Technical
 * Standard 39, confusables; the common ones of Greek and Cyrillic).
 */
const LETTERS = new Map<string, string>(
  [
    ['A', 'АΑ'],
    ['B', 'ВΒ'],
    ['C', 'СϹ'],
    ['E', 'ЕΕ'],
    ['H', 'НΗ'],
    ['I', 'ІΙӀ'],
    ['J', 'Ј'],
    ['K', 'КΚ'],
    ['M', 'МΜ'],
    ['N', 'Ν'],
    ['O', 'ОΟ'],
    ['P', 'РΡ'],
    ['S', 'Ѕ'],
    ['T', 'ТΤ'],
    ['X', 'ХΧ'],
    ['Y', 'УΥҮ'],
    ['Z', 'Ζ'],
    ['a', 'а'],
    ['c', 'сϲ'],
    ['e', 'е'],
    ['i', 'і'],
    ['j', 'ј'],
    ['o', 'оο'],
    ['p', 'р'],
    ['s', 'ѕ'],
    ['v', 'ν'],
    ['x', 'х'],
    ['y', 'у'],
    ['-', '‐‑‒–—−﹣'],
    ["'", '’‘ʼ′'],
  ].flatMap(([plain = '', alike = '']) =>
    Array.from(alike, (one): [string, string] => [one, plain]),
  ),
);

const DIGIT = /\p{Nd}/u;
const BLANK = /[\p{Zs}\t]/u;
const BEYOND_ASCII = /[^\0-\x7f]/u;

/** A text as it looks: one form of each space, digit, hyphen and letter. */
export function plainLook(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return Array.from(text.normalize('NFKC'), plainCharacter).join('');
}

function plainCharacter(character: string): string {
  if (BLANK.test(character)) return ' ';
  if (DIGIT.test(character) && BEYOND_ASCII.test(character)) return digitOf(character);
  return LETTERS.get(character) ?? character;
}

/** Digits of every script are in blocks of ten, from zero. */
function digitOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  for (let value = 0; value < 10; value++) {
    const zero = point - value;
    if (!DIGIT.test(String.fromCodePoint(zero - 1)) || value === 9) return String(value);
  }
  return character;
}

/**
 * The first character that makes a text look like another one: a space, digit or hyphen that is not the plain one, or a
 * letter of another script beside Latin letters or digits. Undefined when there is none.
 */
export function lookAlikeIn(text: string): string | undefined {
  if (!BEYOND_ASCII.test(text)) return undefined;
  const isMixed = /[A-Za-z0-9]/.test(text);
  return Array.from(text).find((character) => {
    if (!BEYOND_ASCII.test(character)) return false;
    if (character === '\u3000') return isMixed;
    if (BLANK.test(character) || DIGIT.test(character) || character.normalize('NFKC') !== character)
      return true;
    return isMixed && LETTERS.has(character);
  });
}

/** `"–" (U+2013)`; a character that cannot be seen without itself. */
export function characterName(character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return controlCharacterIn(character) === undefined ? `"${character}" (U+${point})` : `U+${point}`;
}
