import { decoded, singleByteTable } from './code-pages.ts';
import type { Encoding } from './encoding.ts';

/** How a text may be meant whose encoding is only a guess; the commonest first. */
const CANDIDATES: readonly Encoding[] = [
  'windows-1252',
  'cp850',
  'windows-1250',
  'windows-1251',
  'macintosh',
  'shift_jis',
  'gbk',
  'big5',
  'euc-kr',
  'euc-jp',
  'windows-1253',
  'windows-1254',
  'cp852',
  'ibm866',
  'koi8-r',
  'iso-8859-2',
];
const SHOWN = 5;
const BEYOND_ASCII = /[\x80-\uffff]/;
const NOT_TEXT = /[\p{Cc}\p{Co}\p{Cn}\ufffd]/u;

/** Whether a text that was read by a guess depends on that guess. */
export function isUncertain(text: string): boolean {
  return BEYOND_ASCII.test(text);
}

/** The readings of a text that was decoded as Windows-1252 by a guess: `Schräge (cp850) · Schr„ge (windows-1252)`. */
export function readingsOf(text: string): string {
  const bytes = bytesOf(text);
  const readings = new Map<string, Encoding>();
  for (const encoding of CANDIDATES) {
    const reading = decoded(bytes, encoding);
    if (reading !== undefined && !NOT_TEXT.test(reading) && !readings.has(reading)) readings.set(reading, encoding);
  }
  return [...readings]
    .slice(0, SHOWN)
    .map(([reading, encoding]) => `${reading} (${encoding})`)
    .join(' · ');
}

/** The bytes that the guess made this text of. */
function bytesOf(text: string): Uint8Array {
  const table = singleByteTable('windows-1252');
  return Uint8Array.from(text, (character) => {
    const byte = table.indexOf(character);
    return byte >= 0 ? byte : (character.codePointAt(0) ?? 0) & 0xff;
  });
}
