import type { ENCODINGS } from '../config/mapping-schema.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { shorten } from '../order/text.ts';
import { isGzip, readBytes } from '../parse/bytes.ts';
import { decodeStart } from '../parse/decoder.ts';

type Encoding = (typeof ENCODINGS)[number];

/** In the order in which they are preferred where several read the same. */
const CANDIDATES: readonly Encoding[] = [
  'windows-1252',
  'windows-1250',
  'iso-8859-2',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-15',
  'cp850',
  'cp852',
  'macintosh',
  'ibm866',
  'koi8-r',
  'windows-1255',
  'windows-1256',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
];

/** Bytes of lines with other characters than ASCII that are compared. */
const SEEN = 64 * 1024;

/** The encoding in which the words of a file look most like words, and some of them; undefined where none fits. */
export async function findEncoding(
  path: string,
): Promise<{ encoding: Encoding; evidence: string } | undefined> {
  const bytes = await otherLines(path);
  const wide = widthOf(bytes);
  let best: { encoding: Encoding; evidence: string; score: number } | undefined;
  for (const encoding of wide === undefined ? CANDIDATES : [wide]) {
    const text = decoded(bytes, encoding);
    if (text === undefined) continue;
    const words = wide === undefined ? wordsIn(text) : [];
    const score = words.reduce((sum, word) => sum + plausibility(word), 0) / (words.length || 1);
    const shown = [...new Set(words)].slice(0, SHOWN).map((word) => `"${shorten(word, 30)}"`);
    const evidence = shown.length > 0 ? shown.join(', ') : 'what it should';
    if (best === undefined || score > best.score + MARGIN) best = { encoding, evidence, score };
  }
  return best;
}

const SHOWN = 4;
/** A rarer encoding must be better by this. */
const MARGIN = 0.1;

/** The lines of a file that have other characters than ASCII, as far as they are compared. */
async function otherLines(path: string): Promise<Buffer> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const lines: Buffer[] = [];
  let size = 0;
  for await (const chunk of readBytes(handle, stamp, { gzip: await isGzip(handle) })) {
    let from = 0;
    while (from < chunk.length && size < SEEN) {
      const end = chunk.indexOf(10, from);
      const line = chunk.subarray(from, end < 0 ? chunk.length : end + 1).subarray(0, SEEN);
      from += Math.max(1, line.length);
      if (!line.some((byte) => byte >= 0x80 || byte === 0)) continue;
      lines.push(Buffer.from(line));
      size += line.length;
    }
    if (size >= SEEN) break;
  }
  return Buffer.concat(lines);
}

function widthOf(bytes: Buffer): Encoding | undefined {
  if (bytes[1] === 0) return 'utf-16le';
  return bytes[0] === 0 ? 'utf-16be' : undefined;
}

function decoded(bytes: Buffer, encoding: Encoding): string | undefined {
  if (encoding.startsWith('cp')) return decodeStart(bytes, encoding);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** Words with other characters than ASCII. */
function wordsIn(text: string): string[] {
  return text.split(/[\0-&(-,./:-@[-`{-\x7f]+/).filter((word) => /[^\0-\x7f]/.test(word));
}

const SCRIPTS = [
  /^\p{scx=Latn}+$/u,
  /^\p{scx=Cyrl}+$/u,
  /^\p{scx=Grek}+$/u,
  /^\p{scx=Hebr}+$/u,
  /^\p{scx=Arab}+$/u,
  /^\p{scx=Hang}+$/u,
  /^[\p{scx=Hira}\p{scx=Kana}\p{scx=Han}]+$/u,
];

/** From -1 to 1, how much a text between spaces looks like a word. */
function plausibility(word: string): number {
  if (/[\p{C}\ufffd]/u.test(word)) return -1;
  const plain = word.replace(/(?<!\p{L})[½¼¾²³¹×±µ]/gu, '');
  if (plain !== word && /^\p{N}*$/u.test(plain)) return 1;
  const letters = plain.replace(/[^\p{L}\p{M}]/gu, '');
  const strange = plain.replace(/[\p{L}\p{M}\p{N}'’–—„“”«»€£§°ª№・ー-]/gu, '');
  if (letters === '') return strange === '' ? 0.5 : -0.2;
  if (strange !== '' || !SCRIPTS.some((script) => script.test(letters))) return -0.6;
  const isCased = /^(?:\p{Lu}?[\p{Ll}\p{M}]*|\p{Lu}+|\p{Lo}+)$/u.test(
    letters.replace(/['’-]/g, ''),
  );
  const isLatin = /^\p{scx=Latn}+$/u.test(letters);
  const accented = letters.replace(/[A-Za-z]/g, '').length;
  // No language of Latin letters has words of accented ones only.
  if (isLatin && accented * 2 > letters.length && letters.length > 2) return -0.6;
  return isCased ? 1 : 0.2;
}
