import path from 'node:path';
import type { Mapping } from '../config/config.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { batchTitle } from '../order/batch.ts';
import { ROW_SETTLED, readFixNote } from '../order/fixing.ts';
import { characterName, lookAlikeIn, plainLook } from '../order/look-alike.ts';
import type { FixFacts, SourceRecord } from '../order/record.ts';
import { isOtherLetters, isSpreadsheetDamage, isSpreadsheetForm, isUnsureDamage } from '../order/spreadsheet.ts';
import { shorten, textFault } from '../order/text.ts';
import { isGzip, readStart } from './bytes.ts';
import { isUncertain, readingsOf } from './code-pages.ts';
import type { Columns } from './columns.ts';
import { byteOrderMarkOf, type Encoding, looksLikeUtf16 } from './encoding.ts';
import { unreadable } from './unreadable.ts';
import { openWorkbook } from './xlsx/workbook.ts';

/** The batch that a fix file corrects, and its open dead letters as the fix file was written. */
export type Originals = {
  batch: string;
  /** The name of its file, if known. */
  file?: string | undefined;
  /** Of a table: its columns. */
  at: Columns['at'] | undefined;
  /** By the place that each was written for; undefined where several have one place. */
  records: ReadonlyMap<string, SourceRecord | undefined>;
  /**
   * The values that the batch held as doubtful, with both readings, by the place of each record of their order;
   * undefined if its dead letters are not known.
   */
  doubted: undefined | ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The places of all records of an order that has several, by the place of each. */
  orders: ReadonlyMap<string, readonly string[]>;
  /** The places of rows that belonged to the order at a place before it came to the batch without them. */
  together: ReadonlyMap<string, ReadonlySet<string>>;
  /** What the order at a place still lacks, or may lack, when that is why it came back. */
  incomplete: ReadonlyMap<string, readonly Lack[]>;
  /** The places of the dead letters that are open. */
  open: ReadonlySet<string>;
  /** The order number of each record of a dead letter by its place, also of closed ones; without those of conflicts. */
  numbers: ReadonlyMap<string, string>;
  /** How the fix file was written, where that is not Unicode. */
  encoding?: Encoding;
};

/**
 * Why an order was held as incomplete: a row that was left out of it (`more`: so many others too), or one of another order
 * that may belong to it. `row`: the place of that one in the batch, if it came with the order that was held.
 */
export type Lack = { what: string; row: string | undefined } & (
  | { kind: 'left-out'; more: number }
  | { kind: 'in-doubt' }
);

/** Reads why an order was held as incomplete from its problems. */
export function lacksIn(problems: readonly { message: string }[]): Lack[] {
  return problems.flatMap(({ message }) => lackIn(message) ?? []);
}

function lackIn(message: string): Lack | undefined {
  const [, leftOut] =
    /^(?:this order )?is not complete: (.+) in the fix file and (?:is|are) not in this order now;/s.exec(message) ?? [];
  if (leftOut !== undefined) {
    const [, row] = /, here (line \d{1,15}|\/\S+), was in this order$/.exec(leftOut) ?? [];
    const [, more = '0'] = / and (\d{1,15}) more were in this order$/.exec(leftOut) ?? [];
    return { kind: 'left-out', what: leftOut, row, more: Number(more) };
  }
  const [, what] = /^a row of this order may be missing: (.+?) and may belong to this order\. /s.exec(message) ?? [];
  if (what === undefined) {
    const [, row] = message.endsWith(ROW_SETTLED) ? (/^(line \d{1,15}) /.exec(message) ?? []) : [];
    return row === undefined ? undefined : { kind: 'in-doubt', what: row, row };
  }
  const [, here] = /, here (line \d{1,15}|\/\S+), waits for a person$/.exec(what) ?? [];
  const line = /^(?:line \d{1,15}|\/\S+) of (?:batch |")/.test(what) ? undefined : /\bline \d{1,15}\b/.exec(what)?.[0];
  return { kind: 'in-doubt', what, row: here ?? line };
}

/** Orders that lack a row of each other, in both directions. */
export function togetherIn(incomplete: Originals['incomplete']): Originals['together'] {
  const together = new Map<string, Set<string>>();
  const add = (place: string, other: string) =>
    together.set(place, (together.get(place) ?? new Set<string>()).add(other));
  for (const [place, lacks] of incomplete) {
    for (const { kind, row } of lacks) {
      if (kind === 'in-doubt' || row === undefined) continue;
      add(place, row);
      add(row, place);
    }
  }
  return together;
}

const LOOKED_AT = 256 * 1024;
const ANY_NOTE = / \((?:line \d{1,15}|\/[^\n]{1,500}?) of batch \d{8}T\d{6}Z-[\w.-]{1,200}\)/;

/** The batch that a fix file names at its beginning, whatever its columns are called; undefined for any other file. */
export async function batchNamedIn(path: string): Promise<string | undefined> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const start = await readStart(handle, stamp, await isGzip(handle), LOOKED_AT);
  if (start.subarray(0, 4).toString('latin1') !== 'PK\x03\x04') return batchIn(textOf(start));
  await using workbook = await openWorkbook(handle, stamp, { sheet: undefined });
  for await (const rows of workbook.pages()) return batchIn(rows.map(({ cells }) => cells.join('\n')).join('\n'));
  return undefined;
}

