import type { ListEnd, ListedOrder } from '../api/list.ts';
import { codeOf, toError } from '../core/errors.ts';

/** Reads the API's list once, order by order. */
export type ReadList = (onOrder: (order: ListedOrder) => void) => Promise<ListEnd>;

/** Reads the list. What prevents it, for example a token that cannot be had, counts as a list that failed. */
export async function readList(list: ReadList, onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
  try {
    return await list(onOrder);
  } catch (thrown) {
    const said = { code: codeOf(thrown) ?? 'list-failed', message: toError(thrown).message };
    return { kind: 'failed', said };
  }
}
