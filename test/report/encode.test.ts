import { expect, it } from 'vitest';
import { encoderFor } from '../../src/report/encode.ts';

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

it.each(['windows-1252', 'iso-8859-1'])('every byte of %s survives decoding and encoding', (encoding) => {
  const encode = encoderFor(encoding);
  expect([...encode(new TextDecoder(encoding).decode(EVERY_BYTE))]).toEqual([...EVERY_BYTE]);
  expect([...encode(Buffer.from(EVERY_BYTE).toString('latin1'))]).toEqual([...EVERY_BYTE]);
});

it.each(['utf-8', 'utf-16le', 'utf-16be'])('%s is written as the platform reads it', (encoding) => {
  const text = 'Bestellung Ä€ 𝒳 \u0000';
  expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(encoderFor(encoding)(text))).toBe(text);
});

it('an unknown encoding is written as UTF-8', () => {
  expect(Buffer.from(encoderFor(undefined)('Ä')).toString('hex')).toBe('c384');
});

it('a character that the encoding lacks becomes a question mark or the substitute', () => {
  const encode = encoderFor('windows-1252');
  expect(Buffer.from(encode('Größe 漢𝒳')).toString('latin1')).toBe('Größe ??');
  expect(Buffer.from(encode('漢', () => '<han>')).toString('latin1')).toBe('<han>');
});
