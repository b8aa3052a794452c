import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import type { Stamp } from '../core/regular-file.ts';
import { isGzip, readStart } from './bytes.ts';
import { createDecoder, type Encoding, fingerprintOf, looksLikeUtf16 } from './encoding.ts';
import { unreadable } from './unreadable.ts';

/** How the content is to be read, as its beginning shows it. */
export type Sniffed = {
  gzip: boolean;
  encoding: Encoding;
  /** Bytes of the byte order mark. */
  mark: number;
  /** Nobody said that it is UTF-8, neither the mapping nor a mark. */
  isGuess: boolean;
  kind: 'table' | 'json' | 'workbook';
  /** The beginning as text, for finding the delimiter. */
  start: string;
  warnings: string[];
};

const LOOKED_AT = 64 * 1024;

/** Looks at the beginning of a file. PoSyncError `unreadable-format` for what is no text at all. */
export async function sniff(handle: FileHandle, stamp: Stamp, mapping: Mapping): Promise<Sniffed> {
  const gzip = await isGzip(handle);
  const bytes = await readStart(handle, stamp, gzip, LOOKED_AT);
  if (isWorkbook(bytes, gzip, mapping)) return WORKBOOK;
  refuseBinary(bytes, mapping);
  refuseZeros(bytes);
  const found = findEncoding(bytes, mapping);
  const start = textOf(bytes, found);
  refuseMarkup(start);
  return { gzip, ...found, kind: kindOf(start, mapping), start };
}

type FoundEncoding = Pick<Sniffed, 'encoding' | 'mark' | 'isGuess' | 'warnings'>;

function findEncoding(bytes: Buffer, mapping: Mapping): FoundEncoding {
  const said = mapping.encoding === 'auto' ? undefined : mapping.encoding;
  const mark = fingerprintOf(bytes);
  if (mark !== undefined) {
    const isOther = said !== undefined && said !== mark.encoding;
    const warnings = isOther ? [`The file's byte order mark says ${mark.encoding}, the mapping says ${said}.`] : [];
    return { encoding: mark.encoding, mark: mark.bytes, isGuess: false, warnings };
  }
  if (said !== undefined) return { encoding: said, mark: 0, isGuess: false, warnings: [] };
  const wide = looksLikeUtf16(bytes);
  if (wide === undefined) return { encoding: 'utf-8', mark: 0, isGuess: true, warnings: [] };
  return { encoding: wide, mark: 0, isGuess: false, warnings: [`Read as ${wide}, by the look of its bytes.`] };
}

function textOf(bytes: Buffer, { encoding, mark }: FoundEncoding): string {
  const rest = bytes.subarray(mark);
  switch (encoding) {
    case 'utf-8':
      return rest.toString('utf8');
    case 'utf-16le':
      return rest.toString('utf16le');
    case 'utf-16be':
      return rest
        .subarray(0, rest.length & ~1)
        .swap16()
        .toString('utf16le');
    case 'windows-1252':
    case 'iso-8859-1':
      return createDecoder('iso-8859-1', 0).write(rest).toString();
  }
}

function kindOf(start: string, mapping: Mapping): 'table' | 'json' {
  switch (mapping.format) {
    case 'csv':
      return 'table';
    case 'json':
    case 'ndjson':
      return 'json';
    case 'xlsx':
    case 'auto':
      return /^\s*[[{]/.test(start) ? 'json' : 'table';
  }
}

const WORKBOOK: Sniffed = {
  gzip: false,
  encoding: 'utf-8',
  mark: 0,
  isGuess: false,
  kind: 'workbook',
  start: '',
  warnings: [],
};

const ZIP = Buffer.from('PK\x03\x04', 'latin1');

function isWorkbook(bytes: Buffer, gzip: boolean, { format }: Mapping): boolean {
  if (!bytes.subarray(0, ZIP.length).equals(ZIP)) return false;
  if (gzip) {
    const message = 'The gzip file holds an Excel workbook or another zip archive.';
    throw unreadable('format', message, {}, 'Drop the workbook itself: it is compressed already.');
  }
  if (format === 'auto' || format === 'xlsx') return true;
  const message = `The file is an Excel workbook or another zip archive; the mapping says ${format}.`;
  throw unreadable('format', message, { line: 1 }, `Save it as CSV (UTF-8), or set format: xlsx in the mapping.`);
}

/** Room that was made for a file before its content came. */
function refuseZeros(bytes: Buffer): void {
  if (bytes.length === 0 || bytes.some((byte) => byte !== 0)) return;
  throw unreadable('cut-off', 'The file begins with zeros.', { line: 1 }, 'Drop the whole file once more.');
}

/** What a server answers instead of a file, and what some programs call a spreadsheet. */
function refuseMarkup(start: string): void {
  const [, kind] = /^\s*<(!doctype html|html|\?xml)\b/i.exec(start) ?? [];
  if (kind === undefined) return;
  const what = kind === '?xml' ? 'an XML document' : 'a web page';
  const remedy = 'Drop CSV, JSON or XLSX. A server that answers with a page may want other credentials.';
  throw unreadable('format', `The file is ${what}.`, { line: 1 }, remedy);
}

const BINARY: [name: string, signature: Buffer][] = [
  ['an old Excel workbook (.xls), or one that is protected by a password', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['a PDF document', Buffer.from('%PDF')],
];

function refuseBinary(bytes: Buffer, mapping: Mapping): void {
  const known = BINARY.find(([, signature]) => bytes.subarray(0, signature.length).equals(signature));
  const remedy = 'Save it as .xlsx without a password or as CSV (UTF-8), or drop JSON.';
  if (known !== undefined) throw unreadable('format', `The file is ${known[0]}.`, { line: 1 }, remedy);
  if (mapping.format === 'xlsx') throw unreadable('format', 'The file is not an Excel workbook.', { line: 1 });
}
