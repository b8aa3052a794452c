import { type Lease, takeLease } from '../redis/lease.ts';
import type { Store } from '../redis/store.ts';

type Place = Pick<Store, 'redis' | 'keys'>;

/** Milliseconds. */
const LEASE = 15_000;

/** The right to read the API's list: one reader at a time, over all daemons and commands. Undefined while another has it. */
export function takeListLease({ redis, keys }: Place, owner: string): Promise<Lease | undefined> {
  return takeLease(redis, keys.lease('verification'), owner, LEASE);
}

/** Runs a task with that lease; undefined while another has it. */
export async function withListLease<T>(
  place: Place,
  owner: string,
  task: () => Promise<T>,
): Promise<T | undefined> {
  const lease = await takeListLease(place, owner);
  if (lease === undefined) return undefined;
  try {
    return await task();
  } finally {
    await lease.release();
  }
}
