import { join } from 'node:path';
import { z } from 'zod';
import { PoSyncError } from '../../core/errors.ts';
import type { EntryState } from '../../ledger/entry.ts';
import type { DeadLetterRow } from '../../operate/lists/list-tables.ts';
import { findLetter } from '../../operate/lists/read-reports.ts';
import { withClosing } from '../../operate/orders/appearances.ts';
import { explainOrder, type OrderHistory } from '../../operate/orders/explain-order.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { splitId } from '../../order/letter-id.ts';
import { deadLettersInProgressOf } from '../../put-away/dead-letters-in-progress.ts';
import type { ApiContext } from './api-context.ts';
import { PAGE, readQuery } from './query.ts';

export const KINDS = ['invalid', 'conflict', 'refused', 'failed', 'inDoubt'] as const;

/** What selects dead letters. */
export const LETTER_QUERY = z.object({
  kind: z.enum(KINDS).optional(),
  signature: z.string().optional(),
  batch: z.string().optional(),
  source: z.string().optional(),
  q: z.string().max(1_000).optional(),
  after: z.string().optional(),
});

/** A row with the current state of its order, where that is no longer the state of the dead letter. */
export type CurrentRow = DeadLetterRow & { now?: EntryState };

/** A page of open dead letters, the newest batch first, with the count of all that match. */
export async function readLetterPage(api: ApiContext, { searchParams }: URL) {
  const { after, ...filter } = readQuery(searchParams, LETTER_QUERY);
  const tables = await api.tables();
  const { items, next } = tables.page(filter, PAGE, after);
  return { items: await withState(api, items), next, ...tables.summary(filter) };
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
export type FullLetter = DeadLetter & { batch: string; source: string; file: string };

/** A dead letter of a report, also a closed one, or of a batch in progress. PoSyncError `dead-letter-unknown`. */
export async function readLetter(api: ApiContext, id: string): Promise<FullLetter> {
  const { base } = api;
  const [name] = splitId(id);
  // The table of batches may not have it yet.
  const [batch, tables] = await Promise.all([base.batches.find(name), api.tables()]);
  if (batch === undefined) throw unknownLetter(id);
  const inReport = () => findLetter(join(base.config.reports.path, name), id);
  // The batch of one in progress may finish in between.
  const letter =
    (await inReport()) ??
    (await readInProgress(id, tables.numberOf(id) ?? '', api)) ??
    (await inReport());
  if (letter === undefined) throw unknownLetter(id);
  const closings = await base.batches.closings(name);
  const { source, name: file } = batch;
  return { ...withClosing(letter, closings), batch: name, source, file };
}

async function readInProgress(
  id: string,
  number: string,
  { base }: ApiContext,
): Promise<FullLetter | undefined> {
  const found = await deadLettersInProgressOf(number, base);
  return found.map((one) => one.letter).find((one) => one.id === id);
}

function unknownLetter(id: string): PoSyncError {
  return new PoSyncError('dead-letter-unknown', `Dead letter ${id} not found.`, {
    remedy:
      'Its report may have expired. If its batch is not finished, see the history of its order.',
  });
}

/**
 * The history of an order: from the ledger, and from all reports.
 * PoSyncError `order-unknown`, `parameter-wrong`.
 */
export function readHistory(api: ApiContext, url: URL): Promise<OrderHistory> {
  const number = url.searchParams.get('number') ?? '';
  return explainOrder(number, api.operatorOf(undefined));
}
