import type { Batch, Batches } from '../ledger/batches.ts';
import { countNeedingPerson, countSettled } from '../order/outcome.ts';
import { allNames } from './find-batch.ts';

export type BatchFilter = {
  /** Claimed at or after this time, milliseconds since 1970. */
  since?: number;
  /** Only those with dead letters that still wait, or that are held. */
  open: boolean;
  most: number;
};

/** How a batch stands, in the words of a report. */
export type Standing = 'reading' | 'sending' | 'held' | 'finished' | 'unreadable';

/** The newest batches that pass the filter. */
export async function listBatches(filter: BatchFilter, batches: Batches): Promise<Batch[]> {
  const found: Batch[] = [];
  for await (const name of allNames(batches)) {
    const batch = await batches.find(name);
    if (batch === undefined) continue;
    if (batch.startedAt < (filter.since ?? 0)) break;
    if (!filter.open || batch.open > 0 || batch.held) found.push(batch);
    if (found.length >= filter.most) break;
  }
  return found;
}

export function standingOf({ state, held, total }: Batch): Standing {
  // Nothing of it was ever counted.
  if (state === 'done') return total === undefined ? 'unreadable' : 'finished';
  if (held) return 'held';
  return state === 'reading' ? 'reading' : 'sending';
}

/** Orders that have their outcome. */
export function settledIn({ counts }: Batch): number {
  return countSettled(counts);
}

/** Orders that needed a person when they were counted. */
export function neededPerson({ counts }: Batch): number {
  return countNeedingPerson(counts);
}
