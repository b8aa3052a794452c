import { PoSyncError } from '../../core/errors.ts';
import { count, iso, listTime, outcomeWord } from '../../core/format.ts';
import { CORRECT_FILE, viewOf } from '../../operate/batches/list-batches.ts';
import { saysInProgress } from '../../operate/orders/in-progress.ts';
import { changeTexts, closingWord, endOf } from '../../order/closing-text.ts';
import { placeText } from '../../order/fixing.ts';
import { problemText } from '../../order/record.ts';
import { escapeFormula } from '../../order/spreadsheet.ts';
import { asShown } from '../../order/text.ts';
import { workbookOf } from '../../report/fix-file/workbook.ts';
import { csvLine, PLAIN_DIALECT } from '../../report/lines.ts';
import type { Reply, Route } from '../http/route.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import type { SettledRow } from '../read-model/settled-table.ts';
import type { ApiContext } from './api-context.ts';
import { letterFilter, settledFilter } from './dead-letter-routes.ts';
import { csvReply, workbookReply } from './order-list-route.ts';
import { given, readQuery } from './query.ts';
import { inProgressToo, type Page, rowsOf, withOrdersInProgress } from './rows-elsewhere.ts';

/** Open and closed dead letters as downloads. */
export function letterListRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    {
      method: 'GET',
      path: '/api/v1/corrections.csv',
      handle: ({ url }) => correctionListReply(api, url),
    },
    {
      method: 'GET',
      path: '/api/v1/corrections.xlsx',
      handle: ({ url }) => correctionBook(api, url),
    },
    { method: 'GET', path: '/api/v1/dead-letters.xlsx', handle: ({ url }) => letterBook(api, url) },
  ];
  return routes.map(api.needingRedis);
}

/** Lines of a workbook, as of a list of items. */
const MOST_LINES = 20_000;

/** Characters of a cell; a spreadsheet takes 32,767. */
const LONGEST_CELL = 30_000;

/**
 * All open dead letters that match, as a workbook. PoSyncError `order-list-too-large`. Orders in progress in another file
 * are marked among the first lines only.
 */
export async function letterBook(api: ApiContext, url: URL): Promise<Reply> {
  const filter = await inProgressToo(api, letterFilter(url, ['zone']));
  const at = timeIn(url);
  const { letters } = await api.tables();
  requireFew((await letters.summary(filter)).total);
  const marked: Page<DeadLetterRow> = async (after) => {
    const { items, next } = await letters.page(filter, LOOKED, after);
    return { items: after === undefined ? await withOrdersInProgress(api, items) : items, next };
  };
  const what =
    'Order number|Line|File|Kind|Column|Value|What is wrong, and what to enter|Items|In another file';
  const titles = [...what.split('|'), `Last (${zoneOf(url)})`, 'Batch'];
  const rows = fileRowsFirst(await unreadableRows(api, filter, at), letterRows(marked, at));
  return workbookReply(
    workbookOf('Orders that need you', titles, rows),
    'orders-that-need-you.xlsx',
  );
}

/** A line of each file that could not be read, whose orders are nowhere; a filter that only orders have selects none. */
async function unreadableRows(api: ApiContext, filter: RowFilter, at: TimeText): Promise<Cells[]> {
  const { kind, signature, already, since, batch, source, q } = filter;
  if (kind !== undefined || signature !== undefined || already) return [];
  const { batches } = await api.tables();
  const open = {
    open: true,
    state: 'unreadable',
    ...given({ source, q, since: since === undefined ? undefined : Date.parse(since) }),
  } as const;
  const files = batches.matching(open).filter((row) => batch === undefined || row.batch === batch);
  const found = await Promise.all(
    Array.from(files.take(MOST_FILES), (row) => api.base.batches.find(row.batch)),
  );
  const views = await Promise.all(
    found.filter((one) => one !== undefined).map((one) => viewOf(one, api.base)),
  );
  return views.map(({ batch: { batch, name, startedAt }, error }) => {
    const why =
      error === undefined ? CORRECT_FILE : `${error.message} ${error.remedy ?? CORRECT_FILE}`;
    return [
      '',
      '',
      name,
      'file could not be read',
      '',
      '',
      why.slice(0, LONGEST_CELL),
      '',
      '',
      at(iso(startedAt)),
      batch,
    ];
  });
}

