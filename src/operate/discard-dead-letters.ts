import type { Batches } from '../ledger/batches.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { createDeadLetterClosing, type KnownDeadLetter } from '../settle/close-dead-letter.ts';
import type { FoundDeadLetter } from './found-dead-letter.ts';
import type { Operator } from './operator-context.ts';

/** What becomes of a dead letter that is to be given up; or why it stays. */
export type DiscardVerdict =
  | 'discarded'
  /** Whether the API has it is not known: it is to be resolved first. */
  | 'in-doubt'
  | 'under-way'
  | 'settled'
  /** Redis lost its batch. */
  | 'forgotten';

type Deps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  operator: Operator;
};

/** What would become of a letter; with `owned` the ledger's entry, where it is this letter's. Pure. */
function judgeDiscard(deadLetter: FoundDeadLetter, owned: Entry | undefined): DiscardVerdict {
  if (deadLetter.closed) return 'settled';
  switch (owned?.state) {
    case undefined:
      return 'discarded';
    case 'inDoubt':
      return 'in-doubt';
    case 'queued':
    case 'sending':
    case 'retry':
    case 'unknown':
      return 'under-way';
    case 'refused':
    case 'failed':
    case 'conflict':
      return 'discarded';
  }
}

/** Builds the step that gives a dead letter up, or only tells what it would do. */
export function createDiscard(deps: Deps) {
  const { batches, operator } = deps;
  const closing = createDeadLetterClosing(deps);

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
