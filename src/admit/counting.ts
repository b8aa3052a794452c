import type { Batch } from '../ledger/batches.ts';
import type { KnownInvalid } from '../ledger/known-invalid.ts';
import type { Counted, Ledger } from '../ledger/ledger.ts';
import { needsPerson } from '../order/outcome.ts';
import type { RedisTime } from '../redis/redis-time.ts';

/** An order that ends at admission; `mark` names its content. */
export type Ended = Counted & { fingerprint: string };

/**
 * Builds the step that counts orders which end at admission. What an export told before, with the same content, is a
 * duplicate of that telling: a person hears of it once.
 */
export function createCounting({ ledger, told, time }: { ledger: Ledger; told: KnownInvalid; time: RedisTime }) {
  return async (batch: Batch, ended: readonly Ended[]): Promise<void> => {
    if (batch.kind === 'inbox') return ledger.count(batch.batch, time.now(), ended);
    const bad = ended.filter(({ result }) => needsPerson(result.outcome));
    const were = await told.wereKnown(batch.source, bad);
    const old = new Set(bad.filter((_, i) => were[i]));
    const counted = ended.map((one) => (old.has(one) ? knownBefore(one, time.now()) : one));
    await ledger.count(batch.batch, time.now(), counted);
    const news = bad.filter((one) => !old.has(one));
    return told.remember(batch.source, news);
  };
}

function knownBefore({ ordinal, number }: Ended, at: number): Counted {
  const message = 'it waits for a person since an earlier export, unchanged';
  return { ordinal, number, result: { outcome: 'duplicate', attempts: 0, at, code: 'known-invalid', message } };
}
