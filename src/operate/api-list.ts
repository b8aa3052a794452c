import type { ListEnd, ListedOrder } from '../api/list.ts';
import type { Partner } from '../api/partner.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import { takeLease } from '../redis/lease.ts';
import type { Store } from '../redis/store.ts';

type Deps = {
  list: Partner['list'];
  store: Pick<Store, 'redis' | 'keys'>;
  owner: string;
  clock: Clock;
  signal: AbortSignal;
};

const LOCK = 15_000;
const LOOK_AGAIN = 200;

/** Reads the API's list for a person, never while a daemon reads it. */
export function createApiList({ list, store, owner, clock, signal }: Deps) {
  /** Throws PoSyncError `interrupted`. */
  async function read(onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    const lock = await waitForLock();
    try {
      return await list(onOrder);
    } finally {
      await lock.release();
    }
  }

  async function waitForLock() {
    for (;;) {
      const lock = await takeLease(store.redis, store.keys.verificationLock, owner, LOCK);
      if (lock) return lock;
      if (signal.aborted) throw new PoSyncError('interrupted', 'interrupted while another process reads the list.');
      await clock.sleep(LOOK_AGAIN, signal);
    }
  }

  return { read };
}
