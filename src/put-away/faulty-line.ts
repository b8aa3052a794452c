import { TextDecoder } from 'node:util';
import { openRegularFile } from '../core/regular-file.ts';

/** Characters of a line that are shown, and how many of them are before the place. */
const SHOWN = 160;
const BEFORE = 60;
/** Maximum bytes that are searched for the line: the text is a courtesy. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Where a file could not be read: both count from 1, the column in characters. */
type Place = { line: number; column?: number };

/**
 * The text of the line that an error names, cut around its column; undefined for compressed files and workbooks, and when
 * the line is empty, too far into the file or no longer there.
 */
export async function faultyLine(
  path: string,
  { line, column = 1 }: Place,
): Promise<string | undefined> {
  await using file = await openRegularFile(path);
  const head = (await file.read(Buffer.alloc(4), 0, 4, 0)).buffer;
  const encoding = encodingOf(head);
  if (encoding === undefined) return undefined;
  const decoder = new TextDecoder(encoding);
  const from = Math.max(0, column - 1 - BEFORE);
  let at = 1;
  let text = '';
  let isAfterReturn = false;
  for await (const chunk of file.createReadStream({
    start: 0,
    end: MOST_BYTES,
    autoClose: false,
  })) {
    for (const piece of decoder.decode(chunk as Buffer, { stream: true }).split(/(\r\n|\r|\n)/)) {
      const isEnd = /^[\r\n]/.test(piece);
      // A line end may be cut between two chunks.
      if (isEnd && !(isAfterReturn && piece === '\n')) at += 1;
      if (piece !== '') isAfterReturn = piece === '\r';
      if (at > line) return shown(text, from);
      if (at === line && !isEnd && text.length <= from + SHOWN) text += piece;
    }
  }
  return at === line ? shown(text, from) : undefined;
}

/** By the first bytes; what is neither compressed nor UTF-16 is shown as UTF-8. */
function encodingOf([a, b, c]: Buffer): string | undefined {
  if ((a === 0x1f && b === 0x8b) || (a === 0x50 && b === 0x4b && c === 0x03)) return undefined;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : 'utf-8';
}

/** Characters that a text does not have, but a binary file such as an old workbook does. */
const BINARY = /[\0-\x08\x0e-\x1f].*\ufffd|\ufffd.*[\0-\x08\x0e-\x1f]/s;

function shown(line: string, from: number): string | undefined {
  const text = line.slice(from, from + SHOWN).toWellFormed();
  if (text.trim() === '' || BINARY.test(text)) return undefined;
  return `${from > 0 ? '…' : ''}${text}${line.length > from + SHOWN ? '…' : ''}`;
}
