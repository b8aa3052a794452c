import { decided } from '../../journal/decided.ts';
import { orderDecision } from '../../journal/decision.ts';
import type { Entry } from '../../ledger/entry.ts';
import { discarded } from '../../ledger/state-machine/decision.ts';
import {
  createDeadLetterClosing,
  type KnownDeadLetter,
} from '../../put-away/close-dead-letters.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { OperatorContext } from '../operator-context.ts';
import { findInProgress } from './in-progress.ts';

/** What discarding does with a dead letter, or why it cannot be discarded. */
export type DiscardVerdict =
  | 'discarded'
  /** The API may have the order: resolve it first. */
  | 'in-doubt'
  | 'under-way'
  /** The order of another file has its number or rows, and is sent whatever becomes of the dead letter. */
  | 'in-progress'
  | 'settled'
  /** Redis no longer has its batch. */
  | 'forgotten';

/** What discarding would do; `owned`: the ledger's entry, if it belongs to this dead letter. Pure. */
function judgeDiscard(deadLetter: FoundDeadLetter, owned: Entry | undefined): DiscardVerdict {
  if (deadLetter.closed) return 'settled';
  if (owned === undefined || discarded(owned, 0).kind === 'drop') return 'discarded';
  return owned.state === 'inDoubt' ? 'in-doubt' : 'under-way';
}

/** Times that a number is looked up again when a daemon changes it at the same moment. */
const TRIES = 5;

/** Builds `discard`, and `wouldDiscard`, which changes nothing. */
export function createDiscard(context: OperatorContext) {
  const { batches, ledger, operator, store } = context;
  const closing = createDeadLetterClosing({
    batches,
    ledger,
    redis: store.redis,
    keys: store.keys,
  });

  async function judge(deadLetter: FoundDeadLetter): Promise<Judged> {
    if ((await batches.find(deadLetter.batch)) === undefined) return { verdict: 'forgotten' };
    const known = await closing.find(deadLetter);
    if (!known.isOpen) return { verdict: 'settled' };
    const verdict = judgeDiscard(deadLetter, known.owned);
    if (verdict !== 'discarded') return { verdict };
    const other = await findInProgress(deadLetter, { batches, ledger });
    return other === undefined ? { verdict, known } : { verdict: 'in-progress' };
  }

  /** Decides again when the number changes meanwhile: it is closed only over the ledger that it was decided on. */
  async function discard(deadLetter: FoundDeadLetter): Promise<DiscardVerdict> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { verdict, known } = await judge(deadLetter);
      if (known === undefined) return verdict;
      const decisions = [orderDecision('discard', deadLetter.batch, deadLetter)];
      const end = await decided(operator.who, decisions, context, () =>
        closing.close(deadLetter, known, operator.did('discarded')),
      );
      if (end !== 'late') return 'discarded';
    }
    return 'under-way';
  }

  return {
    discard,
    wouldDiscard: async (deadLetter: FoundDeadLetter) => (await judge(deadLetter)).verdict,
  };
}

/** `known`: what is closed, if it is discarded. */
type Judged = { verdict: DiscardVerdict; known?: KnownDeadLetter };
