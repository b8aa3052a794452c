import type { Mapping } from '../config/mapping-schema.ts';
import { PoSyncError } from '../core/errors.ts';
import { sameStamp } from '../core/regular-file.ts';
import { openFile } from '../parse/open.ts';
import type { Declared } from '../parse/record.ts';
import { apiMappings } from './api-mappings.ts';
import type { MappedOrder } from './group.ts';
import { compile } from './plan.ts';
import {
  type Inspection,
  type InspectOptions,
  inspectRecords,
  isObjectFormat,
  type NamedMapping,
  type ReadOptions,
  readRecords,
} from './read-records.ts';

/**
 * The first pass over a file: which mapping it has, and whether it waits for a person. PoSyncError `unreadable-…` when
 * nothing of it can be read, `file-changed` when it changes meanwhile.
 */
export async function inspectFile(
  path: string,
  mappings: readonly NamedMapping[],
  options: InspectOptions = {},
): Promise<Inspection> {
  const tried: Tried[] = [];
  for (const mapping of mappings) tried.push(await tryMapping(path, mapping, options));
  if (tried.length === 0) return await inspectWithoutMapping(path, options);
  return choose(tried);
}

type Tried = { mapping: NamedMapping } & ({ inspection: Inspection } | { error: PoSyncError });

async function tryMapping(
  path: string,
  mapping: NamedMapping,
  options: InspectOptions,
): Promise<Tried> {
  try {
    await using file = await openFile(path, declaredOf(mapping.mapping), options);
    const inspection = await inspectRecords(file, compile(mapping.mapping), mapping, options);
    return { mapping, inspection: { ...inspection, stamp: file.stamp } };
  } catch (error) {
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable-')) throw error;
    return { mapping, error };
  }
}

/** Of several mappings, the one whose layout the file has; of one, that one. */
function choose(tried: readonly Tried[]): Inspection {
  const [only, ...others] = tried;
  if (only !== undefined && others.length === 0) {
    if ('error' in only) throw only.error;
    return only.inspection;
  }
  const fitting = tried.filter((one) => 'inspection' in one && isFitting(one.inspection));
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1 && 'inspection' in first) return first.inspection;

  // What is wrong whatever the mapping says is said as it is.
  const faults = tried.flatMap((one) => ('error' in one ? [one.error] : []));
  const cause = faults.find(({ code }) => !OF_MAPPING.has(code));
  if (cause !== undefined && faults.length === tried.length) throw cause;
  const names = (some: readonly Tried[]) => some.map(({ mapping }) => mapping.name);
  const facts = { mappings: names(tried), fitting: names(fitting) };
  const counts = { records: 0, orders: 0, skipped: 0, damaged: 0 };
  const isOpenEnded = tried.some((one) =>
    'error' in one ? one.error.facts['isOpenEnded'] === true : one.inspection.isOpenEnded,
  );
  return { state: { waits: { code: 'mapping', facts } }, counts, isOpenEnded };
}

/** Faults that another mapping may not have. */
const OF_MAPPING = new Set([
  'unreadable-header',
  'unreadable-two-columns',
  'unreadable-column-missing',
  'unreadable-records',
  'unreadable-sheet',
  'unreadable-foreign',
  'unreadable-json',
  'unreadable-xml',
]);

function isFitting({ state }: Inspection): boolean {
  return state === 'ready' || state.waits.code !== 'layout';
}

async function inspectWithoutMapping(path: string, options: InspectOptions): Promise<Inspection> {
  await using file = await openFile(path, { isWritten: false }, options);
  const [first, ...others] = apiMappings(isObjectFormat(file));
  if (first === undefined) throw new TypeError('no mapping for the names of the API');
  for (const mapping of [first, ...others]) {
    try {
      const plan = compile(mapping, { lacksState: true });
      const inspection = await inspectRecords(file, plan, { name: '', mapping }, options);
      return { ...inspection, stamp: file.stamp };
    } catch (error) {
      const isOther = error instanceof PoSyncError && error.code === 'unreadable-column-missing';
      if (!isOther || mapping === others.at(-1)) throw error;
    }
  }
  throw new TypeError('unreachable');
}

/** What the reader of the format must know of a mapping. */
function declaredOf(mapping: Mapping): Declared {
  const { format, encoding, delimiter, quote, sheet, records, widths } = mapping;
  return {
    ...(format !== undefined && { format }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
    ...(quote !== undefined && { quote }),
    ...(sheet !== undefined && { sheet }),
    ...(records !== undefined && { records }),
    ...(widths !== undefined && { widths }),
    isWritten: mapping.skipRows.length > 0 || mapping.lastRow !== undefined,
  };
}

/**
 * The second pass over an inspected file: its orders in pages, each as soon as all its rows are there. PoSyncError
 * `file-changed` when it is not the file that was inspected.
 */
export async function* readOrderPages(
  path: string,
  { reading, stamp, state }: Inspection,
  options: ReadOptions = {},
): AsyncGenerator<MappedOrder[]> {
  if (reading === undefined || (state !== 'ready' && options.released === undefined))
    throw new TypeError('a file that waits is read only when it is released');
  await using file = await openFile(path, declaredOf(reading.mapping.mapping), options);
  if (stamp !== undefined && !sameStamp(stamp, file.stamp))
    throw new PoSyncError('file-changed', 'file-changed', {});
  yield* readRecords(file, reading, options);
}
