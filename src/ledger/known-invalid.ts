import { KNOWN_INVALID, KNOWN_SETTLED } from '../order/outcome.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { type Batches, namedBatch } from './batches/batches.ts';
import { readOpenDeadLetters } from './dead-letters.ts';
import type { Entry, StoredResult } from './entry.ts';

/** Something that needs a person: its order number, "" without one, and a digest of its content. */
export type KnownProblem = { number: string; fingerprint: string };

export type KnownInvalid = ReturnType<typeof createKnownInvalid>;

/**
 * What exports have shown already: an export shows its faulty orders again with every version, and a person sees each only
 * once, until its content changes or it was correct in between. The same of orders that the API refused and a person corrected.
 */
export function createKnownInvalid({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** Which of these were shown with the same content. */
  async function wereKnown(source: string, problems: readonly KnownProblem[]): Promise<boolean[]> {
    if (problems.length === 0) return [];
    const fingerprints = await redis.hmget(keys.knownInvalid(source), ...problems.map(fieldOf));
    return problems.map(({ fingerprint }, i) => fingerprints[i] === fingerprint);
  }

  /** Call after they are counted: what a crash cuts off in between is shown again. */
  async function remember(source: string, problems: readonly KnownProblem[]): Promise<void> {
    if (problems.length === 0) return;
    await redis.hset(
      keys.knownInvalid(source),
      Object.fromEntries(problems.map((one) => [fieldOf(one), one.fingerprint])),
    );
  }

  /** These numbers are correct now: a later fault is shown again. */
  async function areWell(source: string, numbers: readonly string[]): Promise<void> {
    if (numbers.length === 0 || (await redis.hlen(keys.knownInvalid(source))) === 0) return;
    const fields = numbers.flatMap((number) => [
      fieldOf({ number, fingerprint: '' }),
      leftOutField(number),
    ]);
    await redis.hdel(keys.knownInvalid(source), ...fields);
  }

  /** Which of these numbers no report but that of `batch` named as left out although they were sent. */
  async function areNewlyLeftOut(
    source: string,
    batch: string,
    numbers: readonly string[],
  ): Promise<boolean[]> {
    if (numbers.length === 0) return [];
    const named = await redis.hmget(keys.knownInvalid(source), ...numbers.map(leftOutField));
    return named.map((one) => one === null || one === batch);
  }

  /** The report of `batch` names these; when it is written again after a crash, too. */
  async function leftOut(source: string, batch: string, numbers: readonly string[]): Promise<void> {
    if (numbers.length === 0) return;
    const fields = Object.fromEntries(numbers.map((number) => [leftOutField(number), batch]));
    await redis.hset(keys.knownInvalid(source), fields);
  }

  /**
   * A person corrects these orders: where one is of an export, its later versions may show it as it was. Call before the
   * corrected order is entered, or the ledger forgets the order.
   */
  async function corrected(
    replaced: readonly Entry[],
    batches: Pick<Batches, 'find'>,
  ): Promise<void> {
    const from = Map.groupBy(replaced, ({ batch }) => batch);
    for (const [name, entries] of from) {
      const batch = await batches.find(name);
      const shown = entries.map((one) => ({
        number: one.order.purchaseOrderNumber,
        fingerprint: one.digest,
      }));
      if (batch?.kind === 'export') await remember(batch.source, shown);
    }
  }

  return { wereKnown, remember, areWell, areNewlyLeftOut, leftOut, corrected };
}

/** Whether one of the open dead letters that `waiting` holds for a number is of a fix file, or of this export, as after a loss of Redis. */
async function isWaiting(
  source: string,
  waiting: string,
  batches: Pick<Batches, 'find'>,
): Promise<boolean> {
  const found = await Promise.all(
    readOpenDeadLetters(waiting).map(({ batch }) => batches.find(batch)),
  );
  return found.some(
    (one) => one?.inspection?.isFixFile || (one?.kind === 'export' && one.source === source),
  );
}

const leftOutField = (number: string) => `-${number}`;

function fieldOf({ number, fingerprint }: KnownProblem): string {
  return number === '' ? `#${fingerprint}` : `=${number}`;
}

type Deps = { store: { redis: Redis; keys: Keys }; batches: Pick<Batches, 'find'> };

/**
 * Which orders of an export wait for a person as they are shown, which is not sent: a person corrected them in a fix file in which they
 * still wait, or the ledger lost them and only a report knows that they wait.
 */
export async function wereCorrected(
  source: string,
  orders: readonly KnownProblem[],
  { store: { redis, keys }, batches }: Deps,
): Promise<boolean[]> {
  if (orders.length === 0) return [];
  const were = await createKnownInvalid({ redis, keys }).wereKnown(source, orders);
  return await Promise.all(
    orders.map(
      async ({ number }, i) =>
        were[i] === true &&
        (await isWaiting(source, (await redis.hget(keys.waiting, number)) ?? '', batches)),
    ),
  );
}

/**
 * The results of orders that an export showed before with the same fault, in the order asked: each waits for a person
 * still, or was settled since. That of a row without a number is not known. `at` is ledger time in milliseconds.
 */
export async function resultsShownBefore(
  orders: readonly { number: string }[],
  at: number,
  { store: { redis, keys }, batches }: Deps,
): Promise<StoredResult[]> {
  if (orders.length === 0) return [];
  const texts = await redis.hmget(keys.waiting, ...orders.map(({ number }) => number));
  const open = texts.map((text) => readOpenDeadLetters(text ?? '').at(-1));
  return await Promise.all(
    orders.map(async ({ number }, i): Promise<StoredResult> => {
      const result = { outcome: 'duplicate', attempts: 0, at } as const;
      const batch = open[i]?.batch;
      if (batch !== undefined) {
        const from = await namedBatch(batch, batches);
        return { ...result, code: KNOWN_INVALID, facts: { from } };
      }
      const facts = {};
      return number === ''
        ? { ...result, code: KNOWN_INVALID, facts }
        : { ...result, code: KNOWN_SETTLED, facts };
    }),
  );
}
