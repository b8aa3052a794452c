import { PoSyncError } from '../core/errors.ts';
import { openRegularFile, stampOf } from '../core/regular-file.ts';
import { isGzip, readStart } from '../parse/bytes.ts';
import { decodeStart, encodingOf } from '../parse/decoder.ts';
import { LIMITS } from '../parse/limits.ts';
import { type OpenFile, openFile } from '../parse/open.ts';
import type { Declared, RawRecord, Value } from '../parse/record.ts';
import { createBuilder } from '../parse/xml/build-record.ts';
import { createXmlReader } from '../parse/xml/xml-reader.ts';
import { findEncoding } from './encoding.ts';
import { namedRoles } from './names.ts';
import { tableOfObjects } from './object-table.ts';
import { findRecords } from './places.ts';
import { tableOfRows } from './row-table.ts';
import { BOUNDS, type Setting, type Table } from './table.ts';

export type SampleOptions = { signal?: AbortSignal | undefined };

/**
 * Reads a sample as a table, and finds out how it must be read. PoSyncError `unreadable-…`, `map-empty` for a file without
 * records.
 */
export async function readSample(path: string, options: SampleOptions = {}): Promise<Table> {
  const attempts: Attempt[] = [{ declared: { isWritten: true }, settings: [] }];
  for (let nth = 0; ; nth++) {
    const attempt = attempts[nth];
    if (attempt === undefined) throw new TypeError('no attempt is left');
    try {
      return await readAs(path, attempt, options);
    } catch (error) {
      const next = nth < MOST_ATTEMPTS ? await remedyFor(error, path, attempt) : undefined;
      if (next === undefined) throw error;
      attempts.push(next);
    }
  }
}

type Attempt = { declared: Declared; settings: readonly Setting[] };

/** An encoding, and then fields that are not in quotes. */
const MOST_ATTEMPTS = 2;

/** How to read a file that cannot be read so; undefined where nothing else is likely. */
async function remedyFor(
  error: unknown,
  path: string,
  { declared, settings }: Attempt,
): Promise<Attempt | undefined> {
  if (!(error instanceof PoSyncError)) return undefined;
  const isEncoding = error.code === 'unreadable-encoding' || error.facts['of'] === 'character';
  const isForeign = error.code === 'unreadable-foreign';
  if ((isEncoding || isForeign) && declared.encoding === undefined) {
    const found = await findEncoding(path);
    if (found === undefined || (isForeign && !found.encoding.startsWith('utf-16')))
      return undefined;
    const { encoding, evidence } = found;
    const question = `the file is not UTF-8; read as ${encoding} it says ${evidence}: is this right?`;
    return {
      declared: { ...declared, encoding },
      settings: [...settings, { key: 'encoding', value: encoding, question }],
    };
  }
  if (error.facts['of'] !== 'quote' || declared.quote !== undefined) return undefined;
  const note = 'a quote in the file is never closed, so quotes are ordinary characters';
  return {
    declared: { ...declared, quote: 'none' },
    settings: [...settings, { key: 'quote', value: 'none', note }],
  };
}

async function readAs(path: string, attempt: Attempt, options: SampleOptions): Promise<Table> {
  await using file = await openFile(path, attempt.declared, options);
  const { format } = file;
  const settings: Setting[] = [{ key: 'format', value: format }, ...attempt.settings];
  if (format === 'csv') {
    const delimiter = await findDelimiter(file);
    settings.push({ key: 'delimiter', value: delimiter === '\t' ? 'tab' : delimiter });
    const records = await recordsOf(file, { delimiter });
    return tableOfRows({ file: path, format, settings, ...records });
  }
  if (format === 'xlsx') return await readWorkbook(path, file, settings, options);

  const start = format === 'ndjson' ? undefined : await startOf(path, format, attempt.declared);
  const list = start === undefined ? undefined : findRecords(start, format === 'xml');
  if (list !== undefined) settings.push({ key: 'records', value: list });
  const declared = { ...attempt.declared, ...(list !== undefined && { records: list }) };
  await using again = await openFile(path, declared, options);
  const records = await recordsOf(again, {});
  return tableOfObjects({ file: path, format, settings, ...records });
}

