import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import type { Stamp } from '../core/regular-file.ts';
import { isGzip, readStart } from './bytes.ts';
import { decoded, isMultiByte, singleByteTable } from './code-pages.ts';
import { byteOrderMarkOf, type Encoding, encodingNamed, looksLikeUtf16 } from './encoding.ts';
import { emptyFile, unreadable } from './unreadable.ts';

/** How to read the content, judged by its beginning. */
export type Sniffed = {
  gzip: boolean;
  encoding: Encoding;
  /** Bytes of the byte order mark. */
  mark: number;
  /** It is read as UTF-8, but neither the mapping nor a mark says so. */
  isAssumed: boolean;
  /** Nothing but the XML declaration says it. */
  isDeclared?: true;
  /** It is a zip archive, so probably a workbook. */
  isArchive: boolean;
  /** The beginning as text, for finding the format and the delimiter. */
  start: string;
  warnings: string[];
};

const LOOKED_AT = 64 * 1024;

/** Examines the beginning of a file. PoSyncError `unreadable-empty`, or `unreadable-format` for what is not text. */
export async function sniff(handle: FileHandle, stamp: Stamp, mapping: Mapping): Promise<Sniffed> {
  const gzip = await isGzip(handle);
  const bytes = await readStart(handle, stamp, gzip, LOOKED_AT);
  if (bytes.length === 0) throw emptyFile();
  if (isArchive(bytes, gzip)) return ARCHIVE;
  refuseBinary(bytes);
  refuseZeros(bytes);
  const found = findEncoding(bytes, mapping);
  const start = textOf(bytes, found);
  refuseMarkup(start);
  refuseEscapes(start);
  refuseWrapped(start);
  return { gzip, ...found, isArchive: false, start };
}

type FoundEncoding = Pick<Sniffed, 'encoding' | 'mark' | 'isAssumed' | 'isDeclared' | 'warnings'>;

function findEncoding(bytes: Buffer, mapping: Mapping): FoundEncoding {
  const named = mapping.encoding === 'auto' ? undefined : mapping.encoding;
  const mark = byteOrderMarkOf(bytes);
  if (mark !== undefined) {
    const isOther = named !== undefined && named !== mark.encoding;
    const warnings = isOther
      ? [
          `The file has the byte order mark of ${mark.encoding}, but the mapping sets encoding: ${named}.`,
        ]
      : [];
    return { encoding: mark.encoding, mark: mark.bytes, isAssumed: false, warnings };
  }
  if (named !== undefined) return { encoding: named, mark: 0, isAssumed: false, warnings: [] };
  const wide = looksLikeUtf16(bytes);
  if (wide === undefined)
    return declaredEncoding(bytes) ?? { encoding: 'utf-8', mark: 0, isAssumed: true, warnings: [] };
  return {
    encoding: wide,
    mark: 0,
    isAssumed: false,
    warnings: [`Read as ${wide}, judging by its bytes.`],
  };
}

/** The encoding that an XML declaration names. PoSyncError `unreadable-encoding` for one that is not supported. */
function declaredEncoding(bytes: Buffer): FoundEncoding | undefined {
  const declaration = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']{1,40})["']/.exec(
    bytes.toString('latin1', 0, 300),
  );
  const name = declaration?.[1];
  if (name === undefined) return undefined;
  const encoding = encodingNamed(name);
  // Text in 16 bits would not show the declaration as ASCII: some programs declare what the text was in memory.
  if (encoding?.startsWith('utf-16')) return undefined;
  if (encoding !== undefined)
    return { encoding, mark: 0, isAssumed: false, isDeclared: true, warnings: [] };
  const message = `The XML declares the encoding ${JSON.stringify(name)}, which is not supported.`;
  throw unreadable(
    'encoding',
    message,
    { line: 1, value: name },
    'Save the file as UTF-8. For your operator: or set encoding in the mapping.',
  );
}

/** The beginning as text: good enough to find the format and the delimiter, wherever it is cut. */
function textOf(bytes: Buffer, { encoding, mark }: FoundEncoding): string {
  const rest = bytes.subarray(mark);
  switch (encoding) {
    case 'utf-8':
    case 'utf-16le':
    case 'utf-16be':
      return new TextDecoder(encoding, { ignoreBOM: true }).decode(rest);
    default:
      if (isMultiByte(encoding)) return new TextDecoder(encoding).decode(rest);
      return (
        decoded(rest, encoding) ??
        Array.from(rest, (byte) => singleByteTable(encoding)[byte] ?? '?').join('')
      );
  }
}

const ZIP = Buffer.from('PK\x03\x04', 'latin1');

const ARCHIVE: Sniffed = {
  gzip: false,
  encoding: 'utf-8',
  mark: 0,
  isAssumed: false,
  isArchive: true,
  start: ZIP.toString('latin1'),
  warnings: [],
};

function isArchive(bytes: Buffer, gzip: boolean): boolean {
  if (!bytes.subarray(0, ZIP.length).equals(ZIP)) return false;
  if (!gzip) return true;
  const message = 'The gzip file contains an Excel workbook or another zip archive.';
  throw unreadable('format', message, {}, 'Drop the workbook itself: it is compressed already.');
}

/** ISO-2022-JP and related encodings write letters as ASCII bytes after an escape. */
function refuseEscapes(start: string): void {
  if (!start.includes('\u001b$') && !start.includes('\u001b(')) return;
  const remedy = 'Save the file as UTF-8.';
  throw unreadable(
    'encoding',
    'The file switches encodings with escape sequences (ISO-2022).',
    {},
    remedy,
  );
}

