import { expect, it } from 'vitest';
import { encoderFor } from '../../src/report/encode.ts';

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

it.each(['windows-1252', 'iso-8859-1'])('gives every byte of %s back, however a decoder reads it', (encoding) => {
  const encode = encoderFor(encoding);
  expect([...encode(new TextDecoder(encoding).decode(EVERY_BYTE))]).toEqual([...EVERY_BYTE]);
  expect([...encode(Buffer.from(EVERY_BYTE).toString('latin1'))]).toEqual([...EVERY_BYTE]);
});

it.each(['utf-8', 'utf-16le', 'utf-16be'])('writes %s as the platform reads it', (encoding) => {
  const text = 'Bestellung Ä€ 𝒳 \u0000';
  expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(encoderFor(encoding)(text))).toBe(text);
});

it('writes UTF-8 when the encoding is not known', () => {
  expect(Buffer.from(encoderFor(undefined)('Ä')).toString('hex')).toBe('c384');
});

it('puts a question mark, or what the caller says, for what the encoding lacks', () => {
  const encode = encoderFor('windows-1252');
  expect(Buffer.from(encode('Größe 漢𝒳')).toString('latin1')).toBe('Größe ??');
  expect(Buffer.from(encode('漢', () => '<han>')).toString('latin1')).toBe('<han>');
});
