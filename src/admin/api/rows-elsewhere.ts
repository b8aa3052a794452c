import { findInProgress, inProgressText, isElsewhere } from '../../operate/orders/in-progress.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import type { ApiContext } from './api-context.ts';

/** Rows that are searched for orders in progress where a request selects only these: each costs a few calls of Redis. */
const LOOKED = 1_000;

/** Says of rows that another file brought the order since, and that it is in progress: no report says that. */
export function withOrdersInProgress<Row extends DeadLetterRow>(
  { base }: ApiContext,
  rows: readonly Row[],
): Promise<Row[]> {
  return Promise.all(
    rows.map(async (row) => {
      if (row.already !== undefined) return row;
      const other = await findInProgress(row, base);
      if (other === undefined || !isElsewhere(row, other)) return row;
      return { ...row, already: inProgressText(other), isOpen: true as const };
    }),
  );
}

/** The filter with the rows that are in progress in another file, if it selects what another file has. */
export async function inProgressToo(api: ApiContext, filter: RowFilter): Promise<RowFilter> {
  if (!filter.already) return filter;
  const { marked } = await markedSince(api, filter);
  return { ...filter, inProgress: marked.map(({ id }) => id) };
}

/**
 * The rows that a filter selects and that another file has, as far as they are looked at. `isAll`: all were. `known`: those
 * that it had when their report was written, as they are now; `marked`: those that it has since.
 */
export async function markedSince(api: ApiContext, filter: RowFilter) {
  const { already: _, ...others } = filter;
  const { items, next } = await (await api.tables()).letters.page(others, LOOKED);
  const isKnown = ({ already }: DeadLetterRow) => already !== undefined;
  const unmarked = items.filter((row) => !isKnown(row));
  const marked = (await withOrdersInProgress(api, unmarked)).filter(isKnown);
  return { known: items.filter(isKnown), marked, isAll: next === undefined };
}

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
  const next = rows.find(({ isOpen }) => !isOpen);
  return { ...(next && { next }), areBusy: next === undefined && below.length > 0 };
}
