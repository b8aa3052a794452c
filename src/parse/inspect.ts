import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Mapping, plainMapping } from '../config/config.ts';
import { codeOf } from '../core/errors.ts';
import { openRegularFile, type Stamp, stampOf } from '../core/regular-file.ts';
import { readBytes } from './bytes.ts';
import { isSingleByte } from './code-pages.ts';
import { readContent } from './decoder.ts';
import { EncodingFault, type Utf8Evidence, watchUtf8 } from './encoding.ts';
import {
  asJson,
  doubtTexts,
  type EncodingDoubt,
  encodingError,
  guessDoubt,
  isSingleByteText,
  refuseFalseDeclaration,
  weakDoubt,
} from './fault-place.ts';
import type { OpenFile } from './format.ts';
import { FORMATS, formatOf } from './formats.ts';
import type { Inspection, Reading } from './inspection.ts';
import type { Originals } from './read-fix-file.ts';
import { type Sniffed, sniff } from './sniff.ts';

/**
 * The first pass: reads a file to its end, so that nothing is sent from a broken one, and finds out how it is written.
 * PoSyncError `unreadable-…` with line and column when it cannot be read as orders; `file-missing`, `not-a-file`,
 * `file-not-readable`, and `file-changed` when it was written to meanwhile (read it again).
 */
export async function inspectFile(
  path: string,
  mapping: Mapping | undefined,
  options: InspectOptions = {},
): Promise<Inspection> {
  await using handle = await openRegularFile(path);
  return await inspectOpen(handle, mapping ?? plainMapping(), options);
}

export type InspectOptions = {
  signal?: AbortSignal;
  /** Of a fix file: the rows that it corrects. */
  originals?: Originals | undefined;
};

async function inspectOpen(
  handle: FileHandle,
  mapping: Mapping,
  options: InspectOptions,
): Promise<Inspection> {
  const stamp = await stampOf(handle);
  const sniffed = await sniff(handle, stamp, mapping);
  if (sniffed.isDeclared) await refuseFalseDeclaration(handle, stamp, sniffed);
  const content = mayIgnore(sniffed, mapping)
    ? await asJson(handle, stamp, sniffed)
    : { ...sniffed, isGuess: false };
  let doubt: EncodingDoubt | undefined;
  try {
    return await pass(handle, stamp, content, mapping, options);
  } catch (error) {
    if (!(error instanceof EncodingFault)) throw error;
    if (!sniffed.isAssumed || !(await isSingleByteText(handle, stamp, sniffed.gzip, error)))
      throw await encodingError(handle, stamp, sniffed, error);
    if (options.originals?.encoding === undefined)
      doubt = await guessDoubt(handle, stamp, sniffed.gzip, error);
  }
  const written = options.originals?.encoding;
  const fallback = { encoding: written ?? 'windows-1252', isGuess: written === undefined } as const;
  return await pass(
    handle,
    stamp,
    { ...sniffed, ...fallback, ...(doubt && { doubt }) },
    mapping,
    options,
  );
}

/** Whether it is JSON, and nothing but the mapping says that its encoding is one of single bytes. */
function mayIgnore({ encoding, mark, start }: Sniffed, mapping: Mapping): boolean {
  const isNamed = mapping.encoding === encoding && mark === 0;
  return isNamed && isSingleByte(encoding) && formatOf(start, mapping) === 'json';
}

async function pass(
  handle: FileHandle,
  stamp: Stamp,
  sniffed: Sniffed & { isGuess: boolean; doubt?: EncodingDoubt },
  mapping: Mapping,
  { signal, originals }: InspectOptions,
): Promise<Inspection> {
  const { encoding, mark, gzip, isGuess, isArchive, start } = sniffed;
  const text = { encoding, mark, gzip, isGuess };
  const hash = createHash('sha256');
  const evidence = watchUtf8();
  const size = Number(stamp.size);
  const file: OpenFile = {
    handle,
    stamp,
    text: () => watched(readContent(handle, stamp, { ...text, hash, signal }), evidence),
    bytes: () => readBytes(handle, stamp, { gzip: false, hash, signal }),
    start,
    size: gzip || isArchive ? size * LIKELY_RATIO : size,
    signal,
  };
  const name = formatOf(start, mapping);
  const found = await FORMATS[name].inspect(file, mapping, originals);
  const format = { ...found.shape.format, ...(!isArchive && { encoding }), ...(gzip && { gzip }) };
  const doubt = sniffed.isAssumed && encoding === 'utf-8' ? weakDoubt(evidence) : sniffed.doubt;
  // The entry `name` of the table made the reading.
  const reading = { format: name, ...text, ...found.reading } as Reading;
  const again = { ...file, text: () => readContent(handle, stamp, { ...text, signal }) };
  return {
    shape: { ...found.shape, format, ...(mark > 0 && { bom: true }) },
    records: found.records,
    ...(found.orders !== undefined && { orders: found.orders }),
    bytes: size,
    sha256: hash.digest('hex'),
    warnings: [
      ...sniffed.warnings,
      ...(await doubtTexts(doubt, again, reading, mapping)),
      ...found.warnings,
    ],
    isFixFile: found.isFixFile,
    ...(found.unused && { unused: found.unused }),
    stamp,
    mapping,
    reading,
  };
}

async function* watched(
  content: AsyncIterable<Buffer>,
  evidence: Utf8Evidence,
): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    evidence.look(piece);
    yield piece;
  }
}

/** How much larger content is than its gzip or workbook; only sizes the filters. */
const LIKELY_RATIO = 10;

/** Reads a file again when it was replaced meanwhile. */
export function steadily<Found>(read: () => Promise<Found>, most = 20): Promise<Found> {
  return read().catch((error: unknown) => {
    if (codeOf(error) !== 'file-changed' || most === 1) throw error;
    return steadily(read, most - 1);
  });
}