/** Space that was reserved for a file before its content arrived. */
function refuseZeros(bytes: Buffer): void {
  if (bytes.length === 0 || bytes.some((byte) => byte !== 0)) return;
  throw unreadable(
    'cut-off',
    'The file begins with zeros.',
    { line: 1 },
    'Drop the complete file again.',
  );
}

/** What a server answers instead of a file, or what some programs call a spreadsheet. */
function refuseMarkup(start: string): void {
  if (/^\s*<\?xml[^>]*>\s*<\?mso-application[^>]*Excel/i.test(start))
    throw unreadable('format', 'The file is an XML workbook of Excel 2003.', { line: 1 }, SAVE);
  if (/^\s*<\?xml[^>]*>\s*<office:document\b/i.test(start))
    throw unreadable('format', 'The file is an OpenDocument file (.fods).', { line: 1 }, SAVE);
  if (!/^\s*<(?:!doctype html|html|head|body|table|meta)\b/i.test(start)) return;
  const remedy =
    'Some programs save a web page as a workbook. Open it and save it as .xlsx or CSV (UTF-8). A server that answers with a page may require other credentials.';
  throw unreadable('format', 'The file is a web page.', { line: 1 }, remedy);
}

const SAVE = 'Save it as .xlsx without a password or as CSV (UTF-8), or drop JSON or XML.';
const ASK =
  'Get the orders as a spreadsheet (.xlsx) or as CSV (UTF-8) from the sender of the file, or type them into one.';
const UNPACK = 'Unpack it and drop the files in it, or pack each as gzip.';

/** What files of other kinds begin with, in hexadecimal. */
const BINARY: readonly [name: string, signature: string, remedy: string][] = [
  [
    'an old Excel workbook (.xls), or one that is protected by a password',
    'd0cf11e0a1b11ae1',
    SAVE,
  ],
  ['a PDF document', '25504446', ASK],
  ['a text document (RTF)', '7b5c727466', ASK],
  ['an image', '89504e47', ASK],
  ['an image', 'ffd8ff', ASK],
  ['an image', '474946383961', ASK],
  ['a Parquet file', '5041523115', ASK],
  ['an SQLite database', '53514c69746520666f726d6174203300', ASK],
  ['a 7-Zip archive', '377abcaf271c', UNPACK],
  ['a RAR archive', '526172211a07', UNPACK],
  ['compressed with bzip2', '425a683931415926', UNPACK],
  ['compressed with xz', 'fd377a585a00', UNPACK],
  ['compressed with Zstandard', '28b52ffd', UNPACK],
];

function refuseBinary(bytes: Buffer): void {
  const start = bytes.toString('hex', 0, 16);
  const known = BINARY.find(([, signature]) => start.startsWith(signature));
  if (known !== undefined) throw unreadable('format', `The file is ${known[0]}.`, {}, known[2]);
  if (
    !/^(?:0000feff|fffe0000|(?:[^0].|.[^0])000000(?:[^0].|.[^0])000000|000000(?:[^0].|.[^0])000000)/.test(
      start,
    )
  )
    return;
  throw unreadable('encoding', 'The file is UTF-32.', { line: 1 }, 'Save it as UTF-8.');
}

/** Data in another program's text, or a message with an attachment, which would be read as a table with one column. */
const WRAPPED: readonly [what: string, start: RegExp, remedy: string][] = [
  [
    'JSON within a string, in quotes and with backslashes',
    /^\s*"\s*[[{]\s*(?:\\|\{)/,
    'Have its program write the JSON itself, not JSON within a string.',
  ],
  [
    'an e-mail message',
    /^(?:[A-Za-z][\w-]*:[ \t][^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:MIME-Version|Received|Content-Type):[ \t]/i,
    'Save its attachment, and drop that.',
  ],
  [
    'JSON text sequences (RFC 7464): a record separator (U+001E) is before each value',
    /^\s*\u001e/,
    'Have its program write one value per line (NDJSON) or one array.',
  ],
  [
    "JSON behind a prefix for web pages, such as )]}' or while(1);",
    /^\s*(?:\)\]\}'?,?|(?:while|for) ?\( ?(?:1|true|;;) ?\) ?;|throw 1 ?;|\{\} ?&&)/,
    'Have its program write the JSON alone, or remove what is before its first bracket.',
  ],
  [
    'a script that calls a function with JSON (JSONP)',
    /^\s*(?:\/\*\*\/\s*)?(?:typeof [\w$.]+ ?===? ?'function' ?&& ?)?[A-Za-z_$][\w$.]* ?\(\s*(?:\[\s*[[{"\]]|\{\s*["}])/,
    'Ask for the JSON without a callback, or remove what is around it.',
  ],
  [
    'a script',
    /^\s*(?:(?:\/\/[^\n]*\n|\/\*[^*]*\*\/)\s*)*(?:\/[/*][^{]*|[\w$. ]+(?:=|\()\s*)\[?\s*\{\s*"/,
    'Remove what is around the JSON: comments, names and brackets.',
  ],
];

function refuseWrapped(start: string): void {
  const known = WRAPPED.find(([, pattern]) => pattern.test(start));
  if (known !== undefined) throw unreadable('format', `The file is ${known[0]}.`, {}, known[2]);
}