/** Files that could not be read and have a line, the newest ones: each costs the read of its report. */
const MOST_FILES = 500;

type Cells = readonly (string | number)[];

async function* fileRowsFirst(
  files: readonly Cells[],
  orders: AsyncIterable<Cells>,
): AsyncGenerator<Cells> {
  yield* files;
  yield* orders;
}

/** Dead letters that are looked up together. */
const LOOKED = 500;

async function* letterRows(page: Page<DeadLetterRow>, at: TimeText): AsyncGenerator<Cells> {
  for await (const row of rowsOf(page)) {
    const {
      purchaseOrderNumber,
      location,
      file,
      kind,
      field = '',
      value = '',
      message,
      batch,
      lastAt,
    } = row;
    const { articles = '', items = articles, already = '', line = location.line } = row;
    const what = [outcomeWord(kind), field, asShown(value), message, items, already];
    yield [purchaseOrderNumber, line || '', file, ...what, at(lastAt), batch];
  }
}

/** All dead letters that were closed and match, as a CSV file. PoSyncError `lists-being-read`: it would lack older ones. */
export async function correctionListReply(api: ApiContext, url: URL): Promise<Reply> {
  const { page } = await correctionsIn(api, url);
  return csvReply(correctionLines(page), 'corrections.csv');
}

/** The same as a workbook. PoSyncErrors `lists-being-read`, `order-list-too-large`. */
export async function correctionBook(api: ApiContext, url: URL): Promise<Reply> {
  const at = timeIn(url);
  const { page, total } = await correctionsIn(api, url);
  requireFew(total);
  const what =
    'Person|Order number|New number|Line|File|Kind|What was wrong|What happened|In file|What was changed|Batch|Settled in';
  const titles = [`Settled (${zoneOf(url)})`, ...what.split('|')];
  return workbookReply(
    workbookOf('Corrections', titles, correctionRows(page, at)),
    'corrections.xlsx',
  );
}

async function correctionsIn(api: ApiContext, url: URL) {
  const filter = settledFilter(url);
  const { letters, unread } = await api.tables();
  if (unread > 0) {
    throw new PoSyncError('lists-being-read', `Older reports are being read: ${unread} left.`, {
      remedy: 'Try again in a moment.',
    });
  }
  const page = (after?: string) => letters.settledPage(filter, AT_ONCE, after);
  return { page, total: (await letters.settledPage(filter, 1)).total };
}

function requireFew(lines: number): void {
  if (lines <= MOST_LINES) return;
  const message = `A spreadsheet has at most ${count(MOST_LINES)} lines; ${count(lines)} match.`;
  throw new PoSyncError('order-list-too-large', message, {
    remedy: 'Select fewer with the filters of the page.',
  });
}

type TimeText = (at: string) => string;

const zoneOf = ({ searchParams }: URL) => searchParams.get('zone') || 'UTC';

/** Times in the zone of the days, UTC without one. PoSyncError `parameter-wrong`. */
function timeIn(url: URL): TimeText {
  // Refuses what is no zone.
  readQuery(url, [...url.searchParams.keys()]).days();
  return listTime(zoneOf(url));
}

/** Rows that are taken from the list together. */
const AT_ONCE = 5_000;

const COLUMNS =
  'settledAt,who,purchaseOrderNumber,newNumber,outcome,message,file,batch,line,settled,settledInFile,settledIn,changes,already';

