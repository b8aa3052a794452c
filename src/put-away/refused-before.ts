import { join } from 'node:path';
import { keptCorrection } from '../correct/read-as.ts';
import { digestOf } from '../order/digest.ts';
import { batchTitle } from '../order/named-batch.ts';
import { itemsIn } from '../order/order.ts';
import { readDeadLetters } from '../report/dead-letters.ts';
import { type Conflict, type ContentDeps, MOST_READS } from './known-content.ts';

/** `digest`: of an order that passed its checks. */
type InConflict = Conflict & { digest: string | undefined };

/** Fix files of fix files that are followed back. */
const MOST_STEPS = 5;

/**
 * Builds the search for orders in conflict that bring again what the API refused before a person corrected it: their
 * file has the old row. Finds the title of the batch in which they were refused, by number; nothing without proof.
 */
export function createRefusedBefore({ batches, config }: ContentDeps) {
  let reads = 0;

  return async (conflicts: readonly InConflict[]): Promise<Map<string, string>> => {
    const found = new Map<string, string>();
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
            found.set(number, batchTitle({ batch: batch.batch, file: batch.name }));
        }
      }
    }
  };
}

/** In the message of a conflict that has the items which were refused before. */
const NOTHING_NEW = 'nothing in it is new';

/** The result of an order in conflict, with what a person must know if it was refused in the batch `title` before. */
export function withRefusal<Result extends { outcome: string; message: string }>(
  result: Result | undefined,
  title: string | undefined,
): Result | undefined {
  if (title === undefined || result?.outcome !== 'conflict') return result;
  const text = `It has the items that the API refused in ${title} and that a person corrected since, so ${NOTHING_NEW}: discard it, and correct your own list, too`;
  return { ...result, message: `${result.message}. ${text}` };
}
