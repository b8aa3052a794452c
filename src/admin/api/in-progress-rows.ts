import { findInProgress, inProgressText, isElsewhere } from '../../operate/orders/in-progress.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import type { ApiContext } from './api-context.ts';

/** Rows that are searched for orders in progress where a request selects only these: each costs a few calls of Redis. */
const LOOKED = 1_000;

/** Says of rows that another file brought the order since, and that it is in progress: no report says that. */
export async function withOrdersInProgress<Row extends DeadLetterRow>(
  { base }: ApiContext,
  rows: readonly Row[],
): Promise<Row[]> {
  return Promise.all(
    rows.map(async (row) => {
      if (row.already !== undefined) return row;
      const other = await findInProgress(row, base);
      if (other === undefined || !isElsewhere(row, other)) return row;
      return { ...row, already: inProgressText(other, `"${other.file ?? other.batch}"`).replace(/\.$/, '') };
    }),
  );
}

/** The filter with the rows that are in progress in another file, if it selects what another file has. */
export async function inProgressToo(api: ApiContext, filter: RowFilter): Promise<RowFilter> {
  if (!filter.already) return filter;
  const { already: _, ...others } = filter;
  const { items } = await (await api.tables()).letters.page(others, LOOKED);
  const unmarked = items.filter((row) => row.already === undefined);
  const marked = (await withOrdersInProgress(api, unmarked)).filter((row) => row.already !== undefined);
  return { ...filter, inProgress: marked.map(({ id }) => id) };
}
