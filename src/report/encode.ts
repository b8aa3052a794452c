import type { FileFormat } from '../order/record.ts';

/** Encodes text; `substitute` replaces a character that the encoding lacks. */
export type Encoder = (text: string, substitute?: (character: string) => string) => Uint8Array;

const QUESTION_MARK = () => '?';

/** The encoding of an answer, and whether it needs a byte order mark that the input may lack. */
export type AnswerEncoding = { encoding: string; needsMark: boolean };

/**
 * The encoding of the answer to an input: the input's own, if it is UTF-8, UTF-16 or a single-byte encoding of the
 * platform; otherwise UTF-8 with a byte order mark, which every spreadsheet reads.
 */
export function answerEncodingOf({ type, encoding = 'utf-8' }: FileFormat): AnswerEncoding {
  const own = encoding.toLowerCase();
  const isOwn = type !== 'xlsx' && type !== 'xml' && (own.startsWith('utf-') || isSingleByte(own));
  return isOwn ? { encoding: own, needsMark: false } : { encoding: 'utf-8', needsMark: true };
}

/** The encoder for an encoding that `answerEncodingOf` returns; UTF-8 for any other name. */
export function encoderFor(encoding: string): Encoder {
  switch (encoding) {
    case 'utf-8':
      return (text) => Buffer.from(text, 'utf8');
    case 'utf-16le':
      return (text) => Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return (text) => Buffer.from(text, 'utf16le').swap16();
    default:
      return isSingleByte(encoding) ? singleByte(encoding) : encoderFor('utf-8');
  }
}

/** The WHATWG Encoding Standard has more decoders than encoders, so an encoder is made from the decoder. */
function singleByte(encoding: string): Encoder {
  const bytes = bytesByCharacter(encoding);
  const ascii = /^[\0-\x7f]*$/;
  return (text, substitute = QUESTION_MARK) => {
    if (ascii.test(text)) return Buffer.from(text, 'latin1');
    const known = Array.from(text, (character) =>
      bytes.has(character) ? character : substitute(character),
    ).join('');
    return Uint8Array.from(known, (character) => bytes.get(character) ?? 0x3f);
  };
}

/** The platform reads ISO-8859-1 as Windows-1252; characters of either come back as their byte. */
function bytesByCharacter(encoding: string): Map<string, number> {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const isLatin = encoding === 'windows-1252' || encoding === 'iso-8859-1';
  const asLatin = Array.from(isLatin ? all : [], (byte): [string, number] => [
    String.fromCharCode(byte),
    byte,
  ]);
  const decoded = Array.from(
    new TextDecoder(encoding).decode(all),
    (character, byte): [string, number] => [character, byte],
  );
  return new Map([...asLatin, ...decoded.filter(([character]) => character !== '\ufffd')]);
}

const MULTI_BYTE = /^(?:utf|gb|big5|euc|shift|iso-2022)/;

function isSingleByte(encoding: string): boolean {
  if (MULTI_BYTE.test(encoding)) return false;
  try {
    return new TextDecoder(encoding).encoding !== 'replacement';
  } catch {
    return false;
  }
}
