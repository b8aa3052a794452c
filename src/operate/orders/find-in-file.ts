import { codeOf } from '../../core/errors.ts';
import { inspectAs, type ReadAsDeps } from '../../correct/read-as.ts';
import { readOrders } from '../../correct/read-orders.ts';
import { openClaim } from '../../intake/folders.ts';
import type { ClaimedFile } from '../../order/batch.ts';
import { digestOf } from '../../order/digest.ts';
import type { CheckedOrder, Item, ValidOrder } from '../../order/order.ts';
import { findKept } from '../../report/results.ts';

/** Milliseconds that the search for an order in its file may take. */
export const SEARCH_TAKES = 5_000;

/**
 * An order of a batch. `kind`: `inbox` for a file in one of our folders inside an inbox. `digest`: of the content that was
 * sent; without it, the order of the unchanged file is wanted, on `line` if that is given. `sha256`: of the file as it was admitted. `isKept`: the file is `items.json` of a report.
 */
export type WantedOrder = {
  number: string;
  kind: ClaimedFile['kind'];
  path: string;
  source: string;
  batch?: string;
  digest?: string;
  line?: number;
  sha256?: string;
  isKept?: boolean;
};

/**
 * What a file says about an order now. `same`: its content is what was sent, or the file is unchanged since it was
 * admitted; `lines`: of all its rows; `isCorrection`: the file only has what was corrected in the order. `other`: it says something else now; `isChanged`: the file itself was changed. `no-file`: a link, a folder or
 * a pipe has its name. `late`: the search was stopped. `busy`: other searches were not done in time.
 */
export type FoundInFile =
  | { found: 'same'; items: Item[]; line: number; lines: readonly number[]; isCorrection: boolean }
  | { found: 'other'; isChanged: boolean }
  | { found: 'missing' | 'no-file' | 'forbidden' | 'late' | 'busy' }
  | { found: 'unreadable'; code: string };

/**
 * Reads a file as admission does, up to the wanted order, and follows no link. A file has to be read to its end first,
 * to know how it is written. Does not reject; an error names no content, because the file may be another one now.
 */
export async function findInFile(
  wanted: WantedOrder,
  deps: ReadAsDeps,
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
  deps: ReadAsDeps,
  signal: AbortSignal,
): Promise<FoundInFile> {
  const { inspection } = await inspectAs(wanted, deps, signal);
  const isChanged = wanted.sha256 !== undefined && wanted.sha256 !== inspection.sha256;
  if (wanted.digest === undefined && wanted.sha256 !== inspection.sha256)
    return { found: 'other', isChanged: true };
  const isCorrection = inspection.isFixFile === true;
  for await (const order of readOrders(wanted.path, inspection, { signal })) {
    signal.throwIfAborted();
    if (!isWanted(order, wanted)) continue;
    const lines = [...new Set(order.records.map(({ place }) => place.line))];
    return { found: 'same', items: order.order.items, line: order.place.line, lines, isCorrection };
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
    isCorrection: false,
    items: kept.items,
    line: kept.line,
    lines: kept.lines ?? [kept.line],
  };
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

/** As `findInFile`, from values that can be sent to a thread. */
export const findOrder = (wanted: WantedOrder, config: ReadAsDeps['config']) =>
  findInFile(
    wanted,
    { config, batches: { find: async () => undefined } },
    AbortSignal.timeout(SEARCH_TAKES),
  );
