import type { Batches } from '../ledger/batches.ts';
import type { createDeadLetterCloser } from '../ledger/close-dead-letters.ts';
import { createDeadLetterFields } from '../ledger/dead-letter-fields.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { placeText } from '../order/fixing.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
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
  closeDeadLetters: ReturnType<typeof createDeadLetterCloser>;
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
  const { batches, ledger, operator } = deps;
  const fieldsOf = createDeadLetterFields(deps);

  async function judge(
    deadLetter: FoundDeadLetter,
  ): Promise<{ verdict: DiscardVerdict; fields: string[]; owned?: Entry }> {
    if ((await batches.find(deadLetter.batch)) === undefined) return { verdict: 'forgotten', fields: [] };
    const fields = await fieldsOf(deadLetter.batch, deadLetter);
    if (fields.length === 0) return { verdict: 'settled', fields };
    const [known] = await ledger.lookup([deadLetter.purchaseOrderNumber]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const owned = entry?.batch === deadLetter.batch && fields.includes(String(entry.ordinal)) ? entry : undefined;
    return { verdict: judgeDiscard(deadLetter, owned), fields, ...(owned ? { owned } : {}) };
  }

  async function discard(deadLetter: FoundDeadLetter): Promise<DiscardVerdict> {
    const { verdict, fields, owned } = await judge(deadLetter);
    if (verdict !== 'discarded') return verdict;
    const { purchaseOrderNumber: number, kind, location, batch } = deadLetter;
    const end = await deps.closeDeadLetters({
      batch,
      fields,
      deadLetter: number === '' ? { number, place: placeText(location) } : { number, kind },
      ...(owned ? { entry: owned } : {}),
      by: operator.did('discarded'),
    });
    return end === 'late' ? 'under-way' : 'discarded';
  }

  return { discard, wouldDiscard: async (deadLetter: FoundDeadLetter) => (await judge(deadLetter)).verdict };
}
