import { createReadStream } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Config, mappingsFor, type NamedMapping } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import {
  draftPath,
  hashFile,
  openRegularFile,
  readJsonIfExists,
  stampOf,
} from '../core/regular-file.ts';
import type { Taker } from '../ledger/batches/aftermath.ts';
import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { apiMappings } from '../mapping/api-mappings.ts';
import {
  type Closings,
  type CorrectionCounts,
  closedBy,
  type DeadLetter,
} from '../order/dead-letter.ts';
import { idOf, splitId } from '../order/letter-id.ts';
import { batchTitle } from '../order/named-batch.ts';
import { parseExactly } from '../order/quantity.ts';
import type { FileShape } from '../order/record.ts';
import { closingText } from '../wording/closing.ts';
import {
  type Applied,
  type AppliedPatch,
  applyPatch,
  assignAdded,
  type Corrected,
  linesAfter,
} from './apply-patch.ts';
import type { Letter } from './edit-letter.ts';
import { type Inspection, inspectOptionsFor, inspectOrders } from './inspection.ts';
import { type FoundPatch, findPatches, type Patch } from './patch.ts';
import { foreignBatch, ofTwoLayouts } from './unreadable.ts';

/** Whose mapping reads the rows of a batch, and the form of its file. */
type Layout = { source: string; mapping?: string; shape: FileShape };

/** What a file that corrects batches does: which they are, and the layout of those of which it touches rows. */
export type Correction = Applied & Layout & { of: readonly string[] };

/**
 * A file as it is read. Of one that corrects a batch: its `correction`, and the source whose mapping reads it, where it is
 * not its own.
 */
export type ReadAs = {
  inspection: Inspection;
  correction?: Correction | undefined;
  readAs?: string | undefined;
};

/** A file of a source; `batch`: its own, once it is claimed. `withoutRows`: a person released it so. */
export type FileOf = {
  path: string;
  source: string;
  batch?: string | undefined;
  withoutRows?: boolean;
};

export type ReadAsDeps = {
  config: Pick<Config, 'sources' | 'mappings' | 'reports' | 'environment' | 'environments'>;
  batches: {
    find(name: string): Promise<FoundBatch | undefined>;
    closings?(batch: string): Promise<Closings>;
    taken?(batch: string): Promise<ReadonlyMap<string, Taker>>;
    openLetters?: Batches['openLetters'];
  };
  /** The first pass; absent: `inspectOrders`. */
  inspect?: typeof inspectOrders;
};

type FoundBatch = Pick<Batch, 'source'> & {
  name?: string;
  inspection?: Partial<Pick<NonNullable<Batch['inspection']>, 'readAs' | 'shape' | 'mapping'>>;
};

/**
 * The first pass over a file as its source reads it. A file that corrects a batch is read as the rows of the orders that it
 * touches, with the mapping of that batch. What a claimed one does is decided once. PoSyncError like `inspectFile`.
 */
export async function inspectAs(
  file: FileOf,
  deps: ReadAsDeps,
  signal?: AbortSignal,
): Promise<ReadAs> {
  const { config, inspect = inspectOrders } = deps;
  const kept = file.batch === undefined ? undefined : await keptCorrection(file.batch, config);
  const found = kept === undefined ? await findPatches(file.path) : undefined;
  if (kept === undefined && found === undefined) {
    const options = { signal, ...inspectOptionsFor(config, file.source) };
    const inspection = await inspect(file.path, mappingsFor(config, file.source), options);
    const { withoutRows } = file;
    return { inspection: { ...inspection, ...(withoutRows && { withoutRows }) } };
  }
  const correction = kept ?? (await correctionIn(found ?? [], file.batch, deps));
  if (kept === undefined && file.batch !== undefined) await keep(file.batch, correction, config);
  const inspection = await inspectionOf(file.path, correction, mappingOf(correction, config));
  const readAs = correction.source === file.source ? {} : { readAs: correction.source };
  return { inspection, correction, ...readAs };
}

/** The mapping of the batch that is corrected. */
function mappingOf(
  { source, mapping, shape }: Pick<Correction, 'source' | 'mapping' | 'shape'>,
  config: ReadAsDeps['config'],
): NamedMapping {
  const all = mappingsFor(config, source);
  const own = all.find(({ name }) => name === mapping) ?? all[0];
  if (own !== undefined) return own;
  const [orders, rows = orders] = apiMappings(shape.header === undefined);
  const plain = shape.items === undefined ? rows : orders;
  if (plain === undefined) throw new TypeError('the API has names');
  return { name: '', mapping: plain };
}

/** A batch with what a file changes in it. */
type Part = { patch: Patch; corrected: Corrected; layout: Layout };

