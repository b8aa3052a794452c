import { PoSyncError } from '../core/errors.ts';
import { type Listed, lookUp } from '../operate/retry-dead-letters.ts';
import { type OperatorContext, openListing } from './operator-context.ts';
import type { Shell } from './shell.ts';

/** What the API's list says of some orders; `trouble`: why it says nothing. */
export type ListCheck = { listed: Listed; trouble?: string };

/** Looks the orders up in the API's list, where that can be had. */
export async function listCheck(
  numbers: ReadonlySet<string>,
  context: OperatorContext,
  shell: Shell,
): Promise<ListCheck> {
  if (numbers.size === 0) return { listed: new Map() };
  try {
    await using listing = await openListing(context, shell);
    const { listed, end } = await lookUp(numbers, listing.read);
    return end.kind === 'complete' ? { listed } : { listed, trouble: end.said.message };
  } catch (error) {
    if (!(error instanceof PoSyncError) || error.code === 'interrupted') throw error;
    return { listed: undefined, trouble: error.message };
  }
}
