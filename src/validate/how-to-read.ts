import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Config, type Mapping, mappingFor, plainMapping } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import {
  type DeadLetter,
  isOfTable,
  type Lack,
  lacksIn,
  placesOf,
  readingsIn,
  togetherIn,
} from '../order/dead-letter.ts';
import { ALREADY_CORRECTED, placeText } from '../order/fixing.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import { isMultiByte } from '../parse/code-pages.ts';
import type { Encoding } from '../parse/encoding.ts';
import { readRecords } from '../parse/formats.ts';
import { inspectFile } from '../parse/inspect.ts';
import type { Inspection } from '../parse/inspection.ts';
import { createJsonParser } from '../parse/json/json-records.ts';
import {
  batchNamedIn,
  fixMapping,
  isNamedAsFixFile,
  type Originals,
  placeNamedBy,
  withoutColumns,
} from '../parse/read-fix-file.ts';

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
export async function howToRead(file: string, source: string, { config, batches }: HowToReadDeps): Promise<HowToRead> {
  const named = await batchNamedIn(file).catch(unlessBroken);
  const batch = named === undefined ? undefined : ((await batches.find(named)) ?? (await reportedBatch(named, config)));
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
  const written = await originalsIn(folder, batch.batch, mapping, writtenIn(own));
  const closed = (await closedIn(folder).catch(unlessBroken)) ?? new Set<string>();
  const settled = { path: batch.settledPath, mapping: own, closed };
  const originals = (await withSettledRows(written, settled).catch(unlessBroken)) ?? written;
  const answeredIn = batch.inspection?.answeredIn ?? batch.inspection?.shape;
  return {
    mapping,
    originals: { ...originals, file: batch.name },
    ...(readAs === source ? {} : { readAs }),
    ...(answeredIn && { answeredIn }),
  };
}

/** Codes of files that are no table at all: a zip archive, a workbook of another program, a damaged file. */
const NO_TABLE = /^unreadable-(?:format|zip|sheet|gzip|empty|too-large)$/;

/** Whether rows or objects can be found in a file; otherwise its inspection says what it is. */
async function isTable(file: string, mapping: Mapping | undefined): Promise<boolean> {
  try {
    await inspectFile(file, mapping);
    return true;
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return !NO_TABLE.test(error.code);
  }
}

/** The encoding that `dead-letters.csv` is written in, if it is not Unicode. */
function writtenIn({ encoding }: Mapping): Encoding | undefined {
  const isOwn =
    encoding !== 'auto' && !encoding.startsWith('utf-') && !encoding.startsWith('cp') && !isMultiByte(encoding);
  return isOwn ? encoding : undefined;
}

/** A batch that has a report of this environment: Redis may have lost it. */
async function reportedBatch(
  batch: string,
  { reports, environment }: HowToReadDeps['config'],
): Promise<FoundBatch | undefined> {
  if (reports.path === '') return undefined;
  try {
    const report: unknown = JSON.parse(await readFile(path.join(reports.path, batch, 'report.json'), 'utf8'));
    const { source, file: name, readAs, environment: own } = (report ?? {}) as Record<string, unknown>;
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
    numbers: new Map(),
    ...(encoding && { encoding }),
  };
  for (const name of ['dead-letters.csv', 'dead-letters.fix.json', 'dead-letters.ndjson']) {
    const found = await recordsIn(path.join(folder, name), mapping, written).catch(unlessBroken);
    if (found === undefined) continue;
    const records = new Map<string, SourceRecord | undefined>();
    for (const record of found.all) {
      const place = placeNamedBy(record);
      if (place !== undefined) records.set(place, records.has(place) ? undefined : record);
    }
    return { ...written, ...found.columns, records, ...(await deadLettersIn(folder, found.all).catch(unlessBroken)) };
  }
  return { ...written, ...(await deadLettersIn(folder, []).catch(unlessBroken)) };
}

