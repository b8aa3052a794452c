import { checkFilter, type DeadLetterFilter } from '../operate/dead-letters/dead-letters.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import type { DeadLetterKind } from '../order/outcome.ts';

/** The filters of `dead-letters` as a person or a program gave them. */
export type FilterInput = {
  batch?: string | undefined;
  kind?: DeadLetterKind | undefined;
  signature?: string | undefined;
  order?: string[] | undefined;
  id?: string[] | undefined;
  limit?: number | undefined;
};

/** Selects open dead letters. PoSyncError as `checkFilter`. */
export async function readFilter(
  { batch, kind, signature, order, id, limit }: FilterInput,
  context: OperationContext,
): Promise<DeadLetterFilter> {
  return checkFilter(
    {
      all: false,
      ...(batch && { batch }),
      ...(kind && { kind }),
      ...(signature !== undefined && { signature }),
      ...(order && { orders: new Set(order) }),
      ...(id && { ids: new Set(id) }),
      ...(limit && { limit }),
    },
    context,
  );
}

/** Whether a filter selects dead letters; `limit` does not. */
export function hasFilter({ batch, kind, signature, order, id }: FilterInput): boolean {
  return [batch, kind, signature, order, id].some((one) => one !== undefined);
}

/** What an action is recorded as done to; empty for all. */
export function selectedText({ orders, ids, batch }: DeadLetterFilter): string {
  const [first = batch ?? '', ...more] = orders ?? ids ?? [];
  return more.length > 9 ? `${first} and ${more.length} more` : [first, ...more].join(', ');
}
