import type { OperatorContext } from '../../operate/operator-context.ts';
import type { DeadLetter } from '../../order/dead-letter.ts';
import { deadLettersInProgress } from '../../put-away/dead-letters-in-progress.ts';
import type { BatchTable } from './batch-table.ts';
import type { ReadThread } from './read-thread.ts';

/** A scan takes at most one part in so many of the time. */
const SHARE = 20;

/** The dead letters of batches that have no report yet. */
export function createProgressScan(context: Omit<OperatorContext, 'operator'>, letters: ReadThread) {
  let dueAt = 0;
  let before = new Map<string, number>();

  async function run(table: BatchTable): Promise<void> {
    const began = context.clock.monotonic();
    const found = new Map<string, { from: { batch: string; source: string; file: string }; letters: DeadLetter[] }>();
    for await (const letter of deadLettersInProgress(context)) {
      const { batch, source, file } = letter;
      const one = found.get(batch) ?? { from: { batch, source, file }, letters: [] };
      one.letters.push(letter);
      found.set(batch, one);
    }
    const inFile = (one: DeadLetter, other: DeadLetter) => one.location.line - other.location.line;
    for (const { from, letters: some } of found.values()) await letters.put(from, some.sort(inFile));
    for (const batch of before.keys()) {
      if (!found.has(batch) && table.find(batch)?.state !== 'done') await letters.remove(batch);
    }
    before = openInProgress(table);
    dueAt = clock() + (clock() - began) * SHARE;
  }

  const clock = () => context.clock.monotonic();

  /** Only when a batch in progress has more or fewer dead letters than before. */
  async function runWhenDue(table: BatchTable): Promise<void> {
    if (clock() < dueAt) return;
    const now = openInProgress(table);
    if ([...now].some(([batch, open]) => before.get(batch) !== open)) await run(table);
  }

  return { run, runWhenDue };
}

function openInProgress(table: BatchTable): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of table.names()) {
    const row = table.find(name);
    if (row && row.state !== 'done' && row.open > 0) found.set(name, row.open);
  }
  return found;
}
