import { sentAsOf } from '../../operate/orders/appearances.ts';
import { findInProgress, inProgressText, isElsewhere } from '../../operate/orders/in-progress.ts';
import { closingWord } from '../../order/closing-text.ts';
import { NOTHING_NEW } from '../../put-away/refused-before.ts';
import type { DeadLetterRow, RowFilter } from '../read-model/letter-batch.ts';
import type { SettledRow } from '../read-model/settled-table.ts';
import type { ApiContext } from './api-context.ts';

/** Rows that are searched for orders in progress where a request selects only these: each costs a few calls of Redis. */
const LOOKED = 1_000;

/**
 * Says of rows that another file brought the order since, and that it is in progress, or that it was sent under another
 * number: no report says that.
 */
export async function withOrdersInProgress<Row extends DeadLetterRow>(
  { base }: ApiContext,
  rows: readonly Row[],
): Promise<Row[]> {
  const sent = await sentAsOf(rows, base);
  return Promise.all(
    rows.map(async (row, i) => {
      const now = sent[i];
      if (now) return { ...row, already: `already sent as ${now.number}, from "${now.file ?? now.batch}"` };
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

/** One page of rows, and what the next one is after. */
export type Page<Row> = (after?: string) => Promise<{ items: Row[]; next: string | undefined }>;

/** The rows of all pages. */
export async function* rowsOf<Row>(page: Page<Row>): AsyncGenerator<Row> {
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    yield* items;
    after = next;
  } while (after !== undefined);
}

/**
 * The files that had other items for an order, by its number, in words: `in conflict in wednesday.csv`. Without those that
 * only bring again what was refused.
 */
export async function conflictsOf(api: ApiContext): Promise<Map<string, string>> {
  const { letters } = await api.tables();
  const found = new Map<string, string>();
  const add = ({ purchaseOrderNumber: number, kind, message }: DeadLetterRow | SettledRow, text: string) => {
    if (kind !== 'conflict' || message.includes(NOTHING_NEW)) return;
    found.set(number, [...(found.get(number)?.split('; ') ?? []), text].slice(0, MOST_NAMED).join('; '));
  };
  const open: Page<DeadLetterRow> = (after) => letters.page({ kind: 'conflict' }, LOOKED, after);
  for await (const row of rowsOf(open)) add(row, `in conflict in ${row.file}`);
  const settled: Page<SettledRow> = (after) => letters.settledPage({}, LOOKED, after);
  for await (const row of rowsOf(settled)) {
    const { by, number } = row.closed;
    add(row, `conflict in ${row.file}, ${closingWord(by)}${number ? ` under another number, ${number}` : ''}`);
  }
  return found;
}

/** Files that are named of one order. */
const MOST_NAMED = 3;
