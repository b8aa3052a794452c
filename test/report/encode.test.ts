import { expect, it } from 'vitest';
import { answerEncodingOf, encoderFor } from '../../src/report/encode.ts';

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

it.each(['windows-1252', 'iso-8859-1'])(
  'every byte of %s survives decoding and encoding',
  (encoding) => {
    const encode = encoderFor(encoding);
    expect([...encode(new TextDecoder(encoding).decode(EVERY_BYTE))]).toEqual([...EVERY_BYTE]);
    expect([...encode(Buffer.from(EVERY_BYTE).toString('latin1'))]).toEqual([...EVERY_BYTE]);
  },
);

it.each(['utf-8', 'utf-16le', 'utf-16be'])('%s is written as the platform reads it', (encoding) => {
  const text = 'Bestellung Ä€ 𝒳 \u0000';
  expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(encoderFor(encoding)(text))).toBe(
    text,
  );
});

it.each(['windows-1251', 'iso-8859-2', 'koi8-r', 'macintosh', 'ibm866'])(
  '%s is kept in an answer',
  (encoding) => {
    expect(answerEncodingOf({ type: 'csv', encoding })).toEqual({ encoding, needsMark: false });
    const text = new TextDecoder(encoding).decode(EVERY_BYTE);
    expect([...encoderFor(encoding)(text)]).toEqual([...EVERY_BYTE]);
  },
);

it.each(['shift_jis', 'gbk', 'gb18030', 'big5', 'euc-jp', 'euc-kr', 'cp850', 'cp437'])(
  'the answer to %s input is UTF-8 with a byte order mark',
  (encoding) => {
    expect(answerEncodingOf({ type: 'csv', encoding })).toEqual({
      encoding: 'utf-8',
      needsMark: true,
    });
  },
);

it('an unknown encoding is written as UTF-8', () => {
  expect(answerEncodingOf({ type: 'csv' })).toEqual({ encoding: 'utf-8', needsMark: false });
  expect(Buffer.from(encoderFor('no-such')('Ä')).toString('hex')).toBe('c384');
});

it('a character that the encoding lacks becomes a question mark or the substitute', () => {
  const encode = encoderFor('windows-1252');
  expect(Buffer.from(encode('Größe 漢𝒳')).toString('latin1')).toBe('Größe ??');
  expect(Buffer.from(encode('漢', () => '<han>')).toString('latin1')).toBe('<han>');
});
