import type { Config } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import type { Item, Order } from '../../order/order.ts';
import { keptItemsOf } from '../../report/results.ts';
import type { OperatorContext } from '../operator-context.ts';
import { type Appearance, linesText, sentBy } from './appearances.ts';
import type { SearchFile } from './file-search.ts';
import { type FoundInFile, SEARCH_TAKES, type WantedOrder } from './find-in-file.ts';

/**
 * The items of an order, and where they are from. `ledger`: the order is not settled. `sent`: read from the file now, and
 * proven by the digest that the ledger keeps. `equal`: as `sent`, but no report says that po-sync sent it. `unproven`: read from the unchanged file, but the ledger has no digest.
 * `not-accepted`: of a closed dead letter. Without items, `message` says why: `differs`: the file contains something else
 * now; `missing`; `unreadable`; `late`: reading took too long; `unknown`: only the API has them.
 */
export type OrderContent = {
  status:
    | 'ledger'
    | 'sent'
    | 'equal'
    | 'unproven'
    | 'not-accepted'
    | 'differs'
    | 'missing'
    | 'unreadable'
    | 'late'
    | 'unknown';
  /** Where the items are from, or why there are none, as a sentence. */
  message: string;
  items?: readonly Item[];
  batch?: string;
  /** The file that was read, or is missing. */
  path?: string;
  line?: number;
  /** The lines of all its rows, if it has several. */
  lines?: readonly number[];
};

type Deps = Pick<OperatorContext, 'ledger' | 'batches'> & {
  config: Pick<Config, 'reports'>;
  search: SearchFile;
};

/** Files in which the items of an order that the API had before are searched. */
const MOST_FILES = 3;

/**
 * The items of an order in any state; undefined for an order that failed its checks. The ledger keeps only a digest of an
 * accepted order, so its items are read from the file of its batch. Nothing is stored.
 */
export async function readContent(
  { order, appearances }: { order: string; appearances: readonly Appearance[] },
  deps: Deps,
): Promise<OrderContent | undefined> {
  const [known] = await deps.ledger.lookup([order]);
  const newest = appearances.toSorted((a, b) => (a.result.at < b.result.at ? 1 : -1));
  switch (known?.kind) {
    case 'open': {
      const { batch, place, order: sent } = known.entry;
      const message = 'The order is not settled yet.';
      return { status: 'ledger', message, items: sent.items, batch, line: place.line };
    }
    case 'accepted': {
      const { digest, batchNo } = known.compact;
      const batch = await deps.batches.nameOf(batchNo);
      if (batch === undefined) return await alreadyThere({ number: order, digest }, newest, deps);
      const line = newest.find(
        ({ result, ...one }) => one.batch === batch && result.outcome === 'accepted',
      )?.result.line;
      return await inBatch(batch, { number: order, digest, ...given(line) }, deps);
    }
    case 'nothing':
    case undefined:
      return await notInLedger(order, newest[0], deps);
  }
}

/** An order that the ledger has from the API's list: a file may have brought the same items. */
async function alreadyThere(
  wanted: Wanted,
  newest: readonly Appearance[],
  deps: Deps,
): Promise<OrderContent> {
  const sender = sentBy(newest)?.batch;
  const sent = newest.find(({ batch }) => batch === sender);
  const files = newest.toSorted((a, b) => Number(b.batch === sender) - Number(a.batch === sender));
  for (const { batch, result } of files.slice(0, MOST_FILES)) {
    const found = await inBatch(batch, { ...wanted, line: result.line }, deps);
    if (found.status === 'sent')
      return sent === undefined ? asEqual(found) : batch === sender ? found : alsoIn(found, sent);
  }
  if (sent !== undefined) {
    const message = lostWith(sent, await deps.batches.find(sent.batch));
    return { status: 'missing', message, batch: sent.batch, line: sent.result.line };
  }
  return {
    status: 'unknown',
    message:
      "The order is from the API's list, and only the API has its items: no report says that po-sync sent it.",
  };
}

