import { join } from 'node:path';
import type { Batches } from '../ledger/batches.ts';
import { createDeadLetterCloser } from '../ledger/close-dead-letters.ts';
import { createDeadLetterFields } from '../ledger/dead-letter-fields.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DeadLetter } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import { needsPerson } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { RedisTime } from '../redis/redis-time.ts';
import { readDeadLetters } from '../report/dead-letters.ts';
import type { ReportedOrder } from '../report/write-report.ts';

export type ClosingMendedDeps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  reports: string;
};

/** What came back of a letter: the number it has now, and whether it waits for a person again. */
type Back = { number: string; waits: boolean };

/** Letters that came back: of each batch, what came of the one at each place. */
type FixedBy = Map<string, Map<string, Back>>;

/** Letters remembered at most: those of a batch are read through once for each portion. */
const PORTION = 50_000;

/**
 * Passes the orders of the batch `by` on, and closes dead letters whose rows came back in it and wait again, or have
 * another number than they had, or one at last: no success of their number closes those. Whatever became of the rows,
 * they live on in the batch that brought them. Repeatable.
 */
export async function* closingMended(
  deps: ClosingMendedDeps,
  orders: AsyncIterable<ReportedOrder>,
  by: string,
): AsyncGenerator<ReportedOrder> {
  const { batches, ledger, time, reports } = deps;
  const fieldsOf = createDeadLetterFields(deps);
  const closeDeadLetters = createDeadLetterCloser(deps);
  const fixed: FixedBy = new Map();

  for await (const one of orders) {
    if (one.result.outcome !== 'cancelled') remember(one);
    if (remembered() >= PORTION) await close();
    yield one;
  }
  await close();

  function remembered(): number {
    return fixed.values().reduce((sum, { size }) => sum + size, 0);
  }

  function remember({ order: { records, number }, result: { outcome } }: ReportedOrder): void {
    for (const { fixTarget } of records) {
      if (fixTarget === undefined) continue;
      const places = fixed.get(fixTarget.batch) ?? new Map<string, Back>();
      fixed.set(fixTarget.batch, places.set(fixTarget.place, { number, waits: needsPerson(outcome) }));
    }
  }

  async function close(): Promise<void> {
    for (const [batch, places] of fixed) {
      if (batch === by || (await batches.find(batch))?.state !== 'done') continue;
      for await (const deadLetter of readDeadLetters(join(reports, batch))) {
        const now = places.get(placeText(deadLetter.location));
        if (now !== undefined && livesOn(deadLetter, now)) await closeOne(deadLetter, batch);
      }
    }
    fixed.clear();
  }

  async function closeOne(deadLetter: DeadLetter, batch: string): Promise<void> {
    const fields = await fieldsOf(batch, deadLetter);
    const { purchaseOrderNumber: number, kind } = deadLetter;
    const [known] = await ledger.lookup([number]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const owned = entry?.batch === batch && fields.includes(String(entry.ordinal)) ? entry : undefined;
    if (fields.length === 0 || (owned && !rests(owned))) return;
    await closeDeadLetters({
      batch,
      fields,
      deadLetter: number === '' ? { number, place: placeText(deadLetter.location) } : { number, kind },
      ...(owned ? { entry: owned } : {}),
      by: { at: time.now(), batch: by },
    });
  }
}

function livesOn({ purchaseOrderNumber: before, closed }: DeadLetter, { number, waits }: Back): boolean {
  return closed === undefined && (waits || before === '' || before !== number);
}

/** Nothing happens to it, and it is certain what became of it. */
function rests({ state }: Entry): boolean {
  return state === 'refused' || state === 'failed' || state === 'conflict';
}
