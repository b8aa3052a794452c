import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Config, type Mapping, mappingFor, plainMapping } from '../config/config.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import {
  isOfTable,
  type Lack,
  lacksIn,
  placesOf,
  readingsIn,
  togetherIn,
} from '../order/dead-letter.ts';
import { type Former, formerOf } from '../order/digest.ts';
import { ALREADY_CORRECTED, asWritten, placeText } from '../order/fixing.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import { fixEncodingIn } from '../parse/code-pages.ts';
import type { Encoding } from '../parse/encoding.ts';
import { readRecords } from '../parse/formats.ts';
import { inspectFile, steadily } from '../parse/inspect.ts';
import type { Inspection } from '../parse/inspection.ts';
import {
  batchNamedIn,
  fixMapping,
  isNamedAsFixFile,
  type Originals,
  placeNamedBy,
  withoutColumns,
} from '../parse/read-fix-file.ts';
import { isNoTable } from '../parse/unreadable.ts';
import { deadLettersOf, withoutSettled } from './order-places.ts';

/**
 * How to read a file: with the mapping of its source, or a fix file with that of the batch it corrects, whose source is
 * `readAs`. Its answer has the form of the file that was corrected first, `answeredIn`. `unknownBatch`: the batch that a
 * fix file names, but that is not known. `refusal`: it must not be read.
 */
export type HowToRead = {
  mapping: Mapping | undefined;
  readAs?: string;
  answeredIn?: FileShape;
  originals?: Originals;
  unknownBatch?: string;
  refusal?: PoSyncError;
};

type FoundBatch = Pick<Batch, 'batch' | 'source' | 'settledPath'> & {
  name?: string;
  inspection?: { readAs?: string; shape?: FileShape; answeredIn?: FileShape };
};

export type HowToReadDeps = {
  config: Pick<Config, 'sources' | 'mappings' | 'reports' | 'environment'>;
  /** Finds a batch by its name. */
  batches: { find(name: string): Promise<FoundBatch | undefined> };
};

/** Records of a fix file that are compared with their originals: they are in memory. */
const MOST_RECORDS = 50_000;

/** Finds out how to read a file of a source. Does not throw: a file that cannot be read fails when it is inspected. */
export async function howToRead(
  file: string,
  source: string,
  { config, batches }: HowToReadDeps,
): Promise<HowToRead> {
  const named = await batchNamedIn(file).catch(unlessBroken);
  const batch =
    named === undefined
      ? undefined
      : ((await batches.find(named)) ?? (await reportedBatch(named, config)));
  if (batch === undefined) {
    const mapping = mappingFor(config, source);
    const isLost = named === undefined && isNamedAsFixFile(file) && (await isTable(file, mapping));
    const refusal = isLost ? withoutColumns(path.basename(file)) : undefined;
    return { mapping, ...(named && { unknownBatch: named }), ...(refusal && { refusal }) };
  }
  // A fix file of a fix file has the columns of the file that was corrected first, wherever each was dropped.
  const readAs = batch.inspection?.readAs ?? batch.source;
  const own = mappingFor(config, readAs) ?? plainMapping();
  const mapping = fixMapping(own);
  const folder = path.join(config.reports.path, batch.batch);
  const written = (names: string[]) =>
    originalsIn(folder, batch.batch, mapping, fixEncodingIn(own), names);
  const copied = await written(FIX_FILES.map(asWritten));
  const lost = (await lostPlaces(folder, copied).catch(unlessBroken)) ?? new Set<string>();
  const settled = withSettledRows(copied, { path: batch.settledPath, mapping: own, lost });
  const found = (await settled.catch(unlessBroken)) ?? copied;
  // The reports of earlier versions have no copy, and a person may have corrected their fix file in its place.
  const originals =
    found.header === undefined && found.records.size === 0 ? await written(FIX_FILES) : found;
  const incomplete = await withoutSettled(originals.incomplete, config.reports.path).catch(
    unlessBroken,
  );
  const answeredIn = batch.inspection?.answeredIn ?? batch.inspection?.shape;
  return {
    mapping,
    originals: { ...originals, file: batch.name, ...(incomplete && { incomplete }) },
    ...(readAs === source ? {} : { readAs }),
    ...(answeredIn && { answeredIn }),
  };
}