/** Settled files up to this size are read for the rows of dead letters that are closed. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Adds the rows of dead letters that are closed, from the file of the batch: its fix file has lost them. */
async function withSettledRows(written: Originals, settled: Settled): Promise<Originals> {
  const { closed, path: file, mapping } = settled;
  if (closed.size === 0 || file === undefined || (await stat(file)).size > MOST_BYTES) return written;
  const inspection = await inspectFile(file, (await batchNamedIn(file)) ? fixMapping(mapping) : mapping);
  if ('objects' in inspection.reading) return written;
  const records = new Map(written.records);
  for await (const page of readRecords(file, inspection, undefined)) {
    for (const { place, ...record } of page.records) {
      const own = placeText(place);
      if (closed.has(own) && !records.has(own)) records.set(own, { place, ...record });
    }
  }
  return { ...written, ...(written.at === undefined && columnsIn(inspection)), records };
}

/** The file of a batch, with the places of the rows whose dead letters are closed. */
type Settled = { path: string | undefined; mapping: Mapping; closed: ReadonlySet<string> };

async function closedIn(folder: string): Promise<Set<string>> {
  const places = new Set<string>();
  for await (const { closed, location } of deadLettersOf(folder))
    if (closed !== undefined) for (const line of location.lines ?? [location.line]) places.add(`line ${line}`);
  return places;
}

type Records = { all: readonly SourceRecord[]; columns: Pick<Originals, 'at' | 'header'> };

/** The records of a fix file that is not too large, and the columns of a table. */
async function recordsIn(file: string, mapping: Mapping, written: Originals): Promise<Records | undefined> {
  const inspection = await inspectFile(file, mapping, { originals: written });
  if (inspection.records > MOST_RECORDS) return undefined;
  const all: SourceRecord[] = [];
  for await (const { records } of readRecords(file, inspection, undefined)) all.push(...records);
  return { all, columns: columnsIn(inspection) };
}

function columnsIn({ reading }: Inspection): Records['columns'] {
  return 'objects' in reading ? { at: undefined } : { at: reading.columns.at, header: reading.columns.header };
}

/** What the dead letters of a batch say about the records of its fix file, which are in the same sequence. */
async function deadLettersIn(
  folder: string,
  written: readonly SourceRecord[],
): Promise<Omit<Originals, 'batch' | 'at' | 'records' | 'encoding'>> {
  const doubted = new Map<string, Map<string, string>>();
  const orders = new Map<string, readonly string[]>();
  const incomplete = new Map<string, readonly Lack[]>();
  const [open, numbers] = [new Set<string>(), new Map<string, string>()];
  let next = 0;
  for await (const deadLetter of deadLettersOf(folder)) {
    const { closed, location, kind, purchaseOrderNumber, problems = [] } = deadLetter;
    if (kind !== 'conflict') for (const place of placesOf(deadLetter)) numbers.set(place, purchaseOrderNumber);
    if (closed !== undefined) continue;
    const { lines = [location.line] } = location;
    open.add(placeText(location));
    const own = written.slice(next, next + lines.length).map((record) => placeNamedBy(record) ?? '');
    const places = location.pointer === undefined ? lines.map((line) => `line ${line}`) : own;
    next += lines.length;
    const readings = readingsIn(problems.filter(({ code }) => DOUBTS.includes(code)));
    const lacks = lacksIn(problems);
    // A row that is another order already may be left out.
    const wanted = deadLetter.code === ALREADY_CORRECTED ? places.filter((at) => at !== placeText(location)) : places;
    for (const place of places) {
      if (lacks.length > 0) incomplete.set(place, lacks);
      if (places.length > 1) orders.set(place, wanted);
      if (readings.size > 0) doubted.set(place, readings);
    }
    if (location.pointer !== undefined) continue;
    for (const [line, held] of Map.groupBy(problems.filter(isOfTable), (one) => one.line))
      doubted.set(`line ${line}`, new Map([...readings, ...readingsIn(held)]));
  }
  return { doubted, orders, together: togetherIn(incomplete), incomplete, open, numbers };
}

const DOUBTS = ['encoding-unsure', 'spreadsheet-rewrite'];

async function* deadLettersOf(folder: string): AsyncGenerator<DeadLetter> {
  const parser = createJsonParser({ kind: 'list', path: [] });
  for await (const chunk of createReadStream(path.join(folder, 'dead-letters.json')))
    for (const { value } of parser.write(chunk as Buffer)) yield value as DeadLetter;
  for (const { value } of parser.end()) yield value as DeadLetter;
}

/** Whatever is wrong with the file itself is reported when it is inspected. */
function unlessBroken(error: unknown): undefined {
  if (!(error instanceof PoSyncError) && codeOf(error) !== 'ENOENT') throw error;
}
