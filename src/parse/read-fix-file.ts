import path from 'node:path';
import type { Mapping } from '../config/config.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { batchTitle, leftOpenText } from '../order/batch.ts';
import type { Lack } from '../order/dead-letter.ts';
import type { Former } from '../order/digest.ts';
import { CONFIRMED, readFixNote } from '../order/fixing.ts';
import { characterName, lookAlikeIn, plainLook } from '../order/look-alike.ts';
import type { FixFacts, SourceRecord } from '../order/record.ts';
import {
  isOtherLetters,
  isSpreadsheetDamage,
  isSpreadsheetForm,
  isUnsureDamage,
} from '../order/spreadsheet.ts';
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
  header?: readonly string[];
  /** By the place that each was written for; undefined where several have one place. */
  records: ReadonlyMap<string, SourceRecord | undefined>;
  /** What the batch held as doubtful, with both readings, by the place of each record of its order; undefined if not known. */
  doubted: undefined | ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The places of all records of an order that has several, by the place of each. */
  orders: ReadonlyMap<string, readonly string[]>;
  /** The places of rows that were held because they may correct an earlier row of their order, or repeat it. */
  repeated: ReadonlySet<string>;
  /** The places of rows that belonged to the order at a place before it came to the batch without them. */
  together: ReadonlyMap<string, ReadonlySet<string>>;
  /** What the order at a place still lacks, or may lack, when that is why it came back. */
  incomplete: ReadonlyMap<string, readonly Lack[]>;
  /** The places of the dead letters that are open. */
  open: ReadonlySet<string>;
  /** The order of each record of a dead letter by its place, also of closed ones; without those of conflicts. */
  formers: ReadonlyMap<string, Former>;
  /** How the fix file was written, where that is not Unicode. */
  encoding?: Encoding;
};

const LOOKED_AT = 256 * 1024;
const ANY_NOTE = / \((?:line \d{1,15}|\/[^\n]{1,500}?) of batch \d{8}T\d{6}Z-[\w.-]{1,200}\)/;

/** The batch that a fix file names at its beginning, whatever its columns are called; undefined for any other file. */
export async function batchNamedIn(path: string): Promise<string | undefined> {
  await using handle = await openRegularFile(path);
  const stamp = await stampOf(handle);
  const start = await readStart(handle, stamp, await isGzip(handle), LOOKED_AT);
  if (start.subarray(0, 4).toString('latin1') !== 'PK\x03\x04') return batchIn(textOf(start));
  await using workbook = await openWorkbook(handle, stamp, { sheet: undefined });
  for await (const rows of workbook.pages())
    return batchIn(rows.map(({ cells }) => cells.join('\n')).join('\n'));
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
  return {
    ...rest,
    format: 'auto',
    encoding: 'auto',
    delimiter,
    quote: '"',
    skipWhere: {},
    onlyWhere: {},
    ...PLAIN,
  };
}

const PLAIN = {
  headerRow: 'auto',
  skipRows: [],
  fillDown: false,
  finalNewline: 'required',
} satisfies Partial<Mapping>;

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
export function placeNamedBy({
  kind,
  fixTarget,
  line,
}: Pick<SourceRecord, 'kind' | 'fixTarget' | 'line'>) {
  const ofLine = line === undefined ? undefined : `line ${line}`;
  // All objects of a file can be on one line.
  return kind === 'row' ? (ofLine ?? fixTarget?.place) : (fixTarget?.place ?? ofLine);
}

/** Whether the record names a batch that `originals` are not of. */
export function isOfOtherBatch({ fixTarget }: FixFacts, originals: Originals | undefined): boolean {
  return fixTarget !== undefined && fixTarget.batch !== originals?.batch;
}

/** The places of records in the batch that they correct. */
export function placesIn(records: readonly SourceRecord[], originals: Originals): Set<string> {
  return new Set(
    records.flatMap((record) =>
      isOfOtherBatch(record, originals) ? [] : (placeNamedBy(record) ?? []),
    ),
  );
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
export function readingsOfReturned(
  returned: Returned,
  before: string | undefined,
): string | undefined {
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
  const example = isQuantity
    ? text.endsWith('000')
      ? text.replace(/000$/, '.000')
      : `${text},000`
    : `0${text}`;
  const other = isDigits ? `another one, such as ${quoted(example)}` : 'another one';
  return `${quoted(now)} can be the value that is meant, or what a program made of ${other}; the original is not known`;
}

/**
 * Of a value that may have been held before as doubtful, where only the code of its record shows it; `code`: undefined if
 * that is gone too.
 */
export function guessedReadings(
  code: string | undefined,
  now: string,
  isQuantity: boolean,
): string | undefined {
  if (code !== undefined && !WAS_HELD.test(code)) return undefined;
  if (!isQuantity && isUncertain(now)) return `${quoted(now)} can be read as ${readingsOf(now)}`;
  return code?.includes('spreadsheet-rewrite') ? unknownReadings(now, isQuantity) : undefined;
}

export const unchanged = (readings: string): string =>
  `${readings}, and is unchanged since it was held`;
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

export function quoted(text: string): string {
  return JSON.stringify(shorten(text, 60));
}

/** The cells of a row. */
export function cellsOf(record: SourceRecord | undefined): readonly string[] | undefined {
  return record?.kind === 'row' ? record.cells : undefined;
}

/** The cells of a row, and behind them those of the columns that its fix file came back without: they are unchanged. */
export function withOriginal(
  own: string[],
  original: readonly string[] | undefined,
  columns: Columns,
): string[] {
  const { header, missing = [] } = columns;
  if (missing.length === 0) return own;
  const width = header.length - missing.length;
  const kept = missing.map(({ from, otherwise }) => original?.[from] ?? otherwise);
  return [...own.slice(0, width), ...kept, ...own.slice(width)];
}

const SHOWN = 10;

/** The warning about columns or keys that a fix file came back without. `names`: in quotes, keys with their first place. */
export function missingIn(what: 'columns' | 'keys', names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  const shown = names.slice(0, SHOWN).join(what === 'keys' ? '; ' : ', ');
  return [
    `This fix file came back without ${what} that it had: ${shown}${more}. Their values count as unchanged. To correct one, bring it back with its name; to send a row that is held because of one, write ${CONFIRMED} into its _error_check.`,
  ];
}

/** Which dead letters the fix file names no row of: the first row of an order can be left out of it. */
export function leftOut(
  originals: Originals | undefined,
  named: Pick<ReadonlySet<string>, 'has'>,
): string[] {
  if (originals === undefined) return [];
  const isHere = (place: string) =>
    [place, ...(originals.orders.get(place) ?? [])].some((row) => named.has(row));
  const rest = [...originals.open].filter((place) => !isHere(place));
  if (rest.length === 0) return [];
  const hasRows = [...originals.open].some((place) => originals.formers.get(place)?.number === '');
  const what = hasRows ? 'orders and rows without a number' : 'orders';
  const names = rest.map((place) => originals.formers.get(place)?.number || place);
  return [leftOpenText(`${rest.length} of the ${originals.open.size} ${what}`, names, originals)];
}

/** Orders that a person typed into a fix file. */
export function newIn(numbers: ReadonlySet<string>, originals: Originals | undefined): string[] {
  const fresh = [
    ...numbers.difference(new Set(originals?.formers.values().map(({ number }) => number))),
  ];
  if (fresh.length === 0) return [];
  const shown = `${fresh.slice(0, 10).join(', ')}${fresh.length > 10 ? ', …' : ''}`;
  return [
    `New in this fix file, and read as new orders: ${shown}. See whether the numbers are right.`,
  ];
}
