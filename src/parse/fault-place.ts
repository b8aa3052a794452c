import { isAscii } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import type { Mapping } from '../config/config.ts';
import type { PoSyncError } from '../core/errors.ts';
import type { Stamp } from '../core/regular-file.ts';
import { shorten } from '../order/text.ts';
import { readBytes } from './bytes.ts';
import { isUncertain, readingsOfBytes } from './code-pages.ts';
import type { Columns } from './columns.ts';
import { csvFormat } from './csv/csv-format.ts';
import { readContent } from './decoder.ts';
import {
  type Encoding,
  EncodingFault,
  hasUtf8Letters,
  type Utf8Evidence,
  valueAround,
} from './encoding.ts';
import type { OpenFile, RecordPage } from './format.ts';
import type { Reading } from './inspection.ts';
import type { Sniffed } from './sniff.ts';
import { unreadable } from './unreadable.ts';

/**
 * Whether content that is not UTF-8 at one byte is not UTF-8 anywhere: it has no valid UTF-8 character beyond ASCII, and
 * does not just end within one.
 */
export async function isSingleByteText(
  handle: FileHandle,
  stamp: Stamp,
  gzip: boolean,
  fault: EncodingFault,
): Promise<boolean> {
  let bytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of readBytes(handle, stamp, { gzip })) {
    const joined = Buffer.concat([tail, chunk]);
    if (hasUtf8Letters(joined)) return false;
    tail = joined.subarray(-3);
    bytes += chunk.length;
  }
  return !isCutOff(tail, bytes - fault.byte);
}

/** The last bytes begin a character of several bytes, and nothing follows. */
function isCutOff(tail: Buffer, left: number): boolean {
  const [first = 0, second = 0x80, third = 0x80] = tail.subarray(-left);
  const expected = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  return left < expected && left <= 3 && (second & 0xc0) === 0x80 && (third & 0xc0) === 0x80;
}

/**
 * Some programs save XML in UTF-8 and leave the declaration as it was. PoSyncError `unreadable-encoding` if a file that
 * declares another encoding is UTF-8 throughout and has letters that show it.
 */
export async function refuseFalseDeclaration(
  handle: FileHandle,
  stamp: Stamp,
  { gzip, encoding }: { gzip: boolean; encoding: Encoding },
): Promise<void> {
  if (encoding === 'utf-8' || (await utf8LettersIn(handle, stamp, gzip)) === 0) return;
  const message = `The XML declares ${encoding}, but its content is UTF-8.`;
  throw unreadable(
    'encoding',
    message,
    { line: 1, encoding },
    'Correct the declaration. For your operator: or set encoding in the mapping.',
  );
}

/** How many different letters beyond ASCII content has that is UTF-8 throughout, counted to three; 0 for any other. */
async function utf8LettersIn(handle: FileHandle, stamp: Stamp, gzip: boolean): Promise<number> {
  const letters = new Set<string>();
  try {
    const content = readContent(handle, stamp, {
      encoding: 'utf-8',
      mark: 0,
      isGuess: false,
      gzip,
    });
    for await (const chunk of content) {
      if (letters.size >= ENOUGH || isAscii(chunk)) continue;
      for (const [letter] of chunk.toString().matchAll(/[^\0-\x7f]/gu))
        if (letters.add(letter).size >= ENOUGH) break;
    }
  } catch (error) {
    if (error instanceof EncodingFault) return 0;
    throw error;
  }
  return letters.size;
}

const ENOUGH = 3;

/**
 * JSON is UTF-8 (RFC 8259), so an encoding of the mapping for the other files of a source does not apply to it. Three
 * different letters prove UTF-8; fewer can be another encoding by chance, and `isGuess` holds orders with them.
 */
export async function asJson(
  handle: FileHandle,
  stamp: Stamp,
  sniffed: Sniffed,
): Promise<Sniffed & { isGuess: boolean }> {
  const { encoding, gzip, warnings } = sniffed;
  const letters = await utf8LettersIn(handle, stamp, gzip);
  if (letters === 0) return { ...sniffed, isGuess: false };
  const isGuess = letters < ENOUGH;
  const says = `The mapping sets encoding: ${encoding}, but the file is UTF-8, as JSON always is (RFC 8259): it is read as UTF-8.`;
  const held =
    ' Few letters show it, so orders with such letters in a number or an article are held. For your operator: set encoding: utf-8 in the mapping for JSON.';
  return {
    ...sniffed,
    encoding: 'utf-8',
    isGuess,
    warnings: [...warnings, isGuess ? says + held : says],
  };
}

/** Characters that no program writes into text; the random bytes of a damaged workbook have some. */
const CONTROLS = /[\0-\x08\x0e-\x19]/;

/** The error for bytes that are not the encoding, with line, column and byte. */
export async function encodingError(
  handle: FileHandle,
  stamp: Stamp,
  { gzip, start }: Pick<Sniffed, 'gzip' | 'start'>,
  fault: EncodingFault,
): Promise<PoSyncError> {
  const { line, column, value, readings } = await placeOf(handle, stamp, gzip, fault);
  const other = readings === '' ? '' : ` It can be read as ${readings}.`;
  const message = `Line ${line}, column ${column} (byte ${fault.byte}, ${value}) is not ${fault.encoding}.${other}`;
  const remedy = CONTROLS.test(start)
    ? 'The file is damaged, or is no text. Save it as an .xlsx workbook or CSV (UTF-8) again.'
    : 'Save the file as UTF-8. For your operator: or set encoding in the mapping of its source.';
  return unreadable(
    'encoding',
    message,
    { line, column, value, byte: fault.byte, encoding: fault.encoding },
    remedy,
  );
}

