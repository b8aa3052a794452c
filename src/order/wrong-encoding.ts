import { isUtf8 } from 'node:buffer';

/** What files contain. Other letters are a coincidence: `€é` would be an Arabic one. */
const EXPECTED =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Mn}\u0000-\u00bf\u2000-\u20bf]*$/u;
/** The usual ones of them: `PÓŁKA` in windows-1250 would have a rare Cyrillic letter. */
const USUAL = /^[\u0000-\u007f\u00a0-\u017f\u0391-\u03c9\u0401\u0410-\u044f\u0451\u2010-\u20ac]*$/;
/** `Ã¤` for `ä`: the bytes of UTF-8, read in one of these encodings, and what they must have been. */
const MISREADINGS = [
  ...['windows-1252', 'windows-1251', 'macintosh', 'iso-8859-1'].map((encoding) => ({
    encoding,
    expected: EXPECTED,
  })),
  ...[
    'windows-1250',
    'windows-1253',
    'windows-1257',
    'windows-1258',
    'iso-8859-2',
    'iso-8859-7',
    'iso-8859-13',
  ].map((encoding) => ({ encoding, expected: USUAL })),
];
const bytesIn = new Map<string, ReadonlyMap<string, number>>();

/** The text that one was before it was read in a wrong encoding; undefined when nothing shows that. */
export function wrongEncoding(text: string): { reading: string; why: string } | undefined {
  if (/^[ -~]*$/.test(text)) return undefined;
  if (/[\u2500-\u259f]/.test(text))
    return { reading: 'other letters', why: 'it contains line-drawing characters' };
  for (const { encoding, expected } of MISREADINGS) {
    const table = tableOf(encoding);
    const bytes = Array.from(text, (character) => table.get(character));
    if (bytes.some((byte) => byte === undefined)) continue;
    const all = Buffer.from(bytes.map(Number));
    if (isUtf8(all) && expected.test(all.toString()))
      return {
        reading: JSON.stringify(all.toString()),
        why: `its letters are UTF-8 that was read as ${encoding}`,
      };
  }
  return undefined;
}

/** What to do about a text that was read in a wrong encoding; undefined when nothing shows that. */
export function encodingRemedy(text: string): string | undefined {
  const found = wrongEncoding(text);
  return (
    found &&
    `${found.why}: enter ${found.reading}, or ask your operator to correct encoding in the mapping of the source`
  );
}

function tableOf(encoding: string): ReadonlyMap<string, number> {
  const known = bytesIn.get(encoding);
  if (known) return known;
  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  // For TextDecoder, iso-8859-1 is another name of windows-1252.
  const characters =
    encoding === 'iso-8859-1' ? bytes.toString('latin1') : new TextDecoder(encoding).decode(bytes);
  const table = new Map(Array.from(characters, (character, byte) => [character, byte]));
  bytesIn.set(encoding, table);
  return table;
}