function batchIn(text: string): string | undefined {
  const [note = ''] = ANY_NOTE.exec(text) ?? [];
  return readFixNote(note)?.batch;
}

/** Names of columns and batches are ASCII in every encoding. */
function textOf(start: Buffer): string {
  const encoding = byteOrderMarkOf(start)?.encoding ?? looksLikeUtf16(start);
  return encoding === 'utf-16le' || encoding === 'utf-16be'
    ? new TextDecoder(encoding).decode(start)
    : start.toString('latin1');
}

/** The mapping of a fix file: the fields of the batch it corrects, in the form that we write and programs rewrite. */
export function fixMapping(mapping: Mapping): Mapping {
  const delimiter = [',', ';', '\t', '|'].includes(mapping.delimiter) ? 'auto' : mapping.delimiter;
  const { sheet: _, records: __, lastRow: ___, ...rest } = mapping;
  return { ...rest, format: 'auto', encoding: 'auto', delimiter, quote: '"', skipWhere: {}, onlyWhere: {}, ...PLAIN };
}

const PLAIN = { headerRow: 'auto', skipRows: [], fillDown: false, finalNewline: 'required' } satisfies Partial<Mapping>;

/**
 * Refuses a fix file whose columns were renamed. Call for a file without any error column or key; `originals` are there
 * if its cells have the notes of a fix file.
 */
export function refuseLostNotes(originals: Originals | undefined): void {
  if (originals === undefined) return;
  throw unreadable(
    'fix-columns',
    `The file corrects ${batchTitle(originals.batch, originals.file)}, but the names of its columns that begin with _error_ are missing.`,
    { batch: originals.batch },
    'Name them as in the fix file: _error_line, _error_code, _error_message, _error_check. If every value is right as it is, remove these columns instead, and drop the file again.',
  );
}

/** The names of fix files, also of copies, such as `dead-letters (1).xlsx` and `orders.fix-2.csv`. */
export function isNamedAsFixFile(file: string): boolean {
  return /^dead-letters\b|\.fix(?:-\d+)?\b/i.test(path.basename(file));
}

/** Why a file with the name of a fix file, but without its columns, is not read. */
export function withoutColumns(name: string) {
  return unreadable(
    'fix-columns',
    `${name} has the name of a fix file, but not its columns: it names no batch in _error_message.`,
    {},
    'Copy the corrected values into the fix file and keep its columns. If every value is right as it is, give the file another name and drop it again.',
  );
}

/** The place that a record of a fix file was written for: its own line, or the place that its note names. */
export function placeNamedBy({ kind, fixTarget, line }: Pick<SourceRecord, 'kind' | 'fixTarget' | 'line'>) {
  const ofLine = line === undefined ? undefined : `line ${line}`;
  // All objects of a file can be on one line.
  return kind === 'row' ? (ofLine ?? fixTarget?.place) : (fixTarget?.place ?? ofLine);
}