async function correctionIn(
  found: readonly FoundPatch[],
  own: string | undefined,
  deps: ReadAsDeps,
): Promise<Correction> {
  const parts: Part[] = [];
  for (const one of found) parts.push(await partOf(one, own, deps));
  const first = applyAll(parts);
  const applied = (await joinGiven(parts, first, own, deps)) ? applyAll(parts) : first;
  const touched = applied.filter(({ records }) => records.length > 0);
  const layouts = new Map(touched.map(({ layout }) => [JSON.stringify(layoutKey(layout)), layout]));
  if (layouts.size > 1) throw ofTwoLayouts([...layouts.values()]);
  const layout = touched[0]?.layout ?? applied[0]?.layout;
  if (layout === undefined) throw new TypeError('a correction has a batch');
  const sum = (of: keyof CorrectionCounts) =>
    applied.reduce((all, { counts }) => all + counts[of], 0);
  return {
    ...layout,
    of: parts.map(({ corrected }) => corrected.batch),
    records: touched.flatMap(({ records }) => records),
    discards: applied.flatMap(({ discards }) => discards),
    counts: {
      taken: sum('taken'),
      restored: sum('restored'),
      discarded: sum('discarded'),
      unchanged: sum('unchanged'),
      outdated: sum('outdated'),
    },
    warnings: applied.flatMap(({ warnings }) => warnings),
  };
}

type AppliedPart = AppliedPatch & { layout: Layout };

function applyAll(parts: readonly Part[]): AppliedPart[] {
  const patches = assignAdded(parts);
  const lineFor = linesAfter(patches);
  return parts.flatMap(({ corrected, layout }, i) => {
    const { [i]: patch } = patches;
    return patch ? [{ layout, ...applyPatch(patch, corrected, lineFor) }] : [];
  });
}

/**
 * Rows that were given the number of an open dead letter of another file join it, if they can be in one table with it; otherwise
 * they cannot have that number. False where there is none.
 */
async function joinGiven(
  parts: Part[],
  applied: readonly AppliedPart[],
  own: string | undefined,
  deps: ReadAsDeps,
): Promise<boolean> {
  const taken = new Set(applied.flatMap(({ records }) => records.map(({ from }) => from?.id)));
  const given = applied.flatMap(({ given: numbers, layout }) =>
    numbers.map((number) => ({ number, layout })),
  );
  const open = (await deps.batches.openLetters?.(given.map(({ number }) => number))) ?? [];
  const barred = new Map<string, string>();
  for (const [i, { number, layout }] of given.entries()) {
    const other = open[i];
    if (other === undefined || taken.has(idOf(other.batch, other.ordinal))) continue;
    const known = parts.find(({ corrected }) => corrected.batch === other.batch);
    const nothing = { batch: other.batch, isForm: false, rows: [] };
    const part = known ?? (await partOf({ batch: other.batch, read: () => nothing }, own, deps));
    const letter = part.corrected.letters.find(({ ordinal }) => ordinal === other.ordinal);
    const canJoin =
      layout.shape.header !== undefined &&
      isDeepStrictEqual(layoutKey(part.layout), layoutKey(layout)) &&
      letter?.ended === undefined &&
      letter?.kind !== 'inDoubt';
    if (!canJoin) barred.set(number, `order ${number} needs a person itself, in ${other.batch}`);
    else if (known === undefined) parts.push(part);
    if (canJoin) part.corrected.joins?.add(other.ordinal);
  }
  for (const { corrected } of parts) corrected.barred = barred;
  return given.length > 0;
}

async function partOf(
  { batch: name, read }: FoundPatch,
  own: string | undefined,
  { config, batches }: ReadAsDeps,
): Promise<Part> {
  const batch = (await batches.find(name)) ?? (await reportedBatch(name, config));
  const shape = batch?.inspection?.shape;
  if (batch === undefined || shape === undefined) throw foreignBatch(name, config.environment);
  const source = batch.inspection?.readAs ?? batch.source;
  const { mapping: name_ } = batch.inspection ?? {};
  const layout = { source, shape, ...(name_ !== undefined && { mapping: name_ }) };
  const { mapping } = mappingOf(layout, config);
  const closings = await batches.closings?.(name);
  const taken = await batches.taken?.(name);
  const endOf = async (letter: DeadLetter): Promise<string | undefined> => {
    const closing = closings?.get(letter.id);
    const closed = closing ? closedBy(closing) : letter.closed;
    if (closed !== undefined) {
      const file = closed.batch && (await batches.find(closed.batch))?.name;
      return `it was ${closingText(closed, file)}`;
    }
    const by = taken?.get(letter.id);
    if (by === undefined || by.isOver || by.batch === own) return undefined;
    const file = (await batches.find(by.batch))?.name;
    return `it is being corrected as ${by.number}, in ${batchTitle({ batch: by.batch, file })}`;
  };
  const letters = await lettersIn(listOf(name, config), endOf).catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' ? foreignBatch(name, config.environment) : error;
  });
  const corrected = { batch: name, letters, shape, mapping, joins: new Set<number>() };
  return { patch: read(mapping.decimal), corrected, layout };
}