/** Bytes of XML that are looked at, whose record is within its limit whatever its elements are. */
const XML_START = LIMITS.head / 8;

/** The document as far as its beginning shows it; undefined where its reader will say what is wrong with it. */
async function startOf(
  path: string,
  format: 'json' | 'xml',
  declared: Declared,
): Promise<Value | undefined> {
  await using handle = await openRegularFile(path);
  const length = format === 'xml' ? XML_START : LIMITS.document;
  const bytes = await readStart(handle, await stampOf(handle), await isGzip(handle), length);
  const { encoding, mark } = encodingOf(bytes, declared.encoding);
  const text = decodeStart(bytes.subarray(mark), encoding);
  if (format === 'xml') return xmlStart(text);
  try {
    return JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
}

/** The root element with its name; elements that are open at the end of the text are closed there. */
function xmlStart(text: string): Value | undefined {
  const builder = createBuilder();
  let root: string | undefined;
  let value: Value | undefined;
  const reader = createXmlReader({
    onOpen(name, attributes) {
      if (root !== undefined) return builder.open(name, attributes);
      root = name;
      builder.begin(name, attributes, 1, '');
    },
    onText: builder.text,
    onClose() {
      value ??= builder.close()?.value;
    },
  });
  reader.write(text);
  while (builder.isOpen()) value = builder.close()?.value;
  return root === undefined || value === undefined ? undefined : { [root]: value };
}

/** A workbook with several sheets is read with the sheet that has the most rows. */
async function readWorkbook(
  path: string,
  file: OpenFile,
  settings: readonly Setting[],
  options: SampleOptions,
): Promise<Table> {
  const read = await recordsOf(file, {});
  const sheets = read.isAll ? (file.summary().workbook?.sheets ?? []) : [];
  const common = { file: path, format: file.format };
  if (read.records.length > 0 || sheets.length < 2)
    return tableOfRows({ ...common, settings, ...read });

  let best: { sheet: string; read: Read } | undefined;
  for (const sheet of sheets.slice(0, MOST_SHEETS)) {
    await using one = await openFile(path, { isWritten: true, sheet }, options);
    const rows = await recordsOf(one, {});
    if (best === undefined || rows.records.length > best.read.records.length)
      best = { sheet, read: rows };
  }
  if (best === undefined) return tableOfRows({ ...common, settings, ...read });
  const question = `the workbook has ${sheets.join(', ')}: which has the orders?`;
  const sheet: Setting = { key: 'sheet', value: best.sheet, question };
  return tableOfRows({ ...common, settings: [...settings, sheet], ...best.read });
}

const MOST_SHEETS = 20;

type Read = { records: RawRecord[]; isAll: boolean; isAscii: boolean };

/** The first records, as many as are looked at. */
async function recordsOf(file: OpenFile, options: { delimiter?: string }): Promise<Read> {
  const records: RawRecord[] = [];
  let size = 0;
  let isAscii = true;
  for await (const page of file.records(options))
    for (const record of page) {
      records.push(record);
      const text = record.kind === 'row' ? record.cells.join(' ') : JSON.stringify(record.value);
      size += text.length;
      isAscii &&= /^[\0-\x7f]*$/.test(text);
      if (records.length >= BOUNDS.rows || size >= BOUNDS.bytes)
        return { records, isAll: false, isAscii };
    }
  return { records, isAll: true, isAscii };
}

const DELIMITERS = [',', ';', '\t', '|', '~', '^', '#', ':', '*', '!'];

/** The delimiter under which a row has the most usual names, then the one with the most rows of one width. */
async function findDelimiter(file: OpenFile): Promise<string> {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const rows = await file.head(delimiter);
    const widths = new Map<number, number>();
    for (const { cells } of rows) widths.set(cells.length, (widths.get(cells.length) ?? 0) + 1);
    const [width, count] = [...widths]
      .filter(([cells]) => cells > 1)
      .reduce((most, one) => (one[1] * one[0] > most[1] * most[0] ? one : most), [1, 0]);
    const consistent = width === 1 ? 0 : (count / rows.length) * Math.min(2, width / 5 + 0.8);
    const named = Math.max(0, ...rows.map(({ cells }) => namedRoles(cells)));
    const score = named * 10 + consistent;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}
