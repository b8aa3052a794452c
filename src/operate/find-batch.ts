import { PoSyncError } from '../core/errors.ts';
import type { Batch, Batches } from '../ledger/batches.ts';

const PAGE = 1000;

/**
 * Finds a batch by its name or the end of its name; the last eight characters are enough.
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
  throw unknownBatch(text);
}

/** The names of all batches, newest first. */
export async function* allNames(batches: Pick<Batches, 'names'>): AsyncGenerator<string> {
  for (let from = 0; ; from += PAGE) {
    const page = await batches.names(from, PAGE);
    yield* page;
    if (page.length < PAGE) return;
  }
}

/** No batch has this name, or a name that ends like this. */
export function unknownBatch(text: string): PoSyncError {
  return new PoSyncError('batch-unknown', `Batch ${text} not found.`, {
    remedy: 'Run po-sync batches list to see all batches. The last eight characters of a name are enough.',
    facts: { batch: text },
  });
}

function ambiguous(text: string, found: readonly string[]): PoSyncError {
  const shown = found.slice(0, 5).join(', ');
  return new PoSyncError('batch-ambiguous', `${found.length} batches end in ${text}: ${shown}.`, {
    remedy: 'Enter more of the name.',
    facts: { batch: text },
  });
}