/** Whether the record names a batch that `originals` are not of. */
export function isOfOtherBatch({ fixTarget }: FixFacts, originals: Originals | undefined): boolean {
  return fixTarget !== undefined && fixTarget.batch !== originals?.batch;
}

/**
 * A field of a record that came back. `was`: undefined if that is not known. `mayBeChanged`: a program may have.
 * `code`: what was wrong with the record.
 */
export type Returned = {
  was: string | undefined;
  now: string;
  isQuantity: boolean;
  mayBeChanged: boolean;
  code: string | undefined;
};

/** The codes of a record with a value that was held as doubtful. */
const WAS_HELD = /encoding-unsure|spreadsheet-rewrite/;

/** Whether a program made the value that came back, certainly. Nobody corrects a text by one that looks the same. */
export function isDamaged(returned: Returned): boolean {
  const { was, now, mayBeChanged } = returned;
  if (was === undefined || was === now) return false;
  const isMade = mayBeChanged && isSpreadsheetDamage(was, now) && !mayAnswer(returned);
  return isMade || (isAscii(was) && plainLook(now) === was);
}

/** Whether a person may have entered it, because the message asked for it: `1000` for `1.000`. */
function mayAnswer({ isQuantity, code }: Returned): boolean {
  return isQuantity && (code?.includes('ambiguous-number') ?? false);
}

/**
 * Both readings of a value that came back and may not be what a person meant; undefined if nothing is doubtful.
 * `before`: its readings when it was held before.
 */
export function readingsOfReturned(returned: Returned, before: string | undefined): string | undefined {
  const { was, now, isQuantity, mayBeChanged, code = '' } = returned;
  if (now.trim() === '') return undefined;
  if (before !== undefined) return unchanged(before);
  const isSame = was === now;
  const alike = isSame ? undefined : lookAlikeIn(now.trim());
  if (alike !== undefined)
    return `${quoted(now)} contains ${characterName(alike)}: it can be that, or ${quoted(plainLook(now))}`;
  if (was === undefined) return mayBeChanged ? unknownReadings(now, isQuantity) : undefined;
  if (isSame) return undefined;
  if (mayBeChanged && (isUnsureDamage(was, now) || isSpreadsheetDamage(was, now)))
    return `${quoted(now)} can be a correction of ${quoted(was)}, or what a program made of it`;
  if (isOtherLetters(was, now) && !WAS_HELD.test(code) && textFault(was.trim()) === undefined)
    return `${quoted(now)} can be a correction of ${quoted(was)}, or the same text read in another encoding`;
  return undefined;
}

/** Of a value whose original is not known, in a record that a program may have changed. */
export function unknownReadings(now: string, isQuantity: boolean): string | undefined {
  const text = now.trim();
  if (!isQuantity && !isSpreadsheetForm(text)) return undefined;
  const isDigits = /^\d+$/.test(text);
  const example = isQuantity ? (text.endsWith('000') ? text.replace(/000$/, '.000') : `${text},000`) : `0${text}`;
  const other = isDigits ? `another one, such as ${quoted(example)}` : 'another one';
  return `${quoted(now)} can be the value that is meant, or what a program made of ${other}; the original is not known`;
}

/**
 * Of a value that may have been held before as doubtful, where only the code of its record shows it; `code`: undefined if
 * that is gone too.
 */
export function guessedReadings(code: string | undefined, now: string, isQuantity: boolean): string | undefined {
  if (code !== undefined && !WAS_HELD.test(code)) return undefined;
  if (!isQuantity && isUncertain(now)) return `${quoted(now)} can be read as ${readingsOf(now)}`;
  return code?.includes('spreadsheet-rewrite') ? unknownReadings(now, isQuantity) : undefined;
}

export const unchanged = (readings: string): string => `${readings}, and is unchanged since it was held`;

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

export function quoted(text: string): string {
  return JSON.stringify(shorten(text, 60));
}

/** The cells of a row. */
export function cellsOf(record: SourceRecord | undefined): readonly string[] | undefined {
  return record?.kind === 'row' ? record.cells : undefined;
}