async function* correctionLines(page: Page<SettledRow>): AsyncGenerator<string> {
  yield csvLine(COLUMNS.split(','), PLAIN_DIALECT);
  for await (const row of rowsOf(page))
    yield csvLine(correctionCells(row).map(escapeFormula), PLAIN_DIALECT);
}

/** The same for people: what they look for first, and batches last. */
async function* correctionRows(page: Page<SettledRow>, at: TimeText): AsyncGenerator<Cells> {
  for await (const row of rowsOf(page)) {
    const [
      settledAt = '',
      who = '',
      was = '',
      now = '',
      kind = '',
      message = '',
      file = '',
      batch = '',
      ,
      ...end
    ] = correctionCells(row);
    const [settled = '', settledFile = '', settledIn = '', changes = '', already = ''] = end;
    const { line } = faultyPlace(row);
    const what = [
      settled,
      settledFile,
      [changes, already].filter(Boolean).join(' | ').slice(0, LONGEST_CELL),
    ];
    yield [at(settledAt), who, was, now, line, file, kind, message, ...what, batch, settledIn];
  }
}

function correctionCells(row: SettledRow): string[] {
  const { purchaseOrderNumber, kind, message, file, batch, already = '', closed } = row;
  const place = faultyPlace(row);
  const { at, who = '', number = '', changes, waitsIn } = closed;
  const end = endOf(closed);
  const changed = isUnrecorded(row)
    ? NOT_RECORDED
    : changeTexts(changes, placeText(place)).join(' | ');
  const settled = end === undefined ? 'waits' : closingWord(end.by);
  const { file: inFile = '', batch: inBatch = '' } = end ?? {
    ...(closed.end ?? closed),
    batch: waitsIn,
  };
  return [
    at,
    who,
    purchaseOrderNumber,
    number,
    kind,
    // A message such as `is empty` needs its column.
    problemText({ field: row.field ?? '', message }),
    file,
    batch,
    String(place.line),
    settled,
    inFile,
    inBatch,
    changed,
    already,
  ];
}

/** Where the first faulty row of an order is. */
export function faultyPlace({ location, line = location.line }: SettledRow) {
  return { ...location, line };
}

/** Whether a later file settled an order without showing what was changed: it did not name the rows that it corrects. */
export function isUnrecorded({ batch, closed }: SettledRow): boolean {
  const { by, batch: later, changes, number } = closed;
  const isByFile = (by === 'accepted' || by === 'fixed') && later !== undefined && later !== batch;
  return isByFile && changes === undefined && number === undefined;
}

export const NOT_RECORDED =
  'What was changed is not recorded: the later file did not name these rows.';

/** Orders below one in the list that are looked at: each costs a few calls of Redis. */
const BELOW = 50;

/** The first open dead letter below one in the list that no other file has in progress. `areBusy`: all that were looked at are. */
export async function nextBelow(
  api: ApiContext,
  id: string,
): Promise<{ next?: DeadLetterRow; areBusy: boolean }> {
  const { letters } = await api.tables();
  const below = (await letters.page({}, BELOW, id)).items;
  const rows = await withOrdersInProgress(api, below);
  const next = rows.find(({ already = '' }) => !saysInProgress(already));
  return { ...(next && { next }), areBusy: next === undefined && below.length > 0 };
}

/** When each order was last discarded in another file, as the lists know it. */
export async function discardedBefore(
  api: ApiContext,
  letters: readonly Pick<DeadLetterRow, 'purchaseOrderNumber' | 'batch'>[],
): Promise<(SettledRow | undefined)[]> {
  const { letters: lists } = await api.tables();
  return await Promise.all(
    letters.map(async ({ purchaseOrderNumber: number, batch }) => {
      const rows = number === '' ? [] : await lists.settledOf(number);
      const isThat = (row: SettledRow) =>
        row.purchaseOrderNumber === number && row.batch !== batch && row.closed.by === 'discarded';
      return rows.filter(isThat).sort((a, b) => (a.closed.at < b.closed.at ? 1 : -1))[0];
    }),
  );
}
