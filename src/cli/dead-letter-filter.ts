import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import type { DeadLetterFilter } from '../operate/found-dead-letter.ts';
import type { DeadLetterKind } from '../order/outcome.ts';
import type { OperatorContextArgs } from './operator-context.ts';
import type { Since } from './since.ts';

/** The filters of `dead-letters` as they were typed. */
export type DeadLetterArgs = OperatorContextArgs & {
  batch?: string;
  kind?: string;
  signature?: string;
  since?: Since;
  order?: string;
};

/** What every acting command of `dead-letters` takes beside the filters. */
export type ActingArgs = DeadLetterArgs & { yes: boolean; dryRun: boolean };

/** As reports write them. */
export const KINDS: readonly DeadLetterKind[] = ['invalid', 'conflict', 'refused', 'failed', 'inDoubt'];

/** The open letters that are meant. Throws PoSyncError `kind-unknown`. */
export function deadLetterFilter(
  { batch, kind, signature, since, order }: DeadLetterArgs,
  clock: Clock,
): DeadLetterFilter {
  const known = KINDS.find((one) => one.toLowerCase() === kind?.toLowerCase());
  if (kind !== undefined && known === undefined) throw unknownKind(kind);
  return {
    all: false,
    ...(batch === undefined ? {} : { batch }),
    ...(known === undefined ? {} : { kind: known }),
    ...(signature === undefined ? {} : { signature }),
    ...(since === undefined ? {} : { since: since(clock.now()) }),
    ...(order === undefined ? {} : { order }),
  };
}

function unknownKind(kind: string): PoSyncError {
  return new PoSyncError('kind-unknown', `There are no dead letters of the kind ${kind}.`, {
    remedy: `The kinds are ${KINDS.join(', ')}.`,
    facts: { kind },
  });
}
