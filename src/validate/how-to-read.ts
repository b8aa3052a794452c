import path from 'node:path';
import { type Config, type Mapping, mappingFor, plainMapping } from '../config/config.ts';
import { codeOf, PoSyncError } from '../core/errors.ts';
import type { Batch } from '../ledger/batches/batches.ts';
import { inspectFile } from '../parse/inspect.ts';
import { batchNamedIn, fixMapping, type Originals, placeNamedBy } from '../parse/read-fix-file.ts';
import { readRecords } from '../parse/records.ts';

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

/** The fix file as we wrote it, with the mapping as it is now and as a file whose encoding is not known. */
async function originalsIn(written: string, batch: string, mapping: Mapping): Promise<Originals | undefined> {
  const now = await rowsIn(written, mapping);
  if (now === undefined) return undefined;
  const unknown = mapping.encoding === 'auto' ? now : await rowsIn(written, { ...mapping, encoding: 'auto' });
  return {
    batch,
    at: now.at,
    rows: now.rows,
    guessed: unknown?.isGuess === true ? unknown.rows : new Map(),
    objects: new Map(),
  };
}

async function rowsIn(written: string, mapping: Mapping) {
  const inspection = await inspectFile(written, mapping);
  const { reading } = inspection;
  if ('objects' in reading || inspection.records > MOST_ROWS) return undefined;
  const rows = new Map<number, readonly string[]>();
  for await (const { records } of readRecords(written, inspection, undefined)) {
    for (const record of records) {
      if (record.kind === 'row' && record.line !== undefined) rows.set(record.line, record.cells);
    }
  }
  return { at: reading.columns.at, rows, isGuess: reading.isGuess };
}

/** The objects of a JSON fix file as we wrote it. Those of a place that several have cannot be told apart. */
async function originalObjects(folder: string, batch: string, mapping: Mapping): Promise<Originals | undefined> {
  for (const name of ['dead-letters.fix.json', 'dead-letters.ndjson']) {
    const written = path.join(folder, name);
    const inspection = await inspectFile(written, mapping).catch(unlessBroken);
    if (inspection === undefined || inspection.records > MOST_ROWS) continue;
    const objects = new Map<string, unknown>();
    for await (const { records } of readRecords(written, inspection, undefined)) {
      for (const record of records) {
        const key = record.kind === 'object' ? placeNamedBy(record) : undefined;
        if (key !== undefined && record.kind === 'object')
          objects.set(key, objects.has(key) ? undefined : record.value);
      }
    }
    return { batch, at: { purchaseOrderNumber: 0 }, rows: new Map(), guessed: new Map(), objects };
  }
  return undefined;
}

/** Whatever is wrong with the file itself is reported when it is inspected. */
function unlessBroken(error: unknown): undefined {
  if (!(error instanceof PoSyncError) && codeOf(error) !== 'ENOENT') throw error;
}
