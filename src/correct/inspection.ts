import type { Config, NamedMapping } from '../config/config.ts';
import { hashFile, openRegularFile, type Stamp, stampOf } from '../core/regular-file.ts';
import { inspectFile } from '../mapping/read-file.ts';
import type { Inspection as Read } from '../mapping/read-records.ts';
import type { ContentWait } from '../order/file-wait.ts';
import type { Numbers } from '../order/number-key.ts';
import type { FileShape, SourceRecord } from '../order/record.ts';
import { asText } from '../order/sentence.ts';
import { fileWarnings } from '../wording/file-warnings.ts';
import { layoutFault } from '../wording/layout-fault.ts';

/** What the first pass over a file found, and how the second pass reads it. */
export type Inspection = {
  /** For the report and the fix file. */
  shape: FileShape;
  /** Rows or objects; empty rows do not count. */
  records: number;
  /** Orders that they form; absent where only the second pass can count them. */
  orders?: number;
  /** Records that the mapping leaves out. */
  skipped: number;
  /** Of the file as dropped; the digest in hexadecimal. */
  bytes: number;
  sha256: string;
  /** For people. */
  warnings: string[];
  /** Why it waits for a person. */
  waits?: ContentWait;
  /** A person released it without the rows that belong to no order. */
  withoutRows?: boolean;
  /** It corrects a batch: `given` are its rows, whatever the file itself has. */
  isFixFile?: boolean;
  given?: readonly SourceRecord[];
  /** The second pass refuses a file that has another. */
  stamp: Stamp;
  mappings: readonly NamedMapping[];
  read: Read;
};

export type InspectOptions = {
  signal?: AbortSignal | undefined;
  maxOrders?: number | undefined;
  numbers?: Numbers | undefined;
};

/** How the files of a source are looked through. */
export function inspectOptionsFor(
  { sources, environments, environment }: Pick<Config, 'sources' | 'environments' | 'environment'>,
  source: string,
): InspectOptions {
  const { maxOrders } = sources.find(({ name }) => name === source) ?? {};
  return { maxOrders, numbers: environments[environment]?.numbers };
}

/**
 * The first pass: reads a file to its end with the mapping that it has, so that nothing is sent from a broken one.
 * PoSyncError `unreadable-…`; `file-missing`, `not-a-file`, `file-not-readable`; `file-changed` when it was written to.
 */
export async function inspectOrders(
  path: string,
  mappings: readonly NamedMapping[],
  options: InspectOptions = {},
): Promise<Inspection> {
  const read = await inspectFile(path, mappings, options).catch((error: unknown) => {
    throw layoutFault(error);
  });
  const { counts, state, reading } = read;
  return {
    ...(await factsOf(path, read)),
    records: counts.records,
    ...((state !== 'ready' || reading?.survey.isExact !== false) && { orders: counts.orders }),
    skipped: counts.skipped,
    warnings: fileWarnings(read).map(asText),
    ...(state !== 'ready' && { waits: state.waits }),
    mappings,
    read,
  };
}

/** A file that no mapping fits was not read to its end. */
async function factsOf(path: string, { reading, stamp }: Read) {
  if (reading !== undefined && stamp !== undefined) {
    const { sha256, bytes } = reading.summary;
    return { shape: shapeOf(reading), sha256, bytes, stamp };
  }
  await using handle = await openRegularFile(path);
  const shape: FileShape = { format: { type: 'csv' } };
  return { shape, ...(await hashFile(path)), stamp: await stampOf(handle) };
}

function shapeOf({ summary, delimiter, survey, plan }: NonNullable<Read['reading']>): FileShape {
  const { format: type, encoding, gzip, newline } = summary;
  const { header } = survey.layout;
  const { items, decimal } = plan.mapping;
  return {
    format: {
      type,
      ...(type === 'csv' && { delimiter }),
      ...(type !== 'xlsx' && { encoding }),
      ...(decimal !== undefined && { decimal }),
      ...(gzip && { gzip }),
    },
    ...(header !== undefined && { header }),
    ...(items !== undefined && { items: [items] }),
    ...(newline !== undefined && { newline }),
  };
}
