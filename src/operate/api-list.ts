import type { Partner } from '../api/create.ts';
import { type ListEnd, type ListedOrder, listOrders } from '../api/list.ts';
import type { TokenSource } from '../api/token.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import type { Http } from '../core/http.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { takeLease } from '../redis/lease.ts';

type Deps = {
  http: Http;
  tokens: TokenSource;
  partner: Partner;
  redis: Redis;
  keys: Keys;
  owner: string;
  clock: Clock;
  signal: AbortSignal;
};

const LOCK = 15_000;
const LOOK_AGAIN = 200;

/** Reads the API's list for a person: never while a daemon reads it, and once more with a new token after a 401. */
export function createApiList(deps: Deps) {
  const { http, tokens, partner, redis, keys, owner, clock, signal } = deps;

  /** Throws PoSyncError `token-refused`, `token-unavailable`, `interrupted`. */
  async function read(onOrder: (order: ListedOrder) => void): Promise<ListEnd> {
    const lock = await waitForLock();
    try {
      const token = await tokens.get();
      const end = await listOrders(http, partner, token, onOrder);
      if (end.kind !== 'unauthorized') return end;
      await tokens.invalidate(token.fingerprint);
      return await listOrders(http, partner, await tokens.get(), onOrder);
    } finally {
      await lock.release();
    }
  }

  async function waitForLock() {
    for (;;) {
      const lock = await takeLease(redis, keys.verificationLock, owner, LOCK);
      if (lock) return lock;
      if (signal.aborted) throw new PoSyncError('interrupted', 'interrupted while another process reads the list.');
      await clock.sleep(LOOK_AGAIN, signal);
    }
  }

  return { read };
}
