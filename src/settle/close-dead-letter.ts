import type { Batches } from '../ledger/batches/batches.ts';
import { type ClosingRequest, type ClosingResult, createDeadLetters } from '../ledger/dead-letters.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';

/**
 * What the ledger knows of a dead letter: the fields under which its batch keeps how it was closed, empty when it is
 * settled; and `owned`, the ledger's entry, when that belongs to this dead letter.
 */
export type KnownDeadLetter = { fields: readonly string[]; owned?: Entry };

type Deps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys };

/** Closes a single dead letter: after a person discarded it, or when its rows came back in another batch. */
export function createDeadLetterClosing(deps: Deps) {
  const deadLetters = createDeadLetters(deps);

  async function find(batch: string, deadLetter: DeadLetter): Promise<KnownDeadLetter> {
    const fields = await deadLetters.fieldsOf(batch, deadLetter, deps.batches);
    if (fields.length === 0) return { fields };
    const [known] = await deps.ledger.lookup([deadLetter.purchaseOrderNumber]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const isOwned = entry?.batch === batch && fields.includes(String(entry.ordinal));
    return { fields, ...(isOwned ? { owned: entry } : {}) };
  }

  /** Closes what `find` returned. `late`: the order changed meanwhile, so nothing was closed. */
  function close(
    batch: string,
    deadLetter: DeadLetter,
    { fields, owned }: KnownDeadLetter,
    by: ClosingRequest['by'],
  ): Promise<ClosingResult> {
    const { purchaseOrderNumber: number, kind, location } = deadLetter;
    return deadLetters.close({
      batch,
      fields,
      deadLetter: number === '' ? { number, place: placeText(location) } : { number, kind },
      ...(owned ? { entry: owned } : {}),
      by,
    });
  }

  return { find, close };
}