/** What a person should know about a doubtful encoding; `isGuess`: also if no value that is sent depends on it. */
export type EncodingDoubt = { text: string; isGuess?: true };

/** That a file is read by a guess, with the readings of the first value that is not UTF-8. */
export async function guessDoubt(
  handle: FileHandle,
  stamp: Stamp,
  gzip: boolean,
  fault: EncodingFault,
): Promise<EncodingDoubt> {
  const { line, readings } = await placeOf(handle, stamp, gzip, fault);
  const text = `The file does not say its encoding and was read as windows-1252. Look at one value: line ${line} ${shownOf(readings, 'windows-1252')}. Orders with letters such as ä in a number or an article wait for you: enter the right value in the fix file, or write confirmed into _error_check. If all files are like this, ask your operator. ${forOperator(readings)}`;
  return { text, isGuess: true };
}

/** That few letters show the encoding. */
export function weakDoubt(evidence: Utf8Evidence): EncodingDoubt | undefined {
  const { letters, value } = evidence.weak() ?? {};
  if (value === undefined) return undefined;
  const readings = `${value.toString()} (utf-8) · ${readingsOfBytes(value)}`;
  const few = letters === 1 ? 'one letter shows' : `${letters} letters show`;
  const text = `The file was read as UTF-8; only ${few} that it is. Look at one value: it ${shownOf(readings, 'utf-8')}. If that is right, nothing needs to be done. If it is wrong, ask your operator. ${forOperator(readings)}`;
  return { text };
}

/** How a value was read; what it probably is where the encoding has no letter for it. */
function shownOf(readings: string, encoding: string): string {
  const [first = '', other = ''] = /^(.*?) \(([\w-]+)\)(?: · |$)/.exec(readings)?.slice(1) ?? [];
  return other === encoding
    ? `was read as "${first}"`
    : `is probably "${first}", in ${other || 'another encoding'}`;
}

function forOperator(readings: string): string {
  return `For your operator: set encoding in the mapping of the source; the value can be ${readings}.`;
}

/** The warnings of a doubt; reads a table again, unless a value that is sent shows soon that it matters. */
export async function doubtTexts(
  doubt: EncodingDoubt | undefined,
  file: OpenFile,
  reading: Reading,
  mapping: Mapping,
): Promise<string[]> {
  if (doubt === undefined) return [];
  const { skipRows, skipWhere, onlyWhere, calledOff, lastRow } = mapping;
  const hasRule = isUncertain(JSON.stringify([skipRows, skipWhere, onlyWhere, calledOff, lastRow]));
  if (reading.format !== 'csv' || hasRule) return [doubt.text];
  const names = await unsentWithLetters(csvFormat.read(file, reading, mapping), reading.columns);
  if (names === undefined) return [doubt.text];
  if (!doubt.isGuess) return [];
  const where =
    names.length === 0
      ? 'the header or rows without an order'
      : `columns that are not sent (${listed(names)})`;
  const but = names.length === 0 ? '' : SAYS;
  const why = `letters that another encoding reads otherwise are only in ${where}. The file was read as windows-1252.`;
  return [`Nothing needs to be done${but}: ${why}`];
}

const SAYS =
  ', unless such a column says which orders are canceled (then ask your operator to set encoding in the mapping of the source)';

/** The columns that are not sent and have letters beyond ASCII; undefined when one that is sent has some. */
async function unsentWithLetters(pages: AsyncIterable<RecordPage>, { at, header }: Columns) {
  const sent = Object.values(at);
  const found = new Set<number>();
  for await (const { records } of pages) {
    for (const record of records) {
      if (record.kind !== 'row') continue;
      if (sent.some((column) => isUncertain(record.cells[column] ?? ''))) return undefined;
      for (const [i, cell] of record.cells.entries())
        if (!found.has(i) && isUncertain(cell)) found.add(i);
    }
  }
  return [...found].sort((a, b) => a - b).map((i) => header[i] ?? `column ${i + 1}`);
}

function listed(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return shorten(names.slice(0, 5).join(', '), 120) + more;
}

/**
 * The column counts units of the encoding's width; lines end with LF, CRLF or CR. `readings` are those of the value at
 * the place in other encodings.
 */
async function placeOf(
  handle: FileHandle,
  stamp: Stamp,
  gzip: boolean,
  { encoding, byte }: EncodingFault,
) {
  const width = encoding === 'utf-16le' || encoding === 'utf-16be' ? 2 : 1;
  let place = { line: 1, start: 0 };
  let position = 0;
  let before = 0;
  let value = 'missing';
  let readings = '';
  for await (const chunk of readBytes(handle, stamp, { gzip })) {
    for (let i = width - 1; i < chunk.length && position + i < byte; i += width) {
      const unit = unitAt(chunk, i, encoding);
      const isEnd = unit === 13 || (unit === 10 && before !== 13);
      if (isEnd) place = { line: place.line + 1, start: position + i + 1 };
      else if (unit === 10) place.start = position + i + 1;
      before = unit;
    }
    const found = chunk[byte - position];
    if (found !== undefined) {
      value = `0x${found.toString(16).toUpperCase().padStart(2, '0')}`;
      if (width === 1) readings = readingsOfBytes(valueAround(chunk, byte - position));
    }
    position += chunk.length;
    if (position > byte) break;
  }
  return {
    line: place.line,
    column: Math.floor((byte - place.start) / width) + 1,
    value,
    readings,
  };
}

function unitAt(chunk: Buffer, last: number, encoding: Encoding): number {
  if (encoding === 'utf-16le') return chunk.readUInt16LE(last - 1);
  if (encoding === 'utf-16be') return chunk.readUInt16BE(last - 1);
  return chunk[last] ?? 0;
}
