import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import type { Stamp } from '../core/regular-file.ts';
import { isGzip, readStart } from './bytes.ts';
import { decoded, isMultiByte, singleByteTable } from './code-pages.ts';
import { byteOrderMarkOf, type Encoding, looksLikeUtf16 } from './encoding.ts';
import { unreadable } from './unreadable.ts';

/** How to read the content, judged by its beginning. */
export type Sniffed = {
  gzip: boolean;
  encoding: Encoding;
  /** Bytes of the byte order mark. */
  mark: number;
  /** It is read as UTF-8, but neither the mapping nor a mark says so. */
  isAssumed: boolean;
  kind: 'table' | 'json' | 'workbook';
  /** The beginning as text, for finding the delimiter. */
  start: string;
  warnings: string[];
};

const LOOKED_AT = 64 * 1024;

/** Examines the beginning of a file. PoSyncError `unreadable-empty`, or `unreadable-format` for what is not text. */
export async function sniff(handle: FileHandle, stamp: Stamp, mapping: Mapping): Promise<Sniffed> {
  const gzip = await isGzip(handle);
  const bytes = await readStart(handle, stamp, gzip, LOOKED_AT);
  if (bytes.length === 0) throw emptyFile();
  if (isWorkbook(bytes, gzip, mapping)) return WORKBOOK;
  refuseBinary(bytes, mapping);
  refuseZeros(bytes);
  const found = findEncoding(bytes, mapping);
  const start = textOf(bytes, found);
  refuseMarkup(start);
  refuseEscapes(start);
  return { gzip, ...found, kind: kindOf(start, mapping), start };
}

type FoundEncoding = Pick<Sniffed, 'encoding' | 'mark' | 'isAssumed' | 'warnings'>;

function findEncoding(bytes: Buffer, mapping: Mapping): FoundEncoding {
  const named = mapping.encoding === 'auto' ? undefined : mapping.encoding;
  const mark = byteOrderMarkOf(bytes);
  if (mark !== undefined) {
    const isOther = named !== undefined && named !== mark.encoding;
    const warnings = isOther ? [`The byte order mark of the file says ${mark.encoding}, the mapping ${named}.`] : [];
    return { encoding: mark.encoding, mark: mark.bytes, isAssumed: false, warnings };
  }
  if (named !== undefined) return { encoding: named, mark: 0, isAssumed: false, warnings: [] };
  const wide = looksLikeUtf16(bytes);
  if (wide === undefined) return { encoding: 'utf-8', mark: 0, isAssumed: true, warnings: [] };
  return { encoding: wide, mark: 0, isAssumed: false, warnings: [`Read as ${wide}, judging by its bytes.`] };
}

/** The beginning as text: good enough to find the format and the delimiter, whatever it is cut in. */
function textOf(bytes: Buffer, { encoding, mark }: FoundEncoding): string {
  const rest = bytes.subarray(mark);
  switch (encoding) {
    case 'utf-8':
    case 'utf-16le':
    case 'utf-16be':
      return new TextDecoder(encoding, { ignoreBOM: true }).decode(rest);
    default:
      if (isMultiByte(encoding)) return new TextDecoder(encoding).decode(rest);
      return decoded(rest, encoding) ?? Array.from(rest, (byte) => singleByteTable(encoding)[byte] ?? '?').join('');
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
  isAssumed: false,
  kind: 'workbook',
  start: '',
  warnings: [],
};

const ZIP = Buffer.from('PK\x03\x04', 'latin1');

function isWorkbook(bytes: Buffer, gzip: boolean, { format }: Mapping): boolean {
  if (!bytes.subarray(0, ZIP.length).equals(ZIP)) return false;
  if (gzip) {
    const message = 'The gzip file contains an Excel workbook or another zip archive.';
    throw unreadable('format', message, {}, 'Drop the workbook itself: it is compressed already.');
  }
  if (format === 'auto' || format === 'xlsx') return true;
  const message = `The file is an Excel workbook or another zip archive; the mapping says ${format}.`;
  throw unreadable('format', message, { line: 1 }, `Save it as CSV (UTF-8), or set format: xlsx in the mapping.`);
}

/** A file without any content, probably sent by mistake. */
export function emptyFile() {
  const remedy = 'Drop the complete file again.';
  return unreadable('empty', 'The file is empty: it has no header and no orders.', {}, remedy);
}

/** ISO-2022-JP and its kin write letters as ASCII bytes after an escape. */
function refuseEscapes(start: string): void {
  if (!start.includes('\u001b$') && !start.includes('\u001b(')) return;
  const remedy = 'Save the file as UTF-8.';
  throw unreadable('encoding', 'The file switches encodings with escape sequences (ISO-2022).', {}, remedy);
}

/** Space that was reserved for a file before its content arrived. */
function refuseZeros(bytes: Buffer): void {
  if (bytes.length === 0 || bytes.some((byte) => byte !== 0)) return;
  throw unreadable('cut-off', 'The file begins with zeros.', { line: 1 }, 'Drop the complete file again.');
}

/** What a server answers instead of a file, or what some programs call a spreadsheet. */
function refuseMarkup(start: string): void {
  const [, kind] = /^\s*<(!doctype html|html|\?xml)\b/i.exec(start) ?? [];
  if (kind === undefined) return;
  const what = kind === '?xml' ? 'an XML document' : 'a web page';
  const remedy = 'Drop CSV, JSON or XLSX. A server that answers with a page may require other credentials.';
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
