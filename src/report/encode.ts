/** Encodes text; `substitute` replaces a character that the encoding lacks. */
export type Encoder = (text: string, substitute?: (character: string) => string) => Uint8Array;

const QUESTION_MARK = () => '?';

/**
 * The encoder for `format.encoding`; UTF-8 when absent. The single-byte encoders are the inverse of the platform's
 * decoder, which reads ISO-8859-1 as Windows-1252 (WHATWG Encoding, "Names and labels").
 */
export function encoderFor(encoding: string | undefined): Encoder {
  switch (encoding?.toLowerCase() ?? 'utf-8') {
    case 'utf-16le':
      return (text) => Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return (text) => Buffer.from(text, 'utf16le').swap16();
    case 'windows-1252':
    case 'iso-8859-1':
      return singleByte();
    default:
      return (text) => Buffer.from(text, 'utf8');
  }
}

function singleByte(): Encoder {
  const bytes = bytesByCharacter();
  const plain = /^[\0-\x7f]*$/;
  return (text, substitute = QUESTION_MARK) => {
    if (plain.test(text)) return Buffer.from(text, 'latin1');
    const known = Array.from(text, (character) => (bytes.has(character) ? character : substitute(character))).join('');
    return Uint8Array.from(known, (character) => bytes.get(character) ?? 0x3f);
  };
}

function bytesByCharacter(): Map<string, number> {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const asLatin1 = Array.from(all, (byte): [string, number] => [String.fromCharCode(byte), byte]);
  const asWindows = Array.from(new TextDecoder('windows-1252').decode(all), (character, byte): [string, number] => [
    character,
    byte,
  ]);
  return new Map([...asLatin1, ...asWindows]);
}
