import { join } from 'node:path';
import { PoSyncError } from '../../core/errors.ts';
import { iso } from '../../core/format.ts';
import type { EntryState } from '../../ledger/entry.ts';
import { withClosing } from '../../operate/orders/appearances.ts';
import { explainOrder, type OrderHistory } from '../../operate/orders/explain-order.ts';
import { saysInProgress } from '../../operate/orders/in-progress.ts';
import { readContent } from '../../operate/orders/order-content.ts';
import { closingsOf, type DeadLetter } from '../../order/dead-letter.ts';
import { deadLettersInProgressOf } from '../../put-away/dead-letters-in-progress.ts';
import { correctedIn, readCorrections } from '../../report/read-corrections.ts';
import { jsonReply, type Route } from '../http/route.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import { idOf, splitId } from '../read-model/letter-id.ts';
import { ENDINGS, type SettledFilter, type SettledRow } from '../read-model/settled-table.ts';
import type { ApiContext } from './api-context.ts';
import { given, listOf, type Query, readQuery } from './query.ts';
import { markedSince, withOrdersInProgress } from './rows-elsewhere.ts';

export const KINDS = ['invalid', 'conflict', 'refused', 'failed', 'inDoubt'] as const;

/** The parameters that select dead letters. */
export const LETTER_FILTERS = ['kind', 'signature', 'batch', 'source', 'since', 'q', 'already'];

