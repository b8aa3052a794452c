import type { z } from 'zod';
import { readInput } from '../../operations/operation.ts';

/** Items of a page. */
export const PAGE = 50;

/** What the address of a page selects. One with an empty value counts as absent. PoSyncError `parameter-wrong`. */
export function readQuery<Query extends z.ZodObject>(
  searchParams: URLSearchParams,
  input: Query,
): z.output<Query> {
  return readInput({ input }, Object.fromEntries(searchParams));
}
