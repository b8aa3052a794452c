import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Correction } from '../correct/read-as.ts';
import { listOf, readLetters } from '../correct/read-as.ts';
import type { OperatorAction } from '../ledger/entry.ts';
import type { EnvironmentLedger } from '../ledger/environment-ledger.ts';
import { discarded } from '../ledger/state-machine/decision.ts';
import type { Store } from '../redis/store.ts';
import { createDeadLetterClosing } from './close-dead-letters.ts';
import { noteDiscard } from './note-discards.ts';

/** Times that an order is looked up again when a daemon changes it at the same moment. */
const TRIES = 5;

/** Builds the step that discards the dead letters which a person discarded in a correction. Can be repeated. */
export function createDiscardLetters(deps: {
  config: Pick<Config, 'reports'>;
  book: Pick<EnvironmentLedger, 'batches' | 'ledger'>;
  store: Store;
}) {
  const { config, store } = deps;
  const { batches, ledger } = deps.book;
  const closing = createDeadLetterClosing({ batches, ledger, ...store });

  async function discardIn(batch: string, wanted: ReadonlySet<string>, who: string): Promise<void> {
    const found = await batches.find(batch);
    for await (const letter of readLetters(listOf(batch, config))) {
      if (!wanted.has(letter.id ?? '')) continue;
      const by: OperatorAction = { at: store.time.now(), who, what: 'discarded' };
      for (let tries = 0; tries < TRIES; tries += 1) {
        const known = await closing.find(batch, letter);
        const isFree = known.owned === undefined || discarded(known.owned, 0).kind === 'drop';
        if (known.fields.length === 0 || !isFree) break;
        if ((await closing.close(batch, letter, known, by)) === 'late') continue;
        const folder = join(config.reports.path, batch);
        if (found) await noteDiscard({ folder, batch: found, letter }, by, store);
        break;
      }
    }
  }

  return async ({ of, discards }: Correction, who: string): Promise<void> => {
    const wanted = new Set(discards);
    if (wanted.size > 0) for (const batch of of) await discardIn(batch, wanted, who);
  };
}
