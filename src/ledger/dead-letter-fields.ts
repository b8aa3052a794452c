import type { DeadLetter } from '../order/dead-letter.ts';
import { placeText } from '../order/fixing.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Batches } from './batches.ts';
import { readOpenDeadLetters } from './open-dead-letters.ts';

/** Finds under which fields of `closed` a batch keeps how a letter was closed; none when it waits no more. */
export function createDeadLetterFields({ redis, keys, batches }: { redis: Redis; keys: Keys; batches: Batches }) {
  /** Two letters of one number are told apart by their kind; those without a number by their place. */
  return async (batch: string, deadLetter: DeadLetter): Promise<string[]> => {
    const { purchaseOrderNumber: number, kind, location } = deadLetter;
    if (number === '') return [placeText(location)];
    const marks = readOpenDeadLetters((await redis.hget(keys.waiting, number)) ?? '').filter(
      (mark) => mark.batch === batch,
    );
    const fields = marks.map(({ field }) => field);
    if (fields.length < 2) return fields;
    const results = await batches.results(batch, fields.map(Number));
    const alike = fields.filter((_, i) => (results[i]?.outcome ?? 'invalid') === kind);
    return alike.length === 0 ? fields : alike;
  };
}