/** Whether rows or objects can be found in a file; otherwise its inspection says what it is. */
async function isTable(file: string, mapping: Mapping | undefined): Promise<boolean> {
  const error = await inspectFile(file, mapping).then(() => undefined, toError);
  if (error !== undefined && !(error instanceof PoSyncError)) throw error;
  return error === undefined || !isNoTable(error);
}

/** A batch that has a report of this environment: Redis may have lost it. */
async function reportedBatch(
  batch: string,
  { reports, environment }: HowToReadDeps['config'],
): Promise<FoundBatch | undefined> {
  if (reports.path === '') return undefined;
  try {
    const report: unknown = JSON.parse(
      await readFile(path.join(reports.path, batch, 'report.json'), 'utf8'),
    );
    const {
      source,
      file: name,
      readAs,
      environment: own,
    } = (report ?? {}) as Record<string, unknown>;
    if (typeof source !== 'string' || own !== environment) return undefined;
    const read = typeof readAs === 'string' && { inspection: { readAs } };
    return { batch, source, ...(typeof name === 'string' && { name }), ...read };
  } catch {
    return undefined;
  }
}

/** What is known of the batch that a fix file corrects: the fix file as po-sync wrote it, and the dead letters. */
async function originalsIn(
  folder: string,
  batch: string,
  mapping: Mapping,
  encoding: Encoding | undefined,
  names: readonly string[],
): Promise<Originals> {
  const written: Originals = {
    batch,
    at: undefined,
    records: new Map(),
    doubted: undefined,
    orders: new Map(),
    together: new Map(),
    incomplete: new Map(),
    open: new Set<string>(),
    formers: new Map(),
    repeated: new Set(),
    ...(encoding && { encoding }),
  };
  let columns: Records['columns'] | undefined;
  for (const name of names) {
    const found = await steadily(() => recordsIn(path.join(folder, name), mapping, written)).catch(
      unlessBroken,
    );
    columns ??= found?.columns;
    if (found?.all === undefined) continue;
    const records = new Map<string, SourceRecord | undefined>();
    for (const record of found.all) {
      const place = placeNamedBy(record);
      if (place !== undefined) records.set(place, records.has(place) ? undefined : record);
    }
    return {
      ...written,
      ...columns,
      records,
      ...(await deadLettersIn(folder, found.all).catch(unlessBroken)),
    };
  }
  return { ...written, ...columns, ...(await deadLettersIn(folder, []).catch(unlessBroken)) };
}

const FIX_FILES = ['dead-letters.csv', 'dead-letters.fix.json', 'dead-letters.ndjson'];

/** Settled files up to this size are read for rows that the fix file has lost. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Adds rows from the file of the batch that its fix file has lost. */
async function withSettledRows(written: Originals, settled: Settled): Promise<Originals> {
  const { lost, path: file, mapping } = settled;
  if (lost.size === 0 || file === undefined || (await stat(file)).size > MOST_BYTES) return written;
  const inspection = await inspectFile(
    file,
    (await batchNamedIn(file)) ? fixMapping(mapping) : mapping,
  );
  if ('objects' in inspection.reading) return written;
  const records = new Map(written.records);
  for await (const page of readRecords(file, inspection, undefined)) {
    for (const { place, ...record } of page.records) {
      const own = placeText(place);
      if (lost.has(own) && !records.has(own)) records.set(own, { place, ...record });
    }
  }
  return { ...written, ...(written.at === undefined && columnsIn(inspection)), records };
}

