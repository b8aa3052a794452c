import path from 'node:path';
import { type Config, type Mapping, mappingFor, plainMapping } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import type { SourceRecord } from '../order/record.ts';
import { readRecords } from '../parse/formats.ts';
import { inspectFile } from '../parse/inspect.ts';
import { batchNamedIn, fixMapping, type Originals, placeNamedBy, uncertainTextsIn } from '../parse/read-fix-file.ts';

/**
 * How to read a file: with the mapping of its source, or a fix file with that of the batch it corrects. `unknownBatch`:
 * the batch that a fix file names, but that is not known.
 */
export type HowToRead = { mapping: Mapping | undefined; originals?: Originals; unknownBatch?: string };

export type HowToReadDeps = {
  config: Pick<Config, 'sources' | 'mappings' | 'reports'>;
  /** Finds a batch by its name. */
  batches: { find(name: string): Promise<Pick<Batch, 'batch' | 'source'> | undefined> };
};

/** What to know of a file that corrects an unknown batch; `reason`: why that is not known. */
export function unknownBatchWarning(batch: string, source: string | undefined, reason: string): string {
  const mapping = source === undefined ? 'the standard columns' : `the mapping of source ${source}`;
  return `The file corrects batch ${batch}, but ${reason}: read with ${mapping}, which may not be the mapping of that batch.`;
}

/** Rows of a fix file that are compared with their originals: they are in memory. */
const MOST_ROWS = 50_000;

/** Finds out how to read a file of a source. Does not throw: a file that cannot be read fails when it is inspected. */
export async function howToRead(file: string, source: string, { config, batches }: HowToReadDeps): Promise<HowToRead> {
  const named = await batchNamedIn(file).catch(unlessBroken);
  const batch = named === undefined ? undefined : await batches.find(named);
  if (batch === undefined) return { mapping: mappingFor(config, source), ...(named && { unknownBatch: named }) };
  const mapping = fixMapping(mappingFor(config, batch.source) ?? plainMapping());
  const folder = path.join(config.reports.path, batch.batch);
  const written = path.join(folder, 'dead-letters.csv');
  const originals =
    (await originalsIn(written, batch.batch, mapping).catch(unlessBroken)) ??
    (await originalObjects(folder, batch.batch, mapping));
  return { mapping, ...(originals && { originals }) };
}

/** The rows of a fix file as po-sync wrote it. */
async function originalsIn(written: string, batch: string, mapping: Mapping): Promise<Originals | undefined> {
  const records = await recordsIn(written, mapping);
  if (records?.at === undefined) return undefined;
  const rows = new Map<number, readonly string[]>();
  for (const record of records.all)
    if (record.kind === 'row' && record.line !== undefined) rows.set(record.line, record.cells);
  return { batch, at: records.at, rows, guessed: await guessedIn(written, mapping), objects: new Map() };
}

/** The objects of a JSON fix file as po-sync wrote it. Those of a place that several have cannot be told apart. */
async function originalObjects(folder: string, batch: string, mapping: Mapping): Promise<Originals | undefined> {
  for (const name of ['dead-letters.fix.json', 'dead-letters.ndjson']) {
    const written = path.join(folder, name);
    const records = await recordsIn(written, mapping).catch(unlessBroken);
    if (records === undefined) continue;
    const objects = new Map<string, unknown>();
    for (const record of records.all) {
      const key = placeNamedBy(record);
      if (key !== undefined && record.kind === 'object') objects.set(key, objects.has(key) ? undefined : record.value);
    }
    return { batch, at: NO_COLUMNS, rows: new Map(), guessed: await guessedIn(written, mapping), objects };
  }
  return undefined;
}

const NO_COLUMNS: Originals['at'] = { purchaseOrderNumber: 0 };

/** What the numbers and articles of a fix file are if nobody names its encoding, by the place that each record names. */
async function guessedIn(written: string, mapping: Mapping): Promise<Originals['guessed']> {
  const auto: Mapping = { ...mapping, encoding: 'auto' };
  const guessed = new Map<string, Set<string>>();
  const records = await recordsIn(written, auto);
  for (const record of records?.all ?? []) {
    const key = record.kind === 'row' ? `line ${record.line}` : placeNamedBy(record);
    if (key === undefined) continue;
    const texts = guessed.get(key) ?? new Set();
    for (const text of uncertainTextsIn(record, auto, records?.at ?? NO_COLUMNS)) texts.add(text);
    guessed.set(key, texts);
  }
  return guessed;
}

type Records = { all: readonly SourceRecord[]; at: Originals['at'] | undefined };

/** The records of a fix file that is not too large; `at`: the columns of a table. */
async function recordsIn(written: string, mapping: Mapping): Promise<Records | undefined> {
  const inspection = await inspectFile(written, mapping);
  const { reading } = inspection;
  if (inspection.records > MOST_ROWS) return undefined;
  const all: SourceRecord[] = [];
  for await (const { records } of readRecords(written, inspection, undefined)) all.push(...records);
  return { all, at: 'objects' in reading ? undefined : reading.columns.at };
}

/** Whatever is wrong with the file itself is reported when it is inspected. */
function unlessBroken(error: unknown): undefined {
  if (!(error instanceof PoSyncError) && codeOf(error) !== 'ENOENT') throw error;
}