/** The dead letters of a report that have rows. */
async function lettersIn(
  list: string,
  endOf: (letter: DeadLetter) => Promise<string | undefined>,
): Promise<Letter[]> {
  const letters: Letter[] = [];
  for await (const letter of readLetters(list)) {
    const [, ordinal] = splitId(letter.id);
    letters.push({ ...letter, ordinal, ended: await endOf(letter) });
  }
  return letters;
}

/** The list of the dead letters of a batch. */
export function listOf(batch: string, { reports }: Pick<Config, 'reports'>): string {
  return path.join(reports.path, batch, 'dead-letters.json');
}

/** The dead letters of a list, one a line; the numbers of their objects keep their source text. */
export async function* readLetters(list: string): AsyncGenerator<DeadLetter> {
  for await (const line of linesIn(list)) {
    if (!line.startsWith('{')) continue;
    const text = line.replace(/,$/, '');
    yield withExactValues(JSON.parse(text) as DeadLetter, text);
  }
}

/** A text has other line separators, at which Node's readline would split. */
async function* linesIn(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(file, 'utf8')) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

function withExactValues(letter: DeadLetter, text: string): DeadLetter {
  if (letter.rows?.every(({ value }) => value === undefined) ?? true) return letter;
  const { rows } = parseExactly(text) as DeadLetter;
  const values = rows?.map(({ value }) => value);
  return {
    ...letter,
    rows: letter.rows?.map((row, i) => ({ ...row, ...('value' in row && { value: values?.[i] }) })),
  } as DeadLetter;
}

/** Equal for files whose rows can be in one table. */
export function layoutKey({
  mapping,
  shape: { header, items },
}: Omit<Layout, 'source'>): unknown[] {
  return [mapping, header, items];
}

/** A batch that has a report of this environment: Redis may have lost it. */
async function reportedBatch(
  batch: string,
  { reports, environment }: ReadAsDeps['config'],
): Promise<FoundBatch | undefined> {
  if (reports.path === '' || batch === '') return undefined;
  const folder = path.join(reports.path, batch);
  const report = (await readJsonIfExists(path.join(folder, 'report.json')).catch(
    () => undefined,
  )) as Partial<Reported> | undefined;
  if (report?.source === undefined || report.environment !== environment || !report.format)
    return undefined;
  const { source, readAs, file: name, format, header, items, mapping } = report;
  const shape = { format, ...(header && { header }), ...(items && { items }) };
  const by = { ...(readAs && { readAs }), ...(mapping !== undefined && { mapping }) };
  return { source, ...(name && { name }), inspection: { shape, ...by } };
}

type Reported = FileShape &
  Record<'source' | 'environment' | 'readAs' | 'file' | 'mapping', string>;

const KEPT = '.correction.json';

/** What a claimed file does, as it was decided first: what it corrects changes with it. */
async function keptCorrection(
  batch: string,
  { reports }: ReadAsDeps['config'],
): Promise<Correction | undefined> {
  const file = path.join(reports.path, batch, KEPT);
  const text = await openRegularFile(file).then(
    async (handle) => {
      await using opened = handle;
      return await opened.readFile('utf8');
    },
    () => undefined,
  );
  if (text === undefined) return undefined;
  const kept = JSON.parse(text) as Correction;
  if (kept.records.every(({ kind }) => kind === 'row')) return kept;
  const { records } = parseExactly(text) as Correction;
  const exact = kept.records.map((record, i) => {
    const now = records[i];
    return record.kind === 'object' && now?.kind === 'object'
      ? { ...record, value: now.value }
      : record;
  });
  return { ...kept, records: exact };
}

async function keep(
  batch: string,
  correction: Correction,
  { reports }: ReadAsDeps['config'],
): Promise<void> {
  const folder = path.join(reports.path, batch);
  await mkdir(folder, { recursive: true });
  const draft = draftPath(folder);
  await writeFile(draft, JSON.stringify(correction), { flush: true });
  await rename(draft, path.join(folder, KEPT));
}

/** The rows of a correction, as if a file with the form of the corrected one had been read. */
async function inspectionOf(
  file: string,
  { records, shape, warnings }: Correction,
  mapping: NamedMapping,
): Promise<Inspection> {
  await using handle = await openRegularFile(file);
  const stamp = await stampOf(handle);
  const { bytes, sha256 } = await hashFile(file);
  return {
    shape,
    records: records.length,
    skipped: 0,
    bytes,
    sha256,
    warnings: [...warnings],
    isFixFile: true,
    stamp,
    mappings: [mapping],
    given: records,
    read: {
      state: 'ready',
      counts: { records: records.length, orders: 0, skipped: 0, damaged: 0 },
      isOpenEnded: false,
    },
  };
}
