import { codeOf, type PoSyncError } from '../../core/errors.ts';
import { openClaim } from '../../intake/folders.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { digestOf } from '../../order/digest.ts';
import { WERE_RESTORED } from '../../order/fixing.ts';
import type { CheckedOrder, Item, ValidOrder } from '../../order/order.ts';
import type { LeftOut } from '../../parse/format.ts';
import { inspectFile } from '../../parse/inspect.ts';
import type { Inspection } from '../../parse/inspection.ts';
import { batchNamedIn } from '../../parse/read-fix-file.ts';
import { findKept } from '../../report/results.ts';
import { type HowToReadDeps, howToRead } from '../../validate/how-to-read.ts';
import { findLeftOut, readOrders } from '../../validate/read-orders.ts';

/** Milliseconds that the search for an order in its file may take. */
export const SEARCH_TAKES = 5_000;

/**
 * An order of a batch. `kind`: `inbox` for a file in one of our folders inside an inbox. `digest`: of the content that was
 * sent; without it, the order of the unchanged file is wanted, on `line` if that is given. `sha256`: of the file as it was admitted. `isKept`: the file is `items.json` of a report. `isLeftOut`: only what the mapping leaves out is wanted.
 */
export type WantedOrder = {
  number: string;
  kind: ClaimedFile['kind'];
  path: string;
  source: string;
  digest?: string;
  line?: number;
  sha256?: string;
  isKept?: boolean;
  isLeftOut?: boolean;
};

/**
 * What a file says about an order now. `same`: its content is what was sent, or the file is unchanged since it was
 * admitted; `lines`: of all its rows; `isRestored`: cells of the file differ from what was read. `other`: it says something else now; `isChanged`: the file itself was changed. `no-file`: a link, a folder or
 * a pipe has its name. `late`: the search was stopped. `busy`: other searches were not done in time.
 */
export type FoundInFile =
  | { found: 'same'; items: Item[]; line: number; lines: readonly number[]; isRestored: boolean }
  | { found: 'other'; isChanged: boolean; leftOut?: LeftOut | undefined }
  | { found: 'missing' | 'no-file' | 'forbidden' | 'late' | 'busy' }
  | { found: 'unreadable'; code: string };

/**
 * Reads a file as admission does, up to the wanted order, and follows no link. A file has to be read to its end first,
 * to know how it is written. Does not reject; an error names no content, because the file may be another one now.
 */
export async function findInFile(
  wanted: WantedOrder,
  deps: HowToReadDeps,
  signal: AbortSignal,
): Promise<FoundInFile> {
  try {
    if (wanted.isKept) return await searchKept(wanted, signal);
    await using opened = await openClaim(wanted);
    return await search({ ...wanted, path: opened.path }, deps, signal);
  } catch (error) {
    return signal.aborted ? { found: 'late' } : faultOf(error);
  }
}

async function search(
  wanted: WantedOrder,
  deps: HowToReadDeps,
  signal: AbortSignal,
): Promise<FoundInFile> {
  const inspection = await inspectWanted(wanted, deps, signal);
  if ('refusal' in inspection) return { found: 'unreadable', code: inspection.refusal.code };
  const { path, number, isLeftOut } = wanted;
  if (isLeftOut)
    return {
      found: 'other',
      isChanged: false,
      leftOut: await findLeftOut(path, inspection, number, signal),
    };
  const isChanged = wanted.sha256 !== undefined && wanted.sha256 !== inspection.sha256;
  if (wanted.digest === undefined && wanted.sha256 !== inspection.sha256)
    return { found: 'other', isChanged: true };
  const isRestored = inspection.warnings.some((warning) => warning.includes(WERE_RESTORED));
  for await (const order of readOrders(wanted.path, inspection, { signal })) {
    signal.throwIfAborted();
    if (!isWanted(order, wanted)) continue;
    const lines = [...new Set(order.records.map(({ place }) => place.line))];
    return { found: 'same', items: order.order.items, line: order.place.line, lines, isRestored };
  }
  return { found: 'other', isChanged };
}

/** An order that a report did not keep has no items to show. */
async function searchKept(wanted: WantedOrder, signal: AbortSignal): Promise<FoundInFile> {
  const kept = await findKept(wanted, signal);
  if (kept === undefined || kept === 'other')
    return kept ? { found: 'other', isChanged: true } : { found: 'missing' };
  return {
    found: 'same',
    isRestored: false,
    items: kept.items,
    line: kept.line,
    lines: kept.lines ?? [kept.line],
  };
}

/** The first pass over a file as admission reads it; `refusal`: why it must not be read. */
async function inspectWanted(
  { path, source }: Pick<WantedOrder, 'path' | 'source'>,
  deps: HowToReadDeps,
  signal: AbortSignal,
): Promise<Inspection | { refusal: PoSyncError }> {
  const { mapping, originals, refusal } = await howToRead(path, source, deps);
  return refusal === undefined
    ? await inspectFile(path, mapping, { signal, originals })
    : { refusal };
}

function isWanted(order: CheckedOrder, { number, digest, line }: WantedOrder): order is ValidOrder {
  if (!order.valid || order.number !== number) return false;
  if (digest === undefined) return line === undefined || order.place.line === line;
  return digestOf(order.order) === digest;
}

function faultOf(error: unknown): FoundInFile {
  const code = codeOf(error) ?? 'unknown';
  switch (code) {
    case 'file-missing':
    case 'ENOENT':
    case 'ENOTDIR':
      return { found: 'missing' };
    case 'not-a-file':
    case 'folder-is-link':
    case 'ELOOP':
      return { found: 'no-file' };
    case 'file-not-readable':
    case 'EACCES':
    case 'EPERM':
      return { found: 'forbidden' };
    case 'file-changed':
      return { found: 'other', isChanged: true };
    default:
      return { found: 'unreadable', code };
  }
}

/** As `findInFile`, from values that can be sent to a thread; `corrected`: the batch that the file corrects, if it is known. */
export const findOrder = (
  wanted: WantedOrder,
  config: HowToReadDeps['config'],
  corrected: Batch | undefined,
) => findInFile(wanted, knowing(config, corrected), AbortSignal.timeout(SEARCH_TAKES));

/** How a thread, which has no Redis, reads a file that corrects a batch. */
function knowing(config: HowToReadDeps['config'], corrected: Batch | undefined): HowToReadDeps {
  return {
    config,
    batches: { find: async (name) => (corrected?.batch === name ? corrected : undefined) },
  };
}

/** The batch that the file of a fix file corrects; undefined for any other file, and for one that cannot be read. */
export async function correctedBatch(
  wanted: Pick<WantedOrder, 'kind' | 'path' | 'isKept'>,
): Promise<string | undefined> {
  if (wanted.isKept) return undefined;
  try {
    await using opened = await openClaim(wanted);
    return await batchNamedIn(opened.path);
  } catch {
    return undefined;
  }
}
