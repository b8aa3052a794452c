import iconv from 'iconv-lite';
import type { FileFormat } from '../order/record.ts';

/** The encoding of an answer, and whether it needs a byte order mark that the input may lack. */
export type AnswerEncoding = { encoding: string; needsMark: boolean };

/** The encoding of the answer to an input: its own, or UTF-8 with a byte order mark, which every spreadsheet reads. */
export function answerEncodingOf({ type, encoding = 'utf-8' }: FileFormat): AnswerEncoding {
  const isOwn = type !== 'xlsx' && type !== 'xml' && iconv.encodingExists(encoding);
  return isOwn ? { encoding, needsMark: false } : { encoding: 'utf-8', needsMark: true };
}

/** A text in an encoding; a character that this lacks becomes a question mark. */
export function encode(text: string, encoding: string): Uint8Array {
  // The platform reads ISO-8859-1 as Windows-1252.
  return iconv.encode(text, encoding === 'iso-8859-1' ? 'windows-1252' : encoding);
}
