import type { Entry } from '../ledger/entry.ts';
import { discarded } from '../ledger/rules/decision.ts';
import { createDeadLetterClosing, type KnownDeadLetter } from '../settle/close-dead-letter.ts';
import type { FoundDeadLetter } from './dead-letters-in-progress.ts';
import type { OperatorContext } from './operator-context.ts';

/** What discarding does with a dead letter, or why it cannot be discarded. */
export type DiscardVerdict =
  | 'discarded'
  /** The API may have the order: resolve it first. */
  | 'in-doubt'
  | 'under-way'
  | 'settled'
  /** Redis no longer has its batch. */
  | 'forgotten';

/** What discarding would do; `owned`: the ledger's entry, if it belongs to this dead letter. Pure. */
function judgeDiscard(deadLetter: FoundDeadLetter, owned: Entry | undefined): DiscardVerdict {
  if (deadLetter.closed) return 'settled';
  if (owned === undefined || discarded(owned, 0).kind === 'drop') return 'discarded';
  return owned.state === 'inDoubt' ? 'in-doubt' : 'under-way';
}

/** Builds `discard`, and `wouldDiscard`, which changes nothing. */
export function createDiscard({ batches, ledger, operator, store }: OperatorContext) {
  const closing = createDeadLetterClosing({ batches, ledger, redis: store.redis, keys: store.keys });

  async function judge(deadLetter: FoundDeadLetter): Promise<{ verdict: DiscardVerdict; known?: KnownDeadLetter }> {
    if ((await batches.find(deadLetter.batch)) === undefined) return { verdict: 'forgotten' };
    const known = await closing.find(deadLetter.batch, deadLetter);
    if (known.fields.length === 0) return { verdict: 'settled' };
    return { verdict: judgeDiscard(deadLetter, known.owned), known };
  }

  async function discard(deadLetter: FoundDeadLetter): Promise<DiscardVerdict> {
    const { verdict, known } = await judge(deadLetter);
    if (verdict !== 'discarded' || known === undefined) return verdict;
    const end = await closing.close(deadLetter.batch, deadLetter, known, operator.did('discarded'));
    return end === 'late' ? 'under-way' : 'discarded';
  }

  return { discard, wouldDiscard: async (deadLetter: FoundDeadLetter) => (await judge(deadLetter)).verdict };
}
