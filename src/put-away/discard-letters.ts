import type { Correction } from '../correct/read-as.ts';
import { listOf, readLetters } from '../correct/read-as.ts';
import { decided } from '../journal/decided.ts';
import type { Decision } from '../journal/decision.ts';
import { orderDecision } from '../journal/decision.ts';
import type { OperatorAction } from '../ledger/entry.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { discarded } from '../ledger/state-machine/decision.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { correctedBy, splitId } from '../order/letter-id.ts';
import type { Context } from '../redis/store.ts';
import { createDeadLetterClosing } from './close-dead-letters.ts';

/** Times that an order is looked up again when a daemon changes it at the same moment. */
const TRIES = 5;

/**
 * Builds the step that discards the dead letters which a person discarded in a correction, and keeps that the others are
 * corrected by it. Can be repeated.
 */
export function createDiscardLetters(
  context: Context,
  { batches, ledger }: Pick<EnvironmentLedger, 'batches' | 'ledger'>,
) {
  const { config, store } = context;
  const closing = createDeadLetterClosing({ batches, ledger, ...store });

  async function close(letter: DeadLetter, who: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const known = await closing.find(letter);
      const isFree = known.owned === undefined || discarded(known.owned, 0).kind === 'drop';
      if (!known.isOpen || !isFree) return;
      const by: OperatorAction = { at: store.time.now(), who, what: 'discarded' };
      if ((await closing.close(letter, known, by)) !== 'late') return;
    }
  }

  return async ({ of, discards, records }: Correction, who: string): Promise<void> => {
    const wanted = new Set(discards);
    const found: { batch: string; letter: DeadLetter }[] = [];
    for (const batch of wanted.size > 0 ? of : [])
      for await (const letter of readLetters(listOf(batch, config)))
        if (wanted.has(letter.id)) found.push({ batch, letter });
    const taken = correctedBy(records);
    const decisions: Decision[] = [
      ...taken.map(({ id: letter, number, content, revision }): Decision => {
        return {
          decision: 'correct',
          batch: splitId(letter)[0],
          number,
          content,
          letter,
          revision,
        };
      }),
      ...found.map(({ batch, letter }) => orderDecision('discard', batch, letter)),
    ];
    await decided(who, decisions, context, async () => {
      for (const { letter } of found) await close(letter, who);
    });
  };
}
