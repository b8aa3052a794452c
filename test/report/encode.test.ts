import { expect, it } from 'vitest';
import { ENCODINGS } from '../../src/config/mapping-schema.ts';
import { createDecoder } from '../../src/parse/decoder.ts';
import { answerEncodingOf, encode } from '../../src/report/encode.ts';

it.each(ENCODINGS)('the answer to %s input is read as the input is', (input) => {
  const { encoding, needsMark } = answerEncodingOf({ type: 'csv', encoding: input });
  expect(encoding).toBe(input === 'x-mac-cyrillic' ? 'utf-8' : input);
  expect(needsMark).toBe(encoding !== input);
  const decoder = createDecoder(encoding, 0);
  const bytes = [decoder.write(Buffer.from(encode('Bestellung;"7"', encoding))), decoder.end()];
  expect(Buffer.concat(bytes).toString()).toBe('Bestellung;"7"');
});

it('a character that the encoding lacks becomes a question mark', () => {
  expect(Buffer.from(encode('Größe € 漢', 'iso-8859-1')).toString('latin1')).toBe('Größe \x80 ?');
});

it('the answer to a workbook is UTF-8 with a byte order mark', () => {
  expect(answerEncodingOf({ type: 'xlsx' })).toEqual({ encoding: 'utf-8', needsMark: true });
});
