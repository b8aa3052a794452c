import { join } from 'node:path';
import { keptCorrection } from '../correct/read-as.ts';
import type { StoredResult } from '../ledger/entry.ts';
import { digestOf } from '../order/digest.ts';
import type { NamedBatch } from '../order/named-batch.ts';
import { itemsIn } from '../order/order.ts';
import { readDeadLetters } from '../report/dead-letters.ts';
import { type Conflict, type ContentDeps, MOST_READS } from './known-content.ts';

/** `digest`: of an order that passed its checks. */
type InConflict = Conflict & { digest: string | undefined };

/** Fix files of fix files that are followed back. */
const MOST_STEPS = 5;

/**
 * Builds the search for orders in conflict that bring again what the API refused before a person corrected it: their
 * file has the old row. Finds the batch in which they were refused, by number; nothing without proof.
 */
export function createRefusedBefore({ batches, config }: ContentDeps) {
  let reads = 0;

  return async (conflicts: readonly InConflict[]): Promise<Map<string, NamedBatch>> => {
    const found = new Map<string, NamedBatch>();
    const accepted = Map.groupBy(conflicts, ({ known }) =>
      known?.kind === 'accepted' ? known.compact.batchNo : 0,
    );
    for (const [no, wanted] of accepted) {
      // The message is a courtesy, as the other content.
      const name = no > 0 ? await batches.nameOf(no) : undefined;
      if (name !== undefined)
        await readBack(name, new Map(wanted.map(({ number, digest }) => [number, digest]))).catch(
          () => {},
        );
    }
    return found;

    /** `corrected`: the batch of the fix file that was accepted. */
    async function readBack(
      corrected: string,
      wanted: ReadonlyMap<string, string | undefined>,
    ): Promise<void> {
      const trail = [corrected];
      for (
        let step = 0;
        step < trail.length && step < MOST_STEPS && reads < MOST_READS;
        step += 1
      ) {
        const name = trail[step] ?? '';
        trail.push(...((await keptCorrection(name, config))?.of ?? []));
        const batch = step > 0 && (await batches.find(name));
        if (!batch) continue;
        reads += 1;
        const closings = await batches.closings(batch.batch);
        for await (const letter of readDeadLetters(join(config.reports.path, batch.batch))) {
          const { purchaseOrderNumber: number, kind, payload } = letter;
          if (
            kind !== 'refused' ||
            wanted.get(number) !== digestOf({ items: [...itemsIn(payload)] })
          )
            continue;
          // A person may have discarded it, and given its number to another order.
          const closed = letter.closed ?? closings.get(letter.id);
          const end = closed?.by === 'fixed' ? closed.end : closed;
          if (end?.by === 'accepted' && end.batch === corrected)
            found.set(number, { batch: batch.batch, file: batch.name });
        }
      }
    }
  };
}

/** The result of an order in conflict, with where it was refused before, if it was. */
export function withRefusal(
  result: StoredResult | undefined,
  refusedIn: NamedBatch | undefined,
): StoredResult | undefined {
  const isConflict = result?.code === 'other-content' || result?.code === 'other-spelling';
  if (refusedIn === undefined || !isConflict) return result;
  return { ...result, facts: { ...result.facts, refusedIn } } as StoredResult;
}
