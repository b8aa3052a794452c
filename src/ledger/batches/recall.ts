import type { Closing, DeadLetter } from '../../order/dead-letter.ts';
import { digestOf } from '../../order/digest.ts';
import { placeText } from '../../order/fixing.ts';
import type { Order } from '../../order/order.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { readScript, runScript } from '../../redis/script.ts';
import { type Entry, type StoredResult, versionAfter } from '../entry.ts';
import { renumberedAs, takenRows } from '../number-claims.ts';

/**
 * A dead letter of a report. `closing`: how it was closed, where its rows may still need a person. `last`: the number that its rows
 * have now, where a later fix file gave it to them.
 */
export type RecalledLetter = {
  letter: DeadLetter;
  ordinal: number;
  closing?: Closing;
  last?: string | undefined;
};

/**
 * A settled batch that the ledger does not have. `fields`: as its hash keeps it. `content`: the field of its content,
 * `unreadable`: its file, where nobody replaced it. `isHeard`: its source had a file then.
 */
export type RecalledBatch = {
  batch: string;
  startedAt: number;
  open: number;
  content?: string;
  unreadable?: string;
  isHeard?: boolean;
  fields: Record<string, string | number>;
};

/** Enters settled batches and their dead letters into a ledger that does not have them. Can be repeated. */
export function createRecall({ redis, keys }: { redis: Redis; keys: Keys }) {
  const letterScript = readScript(new URL('./recall-dead-letters.lua', import.meta.url));
  const forgetScript = readScript(new URL('./forget-dead-letters.lua', import.meta.url));
  const batchScript = readScript(new URL('./recall.lua', import.meta.url));

  /** Forgets what is known of a batch that has ended, and of its dead letters. Before `keep`. */
  async function forget(batch: string): Promise<void> {
    await runScript(redis, forgetScript, [keys.waiting], [`${batch}/`]);
    const known = [keys.batch(batch), keys.results(batch), keys.closed(batch)];
    await redis.multi().del(known).srem(keys.active, batch).srem(keys.finished, batch).exec();
  }

  /** Keeps dead letters of a batch. Call it for all of them before `enter`. */
  async function keep(batch: string, page: readonly RecalledLetter[]): Promise<void> {
    const used = [keys.waiting, keys.results(batch), keys.closed(batch), keys.corrected(batch)];
    await runScript(redis, letterScript, used, [
      batch,
      ...page.flatMap((one) => keptOf(batch, one)),
    ]);
    for (const { letter, last } of page) {
      const { owner, former } = takenRows(batch, letter, last);
      if (former) await redis.hsetnx(keys.renumbered, ...renumberedAs(owner, former, batch));
    }
    const later = page.flatMap(({ closing }) => (closing?.successor && closing.batch) || []);
    for (const one of new Set(later)) await redis.sadd(keys.cameFrom(one), batch);
  }

  /** Makes a batch known; false when it is known already. */
  async function enter({
    batch,
    startedAt,
    open,
    content = '',
    unreadable = '',
    isHeard,
    fields,
  }: RecalledBatch) {
    const source = String(fields['source']);
    const isLater = isHeard && Number((await redis.hget(keys.heard, source)) ?? 0) < startedAt;
    // The silence of the source would be counted from its last file before the backup.
    if (isLater) await redis.hset(keys.heard, source, startedAt);
    const { batchCounter, batchNames, batches, contents, changes } = keys;
    const used = [
      keys.batch(batch),
      batchCounter,
      batchNames,
      batches,
      contents,
      keys.unreadable,
      changes,
    ];
    const args = [batch, startedAt, open, content, unreadable, ...Object.entries(fields).flat()];
    return (await runScript(redis, batchScript, used, args)) === 1;
  }

  return { forget, keep, enter };
}

function keptOf(batch: string, { letter, ordinal, closing, last }: RecalledLetter): string[] {
  const { purchaseOrderNumber: number, location, closed } = letter;
  const field = number === '' ? placeText(location) : String(ordinal);
  const result = closed === undefined ? JSON.stringify(resultOf(letter)) : '';
  const { owner, places } = takenRows(batch, letter, last);
  const rows = places.map((place) => [`as ${place}`, JSON.stringify(owner)]);
  return [number, field, result, closing ? JSON.stringify(closing) : '', JSON.stringify(rows)];
}

function resultOf(letter: DeadLetter): StoredResult {
  const { kind: outcome, attempts, firstAt, lastAt, code, message, httpStatus, response } = letter;
  return {
    outcome,
    attempts,
    at: Date.parse(lastAt),
    firstAt: Date.parse(firstAt),
    code,
    message,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(response === undefined ? {} : { response }),
  };
}

/**
 * The ledger's entry of an order in doubt that it has forgotten; undefined where the report lacks its content. What its
 * attempts were answered is forgotten, too: as with one that was created under another number, absence proves nothing.
 */
export function doubtOf(
  { payload, attempts, firstAt, lastAt, location, code, message, httpStatus, response }: DeadLetter,
  where: Pick<Entry, 'batch' | 'batchNo' | 'ordinal'>,
  at: number,
): Entry | undefined {
  if (payload === undefined) return undefined;
  // A report of ours contains it as it was sent.
  const order = payload as Order;
  const { line, pointer } = location;
  const answer = {
    code,
    message,
    ...(httpStatus && { httpStatus }),
    ...(response && { response }),
  };
  return {
    ...where,
    version: versionAfter(0, at),
    state: 'inDoubt',
    order,
    digest: digestOf(order),
    place: { line, ...(pointer && { pointer }) },
    job: '',
    attempt: attempts,
    used: attempts,
    absences: 0,
    maybeSentAt: Math.min(at, Date.parse(lastAt)),
    misnamed: true,
    firstAt: Date.parse(firstAt),
    lastAt: Date.parse(lastAt),
    answer,
  };
}
