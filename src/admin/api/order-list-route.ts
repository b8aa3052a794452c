import { parse } from 'node:path';
import { Readable } from 'node:stream';
import { PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import { type FoundOrders, foundOrders } from '../../operate/batches/accepted-orders.ts';
import { namesOf, orderList, requireComplete } from '../../operate/batches/order-list.ts';
import { countNeedingPerson } from '../../order/outcome.ts';
import type { Reply, Route } from '../http/route.ts';
import type { BatchRow } from '../read-model/batch-table.ts';
import type { ApiContext } from './api-context.ts';
import { attachment, BATCH_FILTERS, batchFilter } from './batch-routes.ts';
import { readQuery } from './query.ts';
import { conflictsOf } from './rows-elsewhere.ts';

/** The orders of several batches as one download. */
export function orderListRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    { method: 'GET', path: '/api/v1/orders.csv', handle: ({ url }) => orderListReply(api, url) },
    { method: 'GET', path: '/api/v1/items.csv', handle: ({ url }) => itemListReply(api, url) },
    {
      method: 'GET',
      path: '/api/v1/items.xlsx',
      handle: ({ url }) => itemListReply(api, url, 'xlsx'),
    },
  ];
  return routes.map(api.needingRedis);
}

/** All orders of the batches that match, the oldest batch first. PoSyncErrors of `listedIn`. */
export async function orderListReply(api: ApiContext, url: URL): Promise<Reply> {
  const accepted = readQuery(url, [...BATCH_FILTERS, 'accepted']).flag('accepted');
  const listed = await listedIn(api, url, accepted, ['accepted']);
  const found = accepted ? await foundIn(api, listed) : undefined;
  return csvReply(
    orderList(listed, api.base, found),
    nameOf(url, accepted ? 'accepted-orders' : 'orders'),
  );
}

/** Accepted orders that a list of items may have; a sheet has a million rows at most. */
const MOST_ORDERS = { csv: 100_000, xlsx: 20_000 };

/** The items of all accepted orders of these batches. PoSyncErrors of `listedIn`; `item-list-too-large`. */
export async function itemListReply(
  api: ApiContext,
  url: URL,
  as: keyof typeof MOST_ORDERS = 'csv',
): Promise<Reply> {
  // As for orders; the items of others are in no list.
  readQuery(url, [...BATCH_FILTERS, 'accepted']).oneOf('accepted', ['true']);
  const listed = await listedIn(api, url, true, ['accepted']);
  const found = await foundIn(api, listed);
  const orders = listed.reduce((sum, { most }) => sum + most, found.size);
  if (orders > MOST_ORDERS[as]) throw tooLarge(orders, as);
  const of = { listed, found, conflicts: await conflictsOf(api) };
  if (as === 'csv') return csvReply(api.itemLists.csv(of), itemsNameOf(url, listed));
  // In the zone of the days, which was checked with them.
  const pieces = api.itemLists.workbook(of, url.searchParams.get('zone') || 'UTC');
  return workbookReply(pieces, itemsNameOf(url, listed, as));
}

const WORKBOOK = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * The finished batches that match; `most`: orders that may be accepted. PoSyncError `order-list-unfinished` and
 * `order-list-incomplete`: a list must not lack orders without saying so.
 */
async function listedIn(
  api: ApiContext,
  url: URL,
  accepted: boolean,
  more: readonly string[] = [],
) {
  const { batches } = await api.tables();
  const rows = oldestFirst(batches.matching(batchFilter(url, more)));
  const unfinished = rows.filter(({ state }) => state !== 'done');
  if (unfinished.length > 0) throw notFinished(unfinished);
  // A file that could not be read has no orders.
  const listed = rows.filter((row) => row.total !== undefined).map(toListed);
  return await requireComplete(listed, api.base, { accepted });
}

async function foundIn(
  api: ApiContext,
  listed: readonly ReturnType<typeof toListed>[],
): Promise<FoundOrders> {
  const { batches } = await api.tables();
  const finished = [...batches.matching({})].filter(
    ({ state, total }) => state === 'done' && total !== undefined,
  );
  return await foundOrders(listed, oldestFirst(finished).map(toListed), api.base);
}

function toListed({ batch, file, counts }: BatchRow) {
  const letters = countNeedingPerson(counts);
  return {
    batch,
    file,
    hasLetters: letters > 0,
    accepted: counts.accepted,
    most: counts.accepted + letters,
    duplicates: counts.duplicate,
  };
}

export function csvReply(pieces: AsyncGenerator<string>, name: string): Reply {
  return downloadReply(pieces, name, 'text/csv; charset=utf-8');
}

export function workbookReply(pieces: AsyncGenerator<Buffer>, name: string): Reply {
  return downloadReply(pieces, name, WORKBOOK);
}

function downloadReply(pieces: AsyncGenerator<string | Buffer>, name: string, type: string): Reply {
  const headers = { 'content-disposition': attachment(name) };
  return { status: 200, type, body: Readable.from(pieces, { objectMode: false }), headers };
}

/** By the millisecond in which each was taken: names of batches show the second. */
export function oldestFirst<Row extends Pick<BatchRow, 'batch' | 'startedAt'>>(
  rows: Iterable<Row>,
): Row[] {
  return [...rows].sort((a, b) => a.startedAt - b.startedAt || (a.batch < b.batch ? -1 : 1));
}

/** `accepted-orders-2026-11-16-2026-11-22.csv`. The parameters were read: a day has no other characters. */
function nameOf({ searchParams }: URL, what: string, end = 'csv'): string {
  const days = ['day', 'from', 'to'].flatMap((name) => searchParams.get(name) || []);
  return `${[what, ...days].join('-')}.${end}`;
}

/** `montag-items.xlsx` for a single file, which is selected by the name of its batch. */
function itemsNameOf(
  url: URL,
  listed: readonly { batch: string; file: string }[],
  end?: string,
): string {
  const only = listed.find(({ batch }) => batch === url.searchParams.get('q'));
  return nameOf(url, only === undefined ? 'items' : `${parse(only.file).name}-items`, end);
}

function tooLarge(orders: number, as: keyof typeof MOST_ORDERS): PoSyncError {
  const [found, most] = [orders, MOST_ORDERS[as]].map((one) => counted(one, 'order'));
  const [list, other] =
    as === 'csv' ? ['list of items', ''] : ['spreadsheet', ', or download the CSV file'];
  return new PoSyncError(
    'item-list-too-large',
    `A ${list} has at most ${most}; these files have ${found}.`,
    {
      remedy: `Select fewer days, or a source${other}.`,
    },
  );
}

function notFinished(rows: readonly BatchRow[]): PoSyncError {
  return new PoSyncError(
    'order-list-unfinished',
    `${counted(rows.length, 'file')} ${rows.length === 1 ? 'is' : 'are'} not finished, so the list would lack orders: ${namesOf(rows)}.`,
    { remedy: 'Wait until they are finished, or filter by the state finished to list the others.' },
  );
}
