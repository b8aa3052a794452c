import { isAscii } from 'node:buffer';
import { LIMITS } from '../order/limits.ts';
import { type Encoding, EncodingFault } from './encoding.ts';

/** The characters of the bytes 0x80 to 0xFF in the DOS code pages (unicode.org, MAPPINGS/VENDORS/MICSFT/PC). */
const DOS: Readonly<Record<string, string>> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
};

const UNDEFINED = '';
const tables = new Map<Encoding, readonly string[]>();

/** The character of each byte in a single-byte encoding; "" for a byte that has none. */
export function singleByteTable(encoding: Encoding): readonly string[] {
  const known = tables.get(encoding);
  if (known) return known;
  const table = Array.from({ length: 256 }, (_, byte) => characterOf(byte, encoding));
  tables.set(encoding, table);
  return table;
}

function characterOf(byte: number, encoding: Encoding): string {
  if (byte < 0x80 || encoding === 'iso-8859-1') return String.fromCharCode(byte);
  if (encoding === 'cp858' && byte === 0xd5) return '€';
  const dos = DOS[encoding === 'cp858' ? 'cp850' : encoding];
  if (dos !== undefined) return dos[byte - 0x80] ?? UNDEFINED;
  const character = new TextDecoder(encoding).decode(Uint8Array.of(byte));
  const isControl = !encoding.startsWith('iso-') && character >= '\x80' && character <= '\x9f';
  return isControl || character === '\ufffd' ? UNDEFINED : character;
}

/** Decodes one byte at a time. A guess gives undefined bytes the control character of their value. */
export function createSingleByteDecoder(encoding: Encoding, isGuess: boolean) {
  const table = singleByteTable(encoding).map((character, byte) =>
    character === UNDEFINED && isGuess ? String.fromCharCode(byte) : character,
  );
  let offset = 0;
  return {
    write(chunk: Buffer): Buffer {
      if (isAscii(chunk)) {
        offset += chunk.length;
        return Buffer.from(chunk);
      }
      const text = chunk.toString('latin1').replace(/[\x80-\xff]/g, (byte, at: number) => {
        const character = table[byte.charCodeAt(0)] ?? UNDEFINED;
        if (character === UNDEFINED) throw new EncodingFault(encoding, offset + at);
        return character;
      });
      offset += chunk.length;
      return Buffer.from(text);
    },
    end: () => Buffer.alloc(0),
  };
}

const MULTI_BYTE = ['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'] as const;

/** Whether some characters of an encoding take several bytes, among them bytes of ASCII letters. */
export function isMultiByte(encoding: Encoding): encoding is (typeof MULTI_BYTE)[number] {
  return MULTI_BYTE.some((one) => one === encoding);
}

/** The encoding that a fix file is written in, if it is not Unicode. */
export function fixEncodingIn({ encoding }: { encoding: Encoding | 'auto' }): Encoding | undefined {
  const isOwn =
    encoding !== 'auto' &&
    !encoding.startsWith('utf-') &&
    !encoding.startsWith('cp') &&
    !isMultiByte(encoding);
  return isOwn ? encoding : undefined;
}

/** Whether each character of an encoding is one byte. */
export function isSingleByte(encoding: Encoding): boolean {
  return !isMultiByte(encoding) && !encoding.startsWith('utf-');
}

/** No multi-byte encoding has a byte below this within a character. */
const LOWEST_WITHIN = 0x30;

/** Decodes from one certain character boundary to the next, so that the place of a fault is known. */
export function createMultiByteDecoder(encoding: Encoding) {
  let offset = 0;
  let rest = Buffer.alloc(0);

  function decode(bytes: Buffer): Buffer {
    const text = decoded(bytes, encoding);
    if (text === undefined) throw new EncodingFault(encoding, offset + firstFault(bytes, encoding));
    offset += bytes.length;
    return Buffer.from(text);
  }

  return {
    write(chunk: Buffer): Buffer {
      const all = Buffer.concat([rest, chunk]);
      const end = all.findLastIndex((byte) => byte < LOWEST_WITHIN) + 1;
      rest = Buffer.from(all.subarray(end));
      if (rest.length > LIMITS.recordBytes) throw new EncodingFault(encoding, offset + end);
      return decode(all.subarray(0, end));
    },
    end: () => decode(rest),
  };
}

/** The text of bytes in any encoding; undefined when they are not of that encoding. */
export function decoded(bytes: Uint8Array, encoding: Encoding): string | undefined {
  if (isSingleByte(encoding)) {
    const table = singleByteTable(encoding);
    const characters = Array.from(bytes, (byte) => table[byte] ?? UNDEFINED);
    return characters.includes(UNDEFINED) ? undefined : characters.join('');
  }
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The start of the last character of the longest valid prefix of `bytes`. */
function firstFault(bytes: Uint8Array, encoding: Encoding): number {
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (startsWell(bytes.subarray(0, middle), encoding)) good = middle;
    else bad = middle;
  }
  return good;
}

function startsWell(bytes: Uint8Array, encoding: Encoding): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** What a text can mean if its encoding is only a guess; the commonest first. */
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

/**
 * The readings of a text that was decoded as Windows-1252 by a guess: `Schräge (cp850) · Schr„ge (windows-1252)`. With an
 * encoding that the mapping sets, the text was decoded as UTF-8 instead, and these two are the readings.
 */
export function readingsOf(text: string, named: Encoding | 'auto' = 'auto'): string {
  if (named === 'auto') return readingsOfBytes(bytesOf(text));
  const other = decoded(Buffer.from(text), named);
  return `${text} (utf-8)${other === undefined ? '' : ` · ${other} (${named})`}`;
}

/** The readings of bytes whose encoding is not known. */
export function readingsOfBytes(bytes: Uint8Array): string {
  const readings = new Map<string, Encoding>();
  for (const encoding of CANDIDATES) {
    const reading = decoded(bytes, encoding);
    if (reading !== undefined && !NOT_TEXT.test(reading) && !readings.has(reading))
      readings.set(reading, encoding);
  }
  return [...readings]
    .slice(0, SHOWN)
    .map(([reading, encoding]) => `${reading} (${encoding})`)
    .join(' · ');
}

/** The bytes that the guess decoded to this text. */
function bytesOf(text: string): Uint8Array {
  const table = singleByteTable('windows-1252');
  return Uint8Array.from(text, (character) => {
    const byte = table.indexOf(character);
    return byte >= 0 ? byte : (character.codePointAt(0) ?? 0) & 0xff;
  });
}
