import { describe, expect, test } from 'vitest';
import { otherReading } from '../../src/order/other-reading.ts';
import { likelyQuantity } from '../../src/order/quantity.ts';

describe('a text can be read otherwise', () => {
  test.each([
    ['a no-break space', 'A\u00a01', '"A 1"'],
    ['a narrow no-break space', 'A\u202f1', '"A 1"'],
    ['full-width letters and digits', 'Ａ－１２', '"A-12"'],
    ['Arabic-Indic digits', '١٢٣', '"123"'],
    ['Devanagari digits', 'A-१०', '"A-10"'],
    ['a ligature', 'ﬁlter', '"filter"'],
    ['a no-break hyphen', 'A\u20111', '"A-1"'],
    ['an en dash', 'A–1', '"A-1"'],
    ['a minus sign', 'A−1', '"A-1"'],
    ['a Cyrillic letter among Latin ones', 'PО-1', '"PO-1"'],
    ['a Greek letter among Latin ones', 'ΡO-1', '"PO-1"'],
    ['straight quotes', "'A-1'", '"A-1"'],
    ['curly quotes', '“A-1”', '"A-1"'],
    ['the apostrophe of a spreadsheet', "'007", '"007"'],
    ['an escape of HTML', 'A&amp;B', '"A&B"'],
    ['an escape of XML', 'A&#38;B', '"A&B"'],
    ['a letter that an encoding lacks', 'M?ller', '"M…ller"'],
    ['UTF-8 that was read as Windows-1252', 'SchrÃ¤ge', '"Schräge"'],
    ['UTF-8 that was read as Windows-1251', 'Р‘РѕР»С‚', '"Болт"'],
    ['UTF-8 that was read as MacRoman', 'Schr√§ge', '"Schräge"'],
    ['UTF-8 that was read as a DOS code page', 'Schr├ñge', 'other letters'],
    ['a day and a month', '1-Feb', 'something like "1-2"'],
    ['a German day and month', '01. Mrz', 'something like "1-2"'],
    ['a month and a year', 'Feb-26', 'something like "1-2"'],
    ['a date with dots', '21.11.2026', 'something like "1-2"'],
    ['a date with slashes', '11/21/2026', 'something like "1-2"'],
    ['a time with seconds', '12:30:00', 'something like "1-2"'],
    ['a time of twelve hours', '12:30 PM', 'something like "1-2"'],
    ['a date with a time', '2026-11-21 00:00:00', 'something like "1-2"'],
    ['grouped digits', '4,500,012', '"4500012"'],
    ['Swiss grouped digits', "1'234", '"1234"'],
    ['a truth value', 'WAHR', 'another text'],
    ['a ditto mark', '"', 'the value of the row above'],
    ['a ditto word', 'Dito', 'the value of the row above'],
    ['a reference upwards', 'same as above', 'the value of the row above'],
    ['a bullet', '• A-1', '"A-1"'],
    ['a quoted message', '> A-1', '"A-1"'],
    ['a box to tick', '[x] A-1', '"A-1"'],
    ['a replacement', 'A-1 replaced by A-2', 'one of its parts'],
    ['an arrow', 'A-1 -> A-2', 'one of its parts'],
    ['a text that was not filled in', '{{article}}', 'a value that is missing'],
    ['an object of a program', '[object Object]', 'a value that is missing'],
  ])('with %s', (_, text, reading) => {
    expect(otherReading(text)?.reading).toBe(reading);
  });

  const single =
    "A-1|PO 1|12E3|2026-11-21|PO-2026-11-21|1/2|01/02|MAR1|MAY-15|march-10|#1001|A.B|1.234|12:30|4500.1|Größe-XL|m²|10kΩ|5µm|Болт M8|Болт-М8|РО-100|naïve|ネジ\u3000|部品-1|1/2\"|O'Neill|'=A1|A–|–A|groß – klein|why?|?|A&B|AT&T;|Ã|True-1|Same-1|-Q|*Q|1. A|4.500.012|4 500 012|[1]A|100%|do";
  test.each(single.split('|'))('but not %j', (text) => {
    expect(otherReading(text)).toBeUndefined();
  });
});

test.each([
  ['１２', '12'],
  ['١٢', '12'],
  ['1\u200b2', '12'],
  ['1\u2060000', '1000'],
  ['−5', '-5, which is below zero'],
  ['(5)', '-5, or 5 without the brackets'],
  ['10 %', '10, or 0.1'],
  ['1.2E3', '1200, rounded by a spreadsheet, or a code'],
  ['1,00,000', '100000'],
  ['l0O', '100, with letters in place of digits'],
  ["'5", '5, with a unit or a sign beside it'],
  ['10 pcs', '10, with a unit or a sign beside it'],
  ['1.200 Stk', '1.200, with a unit or a sign beside it'],
  ['3,5 kg', '3,5, with a unit or a sign beside it'],
  ["1'200,50€", "1'200,50, with a unit or a sign beside it"],
  ['5 €', '5, with a unit or a sign beside it'],
  ['1 dozen', '12'],
  ['2 Dtzd.', '24'],
  ['3 gross', undefined],
  ['2 pairs', undefined],
  ['ten', undefined],
  ['0x10', undefined],
  ['1.', undefined],
  ['1.. Stk', undefined],
])('the quantity %j is held, and may mean %s', (text, likely) => {
  expect(likelyQuantity(text)).toBe(likely);
});
