import type { WaitGroup } from '../../operate/orders/read-waits.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { idOf } from '../../order/letter-id.ts';
import type { Store } from '../../redis/store.ts';

/** A batch that began, changed its state or was forgotten; `closed`: the id of a dead letter of it that was closed. */
export type Change = { batch: string; closed?: string };

type ChangeStore = Pick<Store, 'redis' | 'keys'>;

/** Changes read at a time. */
const LOOK = 5_000;
/** Batches read together; between two groups orders are delivered. */
const GROUP = 250;

/** Reads the stream of changes, each change once. */
export function createChangeReader({ redis, keys }: ChangeStore) {
  let last = '';

  /** Begins with what changes from now on. */
  async function begin(): Promise<void> {
    const [newest] = await redis.xrevrange(keys.changes, '+', '-', 'COUNT', 1);
    // An empty stream could not show that entries are missing.
    last = newest?.[0] ?? String(await redis.xadd(keys.changes, '*', 'batch', ''));
  }

  /** What changed since the last call; undefined when changes were missed: then everything must be read again. */
  async function next(): Promise<{ changes: Change[]; isAll: boolean } | undefined> {
    if (last === '') return undefined;
    const [first, ...entries] = await redis.xrange(keys.changes, last, '+', 'COUNT', LOOK);
    if (first?.[0] !== last) return undefined;
    last = entries.at(-1)?.[0] ?? last;
    const changes = entries.flatMap(([, [, batch = '', , ordinal]]): Change[] => {
      if (batch === '') return [];
      return [{ batch, ...(ordinal === undefined ? {} : { closed: idOf(batch, ordinal) }) }];
    });
    return { changes, isAll: entries.length < LOOK - 1 };
  }

  return { begin, next };
}

/**
 * Counts the open dead letters of all batches. Only the first count reads every batch; a later one reads those that
 * changed since, and those in progress.
 */
export function createOpenLetterCount({ redis, keys }: ChangeStore): () => Promise<WaitGroup> {
  const changes = createChangeReader({ redis, keys });
  let open: Map<string, number> | undefined;

  async function readInto(counts: Map<string, number>, names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += GROUP) {
      const group = names.slice(from, from + GROUP);
      const found = await Promise.all(group.map((name) => redis.hget(keys.batch(name), 'open')));
      for (const [i, name] of group.entries()) {
        const count = Number(found[i] ?? 0);
        if (count > 0) counts.set(name, count);
        else counts.delete(name);
      }
    }
  }

  /** False when changes were missed. */
  async function catchUp(counts: Map<string, number>): Promise<boolean> {
    for (;;) {
      const found = await changes.next();
      if (found === undefined) return false;
      await readInto(counts, [...new Set(found.changes.map(({ batch }) => batch))]);
      if (found.isAll) break;
    }
    await readInto(counts, await redis.smembers(keys.active));
    return true;
  }

  async function readAll(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    await changes.begin();
    await readInto(counts, await redis.zrange(keys.batches, 0, '-1'));
    return counts;
  }

  return async () => {
    if (open === undefined || !(await catchUp(open))) open = await readAll();
    const [first, ...others] = open.keys();
    const oldest = first && others.reduce((one, name) => (name < one ? name : one), first);
    const since = oldest && claimTimeOf(oldest);
    const orders = [...open.values()].reduce((sum, count) => sum + count, 0);
    return {
      for: 'person',
      reason: '',
      orders,
      ...(oldest && since ? { oldest: { batch: oldest, since } } : {}),
    };
  };
}
