import type { Batches } from '../ledger/batches.ts';
import type { openPutAside } from '../ledger/close-dead-letters.ts';
import { openLetterFields } from '../ledger/dead-letter-fields.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { placeText } from '../order/fixing.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { FoundLetter } from './found-dead-letter.ts';
import type { Operator } from './operator.ts';

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
  putAside: ReturnType<typeof openPutAside>;
};

/** What would become of a letter; with `owned` the ledger's entry, where it is this letter's. Pure. */
function judgeDiscard(letter: FoundLetter, owned: Entry | undefined): DiscardVerdict {
  if (letter.closed) return 'settled';
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
export function openDiscard(deps: Deps) {
  const { batches, ledger, operator } = deps;
  const fieldsOf = openLetterFields(deps);

  async function judge(letter: FoundLetter): Promise<{ verdict: DiscardVerdict; fields: string[]; owned?: Entry }> {
    if ((await batches.find(letter.batch)) === undefined) return { verdict: 'forgotten', fields: [] };
    const fields = await fieldsOf(letter.batch, letter);
    if (fields.length === 0) return { verdict: 'settled', fields };
    const [known] = await ledger.lookup([letter.purchaseOrderNumber]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const owned = entry?.batch === letter.batch && fields.includes(String(entry.ordinal)) ? entry : undefined;
    return { verdict: judgeDiscard(letter, owned), fields, ...(owned ? { owned } : {}) };
  }

  async function discard(letter: FoundLetter): Promise<DiscardVerdict> {
    const { verdict, fields, owned } = await judge(letter);
    if (verdict !== 'discarded') return verdict;
    const { purchaseOrderNumber: number, kind, location, batch } = letter;
    const end = await deps.putAside({
      batch,
      fields,
      letter: number === '' ? { number, place: placeText(location) } : { number, kind },
      ...(owned ? { entry: owned } : {}),
      by: operator.did('discarded'),
    });
    return end === 'late' ? 'under-way' : 'discarded';
  }

  return { discard, wouldDiscard: async (letter: FoundLetter) => (await judge(letter)).verdict };
}
