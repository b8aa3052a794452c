import { join } from 'node:path';
import type { Batches } from './ledger/batches.ts';
import type { Entry } from './ledger/entry.ts';
import type { Ledger } from './ledger/ledger.ts';
import { openLetterFields } from './ledger/letter-fields.ts';
import { openPutAside } from './ledger/put-aside.ts';
import type { DeadLetter } from './order/dead-letter.ts';
import { placeText } from './order/mending.ts';
import type { Redis } from './redis/connect.ts';
import type { Keys } from './redis/keys.ts';
import type { RedisTime } from './redis/redis-time.ts';
import { readLetters } from './report/read-letters.ts';
import type { ReportedOrder } from './report/write-report.ts';

export type CloseMendedDeps = {
  batches: Batches;
  ledger: Ledger;
  redis: Redis;
  keys: Keys;
  time: RedisTime;
  reports: string;
};

/** Letters that came back under another number: of each batch, the place of each and its number now. */
type Mended = Map<string, Map<string, string>>;

/**
 * Closes dead letters whose rows came back in a fix file with another number than they had, or with one at last: their
 * number does not lead to them. Whatever became of the rows, they live on in the batch that brought them. Repeatable.
 */
export function openCloseMended(deps: CloseMendedDeps) {
  const { batches, ledger, time, reports } = deps;
  const fieldsOf = openLetterFields(deps);
  const putAside = openPutAside(deps);
  const mended: Mended = new Map();

  /** Passes the orders on and remembers what they mend. */
  async function* watch(orders: AsyncIterable<ReportedOrder>): AsyncGenerator<ReportedOrder> {
    for await (const one of orders) {
      if (one.result.outcome !== 'cancelled') remember(one);
      yield one;
    }
  }

  function remember({ order: { records, number } }: ReportedOrder): void {
    for (const { mends } of records) {
      if (mends === undefined) continue;
      const places = mended.get(mends.batch) ?? new Map<string, string>();
      mended.set(mends.batch, places.set(mends.place, number));
    }
  }

  /** Closes what was remembered; `by` is the batch that brought it. */
  async function close(by: string): Promise<void> {
    for (const [batch, places] of mended) {
      if (batch === by || (await batches.find(batch))?.state !== 'done') continue;
      for await (const letter of readLetters(join(reports, batch))) {
        const now = places.get(placeText(letter.location));
        if (now !== undefined && isMended(letter, now)) await closeOne(letter, batch, by);
      }
    }
  }

  async function closeOne(letter: DeadLetter, batch: string, by: string): Promise<void> {
    const fields = await fieldsOf(batch, letter);
    const { purchaseOrderNumber: number, kind } = letter;
    const [known] = await ledger.lookup([number]);
    const entry = known?.kind === 'open' ? known.entry : undefined;
    const owned = entry?.batch === batch && fields.includes(String(entry.ordinal)) ? entry : undefined;
    if (fields.length === 0 || (owned && !rests(owned))) return;
    await putAside({
      batch,
      fields,
      letter: number === '' ? { number, place: placeText(letter.location) } : { number, kind },
      ...(owned ? { entry: owned } : {}),
      by: { at: time.now(), batch: by },
    });
  }

  return { watch, close };
}

function isMended({ purchaseOrderNumber: before, closed }: DeadLetter, now: string): boolean {
  return closed === undefined && (before === '' || before !== now);
}

/** Nothing happens to it, and it is certain what became of it. */
function rests({ state }: Entry): boolean {
  return state === 'refused' || state === 'failed' || state === 'conflict';
}
