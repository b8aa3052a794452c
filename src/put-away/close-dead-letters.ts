import type { Batch, Batches } from '../ledger/batches/batches.ts';
import { type ClosingResult, createDeadLetters } from '../ledger/dead-letters.ts';
import type { Entry, OperatorAction } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { discarded } from '../ledger/state-machine/decision.ts';
import { closedBy, type DeadLetter } from '../order/dead-letter.ts';
import { splitId } from '../order/letter-id.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import {
  type FoundDeadLetter,
  letterInProgress,
  type ProgressContext,
} from './dead-letters-in-progress.ts';

/**
 * What the ledger knows of a dead letter: `seen`, the version of the ledger's entry of its number; and `owned`, that entry, when
 * it goes with this dead letter.
 */
export type KnownDeadLetter = { isOpen: boolean; seen?: number; owned?: Entry };

export type ClosingDeps = { batches: Batches; ledger: Ledger; redis: Redis; keys: Keys };

/** Closes a dead letter that a person discarded. */
export function createDeadLetterClosing(deps: ClosingDeps) {
  const deadLetters = createDeadLetters(deps);

  async function find(deadLetter: Named): Promise<KnownDeadLetter> {
    if (!(await deadLetters.isOpen(deadLetter))) return { isOpen: false };
    const [batch, ordinal] = splitId(deadLetter.id);
    const [known] = await deps.ledger.lookup([deadLetter.purchaseOrderNumber]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const isOwn = entry?.batch === batch && entry.ordinal === ordinal;
    // A number has one dead letter: what else was refused under it went into that.
    const isOwned = entry && (isOwn || discarded(entry, 0).kind === 'drop');
    return {
      isOpen: true,
      ...(entry ? { seen: entry.version } : {}),
      ...(isOwned ? { owned: entry } : {}),
    };
  }

  /**
   * Closes what `find` returned. `late`: its order changed meanwhile, so nothing was closed. What a person decides also
   * depends on the order of another file with this number.
   */
  function close(
    { id, purchaseOrderNumber: number }: Named,
    { owned, seen = 0 }: KnownDeadLetter,
    by: OperatorAction,
  ): Promise<ClosingResult> {
    const onlyOver = number === '' ? {} : { seen };
    const entry = owned ? { entry: owned } : {};
    return deadLetters.close({ id, number, ...entry, ...onlyOver, by });
  }

  return { find, close };
}

type Named = Pick<DeadLetter, 'id' | 'purchaseOrderNumber'>;

/** The dead letters of these batches in progress that somebody closed already; rows without a number are in the report only. */
export async function* closedInProgress(
  context: ProgressContext,
  of: Batch[],
): AsyncGenerator<FoundDeadLetter> {
  for (const batch of of) {
    for (const [id, closing] of await context.batches.closings(batch.batch)) {
      const [, ordinal] = splitId(id);
      const found =
        closing.number === ''
          ? []
          : await letterInProgress(closing.number, ordinal, batch, context);
      for (const letter of found) yield { ...letter, closed: closedBy(closing) };
    }
  }
}