/** Open dead letters, their groups, and the history of an order. */
export function deadLetterRoutes(api: ApiContext): Route[] {
  const { store } = api.base;
  const routes: Route[] = [
    {
      method: 'GET',
      path: '/api/v1/dead-letters',
      async handle({ url }) {
        const { items, next, total, kinds, already } = await readLetterPage(api, url);
        return jsonReply(200, { ...listOf(items, next, store.time.now()), total, kinds, already });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/corrections',
      async handle({ url }) {
        const { items, next, total, unread } = await readSettledPage(api, url);
        return jsonReply(200, { ...listOf(items, next, store.time.now()), total, unread });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/dead-letters/:id',
      async handle({ url, params }) {
        readQuery(url, []);
        return jsonReply(200, await readLetter(api, params['id'] ?? ''));
      },
    },
  ];
  return routes.map(api.needingRedis);
}

/** A page of closed dead letters, the newest first. */
export async function readSettledPage(api: ApiContext, url: URL) {
  const query = readQuery(url, [...SETTLED_FILTERS, 'after', 'limit']);
  const { letters, unread } = await api.tables();
  const page = await letters.settledPage(settledFilter(query), query.limit(), query.text('after'));
  return { ...page, unread };
}

/** The parameters that select closed dead letters. */
const SETTLED_FILTERS = ['day', 'from', 'to', 'zone', 'since', 'until', 'who', 'q', 'end', 'kind'];

function settledFilter(query: Query): SettledFilter {
  const { since, until } = query.days() ?? {
    since: query.time('since'),
    until: query.time('until'),
  };
  return given<SettledFilter>({
    since: since === undefined ? undefined : iso(since),
    until: until === undefined ? undefined : iso(until),
    who: query.text('who'),
    q: query.text('q'),
    end: query.oneOf('end', ENDINGS),
    kind: query.oneOf('kind', KINDS),
  });
}

/** The rows that a request selects. */
export function letterFilter(url: URL, more: readonly string[] = []): RowFilter {
  const query = readQuery(url, [...LETTER_FILTERS, ...more]);
  const since = query.time('since');
  return given<RowFilter>({
    kind: query.oneOf('kind', KINDS),
    signature: query.text('signature'),
    batch: query.text('batch'),
    source: query.text('source'),
    since: since === undefined ? undefined : iso(since),
    q: query.text('q'),
    already: query.flag('already') || undefined,
  });
}

/** A row with the current state of its order, where that is no longer the state of the dead letter. */
export type CurrentRow = DeadLetterRow & { now?: EntryState };

/**
 * A page of open dead letters, the newest batch first, with the count of all that match. `already`: how many of these another
 * file has, at least (`isLeast`): orders that it has since are counted among the first ones, and on this page. `onlyWaits`: all are
 * in progress.
 */
export async function readLetterPage(api: ApiContext, url: URL) {
  const wanted = letterFilter(url, ['after', 'limit']);
  const query = readQuery(url, [...LETTER_FILTERS, 'after', 'limit']);
  const { letters } = await api.tables();
  const { known, marked, isAll } = await markedSince(api, wanted);
  const filter = wanted.already ? { ...wanted, inProgress: marked.map(({ id }) => id) } : wanted;
  const [{ items, next }, { total, kinds, groups, already: before }] = await Promise.all([
    letters.page(filter, query.limit(), query.text('after')),
    letters.summary(filter),
  ]);
  const shown = await withOrdersInProgress(api, await withState(api, items));
  const here = shown.filter(
    (row, i) => row.already !== undefined && items[i]?.already === undefined,
  );
  const since = new Map([...marked, ...here].map((row) => [row.id, row]));
  const already = wanted.already ? total : before + since.size;
  const texts = [...known, ...since.values()].flatMap((row) => row.already ?? []);
  const isLeast = !isAll && (wanted.already === true || already < total);
  const onlyWaits = texts.length === already && texts.every(saysInProgress);
  const rows = shown.map((row) => ({ ...row, content: undefined }));
  return { items: rows, next, total, kinds, groups, already, isLeast, onlyWaits };
}

async function withState(
  { base }: ApiContext,
  rows: readonly DeadLetterRow[],
): Promise<CurrentRow[]> {
  const known = await base.ledger.lookup(
    rows.map(({ purchaseOrderNumber }) => purchaseOrderNumber),
  );
  return rows.map((row, i) => {
    const one = known[i];
    if (one?.kind !== 'open' || one.entry.batch !== row.batch || one.entry.state === row.kind)
      return row;
    return { ...row, now: one.entry.state };
  });
}

/** A complete dead letter. */
export type FullLetter = DeadLetter & { id: string; batch: string; source: string; file: string };

/** A dead letter of a report, also a closed one, or of a batch in progress. PoSyncError `dead-letter-unknown`. */
export async function readLetter(api: ApiContext, id: string): Promise<FullLetter> {
  const { base } = api;
  const [name] = splitId(id);
  // The table of batches may not have it yet.
  const [batch, { letters }] = await Promise.all([base.batches.find(name), api.tables()]);
  if (batch === undefined) throw unknownLetter(id);
  const inReport = () => letters.find(join(base.config.reports.path, name), name, id);
  // The batch of one in progress may finish in between.
  const letter =
    (await inReport()) ??
    (await readInProgress(id, (await letters.numberOf(id)) ?? '', api)) ??
    (await inReport());
  if (letter === undefined) throw unknownLetter(id);
  const closings = closingsOf(await base.batches.closings(name));
  const now = await withCorrection(letter, withClosing(letter, closings), name, api);
  return { ...now, id: idOf(name, letter), batch: name, source: batch.source, file: batch.name };
}

/** What was changed by whom in a dead letter that is settled while its report is not written again yet. */
async function withCorrection(
  before: DeadLetter,
  now: DeadLetter,
  batch: string,
  { base }: ApiContext,
) {
  const { closed } = now;
  if (closed?.batch === undefined || before.closed !== undefined) return now;
  const corrections = await readCorrections(base.config.reports.path, batch, [closed.batch]);
  const { name: file, by: who } = (await base.batches.find(closed.batch)) ?? {};
  const from = { ...(file && { file }), ...(who && closed.batch !== batch && { who }) };
  return { ...now, closed: { ...from, ...closed, ...correctedIn(before, closed, corrections) } };
}

async function readInProgress(
  id: string,
  number: string,
  { base }: ApiContext,
): Promise<FullLetter | undefined> {
  const found = await deadLettersInProgressOf(number, base);
  const letter = found.map((one) => one.letter).find((one) => idOf(one.batch, one) === id);
  return letter && { ...letter, id };
}

function unknownLetter(id: string): PoSyncError {
  return new PoSyncError('dead-letter-unknown', `Dead letter ${id} not found.`, {
    remedy:
      'Its report may have expired. If its batch is not finished, see the history of its order.',
  });
}

/** The history of an order, and its closed dead letters as the lists know them; `unread`: reports that are not in them yet. */
export type FullHistory = { history: OrderHistory; settled: readonly SettledRow[]; unread: number };

/**
 * The history of an order: from the ledger, and from the reports of the batches that the ledger and the order's dead
 * letters name. `reports=all` reads every report, which takes seconds where there are thousands.
 * PoSyncError `order-unknown`, `parameter-wrong`.
 */
export async function readHistory(api: ApiContext, url: URL): Promise<FullHistory> {
  const query = readQuery(url, ['number', 'reports']);
  const number = query.text('number');
  if (number === undefined) throw new PoSyncError('parameter-wrong', 'number is missing.');
  const all = query.oneOf('reports', ['known', 'all']) === 'all';
  const { settled, unread } = await settledOf(api, number);
  const named = settled.flatMap(({ batch, closed }) => [batch, closed.batch, closed.end?.batch]);
  const reports = named.filter((batch) => batch !== undefined);
  const history = await explainOrder(
    number,
    api.operatorOf(undefined),
    api.search,
    all ? 'all' : reports,
  ).catch(async (error: unknown) => {
    throw await withNumbersLike(number, error, api);
  });
  const content = await readContent(history, { ...api.base, search: api.search });
  return {
    history: { ...history, ...(content && { content }) },
    settled,
    unread: all ? 0 : unread,
  };
}

/** Numbers that are proposed, and rows that are searched for them. */
const PROPOSED = 5;
const SEARCHED = 50;

/** That an order is not found, with the numbers that contain what was entered, of orders that need or needed a person. */
async function withNumbersLike(number: string, error: unknown, api: ApiContext): Promise<unknown> {
  if (!(error instanceof PoSyncError) || error.code !== 'order-unknown') return error;
  const { letters } = await api.tables().catch(() => ({ letters: undefined }));
  if (letters === undefined) return error;
  const filter = { q: number };
  const found = await Promise.all([
    letters.page(filter, SEARCHED),
    letters.settledPage(filter, SEARCHED),
  ]);
  const numbers = found.flatMap(({ items }) => items.map((row) => row.purchaseOrderNumber));
  const isLike = (one: string) =>
    one !== number && one.toLowerCase().includes(number.toLowerCase());
  const like = [...new Set(numbers)].filter(isLike);
  if (like.length === 0) return error;
  return new PoSyncError(error.code, error.message, {
    remedy:
      `These orders contain it: ${like.slice(0, PROPOSED).join(', ')}. ${error.remedy ?? ''}`.trim(),
    facts: error.facts,
  });
}

/** What the ledger knows must not wait for lists that are being built. */
async function settledOf(
  api: ApiContext,
  number: string,
): Promise<{ settled: SettledRow[]; unread: number }> {
  try {
    const { letters, unread } = await api.tables();
    return { settled: await letters.settledOf(number), unread };
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    return { settled: [], unread: 1 };
  }
}
