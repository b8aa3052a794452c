import { PoSyncError } from '../core/errors.ts';
import type { Batch, Batches } from '../ledger/batches.ts';

const PAGE = 1000;

/**
 * The batch that a person means by its name, or by how its name ends: its last eight characters are enough.
 * Throws PoSyncError `batch-unknown`, `batch-ambiguous`.
 */
export async function findBatch(text: string, batches: Pick<Batches, 'find' | 'names'>): Promise<Batch> {
  const exact = await batches.find(text);
  if (exact) return exact;
  const found: string[] = [];
  for await (const name of allNames(batches)) if (text !== '' && name.endsWith(text)) found.push(name);
  if (found.length > 1) throw ambiguous(text, found);
  const batch = found[0] === undefined ? undefined : await batches.find(found[0]);
  if (batch) return batch;
  throw new PoSyncError('batch-unknown', `There is no batch ${text}.`, {
    remedy: 'po-sync batches list shows them; the last eight characters of a name are enough.',
    facts: { batch: text },
  });
}

/** The names of all batches, the newest first. */
export async function* allNames(batches: Pick<Batches, 'names'>): AsyncGenerator<string> {
  for (let from = 0; ; from += PAGE) {
    const page = await batches.names(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

function ambiguous(text: string, found: readonly string[]): PoSyncError {
  const shown = found.slice(0, 5).join(', ');
  return new PoSyncError('batch-ambiguous', `${found.length} batches end in ${text}: ${shown}.`, {
    remedy: 'Give more of the name.',
    facts: { batch: text },
  });
}
