import { idOf } from '../../order/letter-id.ts';
import type { Store } from '../../redis/store.ts';

/** A batch that began, changed its state or was forgotten; `closed`: the id of a dead letter of it that was closed. */
export type Change = { batch: string; closed?: string };

type ChangeStore = Pick<Store, 'redis' | 'keys'>;

/** Changes read at a time. */
const LOOK = 5_000;
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