/** No report says that po-sync sent it; the digest of the API's list is that of the file. */
function asEqual(found: OrderContent): OrderContent {
  const message = `${found.message.replace('As sent: ', 'The API has the same items as ')} No report says that po-sync sent them.`;
  return { ...found, status: 'equal', message };
}

/** A later file brought the same items again, and the one that sent them is gone or changed. */
function alsoIn(found: OrderContent, { file }: Appearance): OrderContent {
  return {
    ...found,
    message: found.message.replace('As sent: ', `As sent from ${file}, also in `),
  };
}

/** An order that the ledger does not have: canceled, discarded, or accepted before `ledger.keep`. */
async function notInLedger(
  number: string,
  last: Appearance | undefined,
  deps: Deps,
): Promise<OrderContent | undefined> {
  if (last === undefined || last.result.outcome === 'invalid') return undefined;
  const { batch, result, deadLetter } = last;
  const { items } = (deadLetter?.payload ?? {}) as Partial<Order>;
  if (items === undefined) return await inBatch(batch, { number, line: result.line }, deps);
  const { by, batch: ended = batch } = deadLetter?.closed ?? {};
  const isAccepted = ended === batch && ACCEPTED.includes(by ?? '');
  const message = `These items were ${isAccepted ? 'accepted later' : 'not accepted'}.`;
  return {
    status: isAccepted ? 'unproven' : 'not-accepted',
    message,
    items,
    batch,
    line: result.line,
  };
}

/** How a dead letter ends whose order was sent again as it was, or was at the API already. */
const ACCEPTED: readonly string[] = ['accepted', 'confirmed', 'resent', 'rebuilt'];

type Wanted = Pick<WantedOrder, 'number' | 'digest' | 'line'>;

/** Reads the file of a batch, wherever it is now. */
async function inBatch(
  name: string,
  wanted: Wanted,
  { batches, config, search }: Deps,
): Promise<OrderContent> {
  const batch = await batches.find(name);
  const place = batch && fileOf(batch, config);
  if (batch === undefined || place === undefined)
    return { status: 'missing', message: goneWith(batch), batch: name };
  const found = await search(wantedIn(batch, place, wanted));
  // The file may have been put away since its batch was looked up.
  const now = found.found === 'missing' ? await batches.find(name) : undefined;
  const moved = now && fileOf(now, config);
  const isMoved = now !== undefined && moved !== undefined && moved.path !== place.path;
  const last = isMoved ? await search(wantedIn(now, moved, wanted)) : found;
  const { path, isKept } = moved ?? place;
  if (isKept && last.found === 'missing')
    return { status: 'missing', message: goneWith(batch), batch: name };
  return contentOf(
    last,
    { batch: name, path, ...given(wanted.line), ...(isKept && { keptOf: batch.name }) },
    wanted,
  );
}

/** That an order is in a file whose reading waits, and for what; undefined where none of these files has it. */
export async function unreadOrder(
  number: string,
  { batches, search }: Deps,
): Promise<PoSyncError | undefined> {
  // The reader of a held file may have ended before it wrote how far it read.
  const waiting = (await batches.underWay()).filter(
    ({ waitsAfter, held, state }) => waitsAfter !== undefined || (held && state === 'reading'),
  );
  for (const batch of waiting.slice(0, MOST_FILES)) {
    const { batch: name, name: file, kind, path, source } = batch;
    const found = await search(wantedIn(batch, { kind, path, source }, { number }));
    if (found.found !== 'same') continue;
    const [why, remedy] = unreadBecause(batch);
    const message = `Order ${number} is in ${file}, ${linesText(found.line, found.lines)}, and is not read yet: ${why}.`;
    return new PoSyncError('order-unknown', message, {
      remedy,
      facts: { order: number, batch: name },
    });
  }
  return undefined;
}

function unreadBecause({ batch, held }: Batch): [why: string, remedy: string] {
  if (held !== undefined)
    return [
      `its batch ${batch} is held`,
      `Run po-sync batches release ${batch}, or po-sync batches cancel ${batch}.`,
    ];
  return [
    "delivery is paused or slow, or the API's list is read first (delivery.readList)",
    'No action needed: po-sync reads it when delivery continues. If that takes long, po-sync status says why.',
  ];
}