/** The file of a batch, with the places of the rows to find there. */
type Settled = { path: string | undefined; mapping: Mapping; lost: ReadonlySet<string> };

/** The places of the rows whose dead letters are closed; of all of them where nothing is left of the fix file. */
async function lostPlaces(folder: string, { header, records }: Originals): Promise<Set<string>> {
  const isLost = header === undefined && records.size === 0;
  const places = new Set<string>();
  for await (const { closed, location } of deadLettersOf(folder))
    if (closed !== undefined || isLost)
      for (const line of location.lines ?? [location.line]) places.add(`line ${line}`);
  return places;
}

type Records = { all?: readonly SourceRecord[]; columns: Pick<Originals, 'at' | 'header'> };

/** The records of a fix file that is not too large, and the columns of a table. */
async function recordsIn(file: string, mapping: Mapping, written: Originals): Promise<Records> {
  const inspection = await inspectFile(file, mapping, { originals: written });
  if (inspection.records > MOST_RECORDS) return { columns: columnsIn(inspection) };
  const all: SourceRecord[] = [];
  for await (const { records } of readRecords(file, inspection, undefined)) all.push(...records);
  return { all, columns: columnsIn(inspection) };
}

function columnsIn({ reading }: Inspection): Records['columns'] {
  return 'objects' in reading
    ? { at: undefined }
    : { at: reading.columns.at, header: reading.columns.header };
}

/** What the dead letters of a batch say about the records of its fix file, which are in the same sequence. */
async function deadLettersIn(
  folder: string,
  written: readonly SourceRecord[],
): Promise<Omit<Originals, 'batch' | 'at' | 'records' | 'encoding'>> {
  const doubted = new Map<string, Map<string, string>>();
  const orders = new Map<string, readonly string[]>();
  const incomplete = new Map<string, readonly Lack[]>();
  const [open, repeated, formers] = [
    new Set<string>(),
    new Set<string>(),
    new Map<string, Former>(),
  ];
  let next = 0;
  for await (const deadLetter of deadLettersOf(folder)) {
    const { closed, location, kind, problems = [] } = deadLetter;
    if (kind !== 'conflict')
      for (const place of placesOf(deadLetter)) formers.set(place, formerOf(deadLetter));
    const { lines = [location.line] } = location;
    const own = written
      .slice(next, next + lines.length)
      .map((record) => placeNamedBy(record) ?? '');
    // A fix file has no records of what was closed before it was written.
    if (closed === undefined || own.includes(placeText(location))) next += lines.length;
    if (closed !== undefined) continue;
    open.add(placeText(location));
    for (const { code, line } of problems)
      if (code === 'repeated-row') repeated.add(`line ${line}`);
    const places = location.pointer === undefined ? lines.map((line) => `line ${line}`) : own;
    const readings = readingsIn(problems.filter(({ code }) => DOUBTS.includes(code)));
    const lacks = lacksIn(problems);
    // A row that is another order already may be left out.
    const wanted =
      deadLetter.code === ALREADY_CORRECTED
        ? places.filter((at) => at !== placeText(location))
        : places;
    for (const place of places) {
      if (lacks.length > 0) incomplete.set(place, lacks);
      if (places.length > 1) orders.set(place, wanted);
      if (readings.size > 0) doubted.set(place, readings);
    }
    if (location.pointer !== undefined) continue;
    for (const [line, held] of Map.groupBy(problems.filter(isOfTable), (one) => one.line))
      doubted.set(`line ${line}`, new Map([...readings, ...readingsIn(held)]));
  }
  return { doubted, orders, repeated, together: togetherIn(incomplete), incomplete, open, formers };
}

const DOUBTS = ['encoding-unsure', 'spreadsheet-rewrite'];

/** What is wrong with the file itself is reported later. */
function unlessBroken(error: unknown): undefined {
  if (!(error instanceof PoSyncError) && codeOf(error) !== 'ENOENT') throw error;
}