type Place = Pick<WantedOrder, 'kind' | 'path' | 'source' | 'isKept'>;

/** The file of a batch where it is now, or what the report kept of a copy that is removed; undefined for one that is gone. */
function fileOf(batch: Batch, { reports }: Pick<Config, 'reports'>): Place | undefined {
  const { kind, source, settledPath, state } = batch;
  if (settledPath !== undefined) return { kind: 'inbox', path: settledPath, source };
  if (state !== 'done') return { kind, path: batch.path, source };
  const kept = keptItemsOf(batch, reports.path);
  return kept === undefined ? undefined : { kind, path: kept, source, isKept: true };
}

function wantedIn({ batch, begunWith }: Batch, place: Place, wanted: Wanted): WantedOrder {
  return { ...wanted, ...place, batch, ...(begunWith === undefined ? {} : { sha256: begunWith }) };
}

function lostWith({ file }: Appearance, batch: Batch | undefined): string {
  const look =
    batch === undefined || batch.kind === 'inbox'
      ? `Look for ${file} in done/ of its inbox.`
      : `It was sent from ${file}, and the report of that export has no items of it.`;
  return `The ledger was built from the API's list (Redis lost its data, or baseUrl has another value now), so po-sync cannot prove which file has these items. ${look}`;
}

function goneWith(batch: Batch | undefined): string {
  if (batch === undefined)
    return 'Its report was removed (reports.keep), so po-sync no longer knows its file. If it came through an inbox, look in done/: its folders are removed by complete days.';
  if (batch.kind === 'inbox') return 'Its file was removed before it was put away.';
  return 'It came with an export, of which po-sync keeps no copy, and the report has no items of this order.';
}

const CORRECTED = ' This file only has what was corrected: its report has the complete order.';

/** Result of a search for people. `keptOf`: the export whose items the report kept. No text of the file is part of it, unless the digest or the checksum proves the file. */
function contentOf(
  found: FoundInFile,
  { keptOf, ...place }: Pick<OrderContent, 'batch' | 'line'> & { path: string; keptOf?: string },
  { digest, line }: Pick<WantedOrder, 'digest' | 'line'>,
): OrderContent {
  const { path } = place;
  switch (found.found) {
    case 'same': {
      const { items, line, lines, isCorrection } = found;
      const at = `${linesText(line, lines)} of ${keptOf === undefined ? path : `${keptOf}, as kept in ${path}`}`;
      const read = keptOf !== undefined ? '' : lines.length > 1 ? ' read now' : ' reads now';
      const where = { ...place, items, line, ...(lines.length > 1 && { lines }) };
      return digest === undefined
        ? { status: 'unproven', message: `As ${at}${read}.`, ...where }
        : { status: 'sent', message: `As sent: ${at}.${isCorrection ? CORRECTED : ''}`, ...where };
    }
    case 'other': {
      const reason = found.isChanged
        ? 'the file was changed since it was taken'
        : 'its mapping, or the report that it corrects, was changed since it was taken';
      return {
        status: 'differs',
        message: `${path} no longer shows what was sent: ${reason}.`,
        ...place,
      };
    }
    case 'missing':
      return { status: 'missing', message: `The file is no longer at ${path}.`, ...place };
    case 'no-file':
      return {
        status: 'unreadable',
        message: `${path} is no longer a file, and po-sync follows no link.`,
        ...place,
      };
    case 'forbidden':
      return { status: 'unreadable', message: `No permission to read ${path}.`, ...place };
    case 'unreadable':
      return {
        status: 'unreadable',
        message: `${path} cannot be read now (${found.code}).`,
        ...place,
      };
    case 'late': {
      const where = line === undefined ? path : `line ${line} of ${path}`;
      const limit = counted(SEARCH_TAKES / 1000, 'second');
      return {
        status: 'late',
        message: `Reading the file takes more than ${limit}. Open ${where}.`,
        ...place,
      };
    }
    case 'busy':
      return {
        status: 'late',
        message: `Other files are being read. Try again, or open ${path}.`,
        ...place,
      };
  }
}

function given(line: number | undefined): { line?: number } {
  return line === undefined ? {} : { line };
}
