import type { Store } from '../redis/store.ts';
import { allPauses, type BreakerView, type Hold, holdField, type Pause } from './breaker-view.ts';

/** A pause with its end; without `to` it continues. */
export type PastPause = { code: string; reason: string; from: number; to: number | undefined };

type HoldsDeps = { store: Pick<Store, 'redis' | 'keys' | 'time'>; view: BreakerView };

/** Pauses that a person or a task begins and ends, and the record of all pauses. */
export function createHolds({ store, view }: HoldsDeps) {
  const { redis, keys, time } = store;

  /** Pauses delivery until `release` with the same code; no order tries meanwhile. */
  async function hold(code: string, reason: string): Promise<void> {
    const before = (await redis.hget(keys.breaker, holdField(code))) ?? undefined;
    const since = before === undefined ? time.now() : (JSON.parse(before) as Hold).since;
    await redis.hset(keys.breaker, holdField(code), JSON.stringify({ code, reason, since } satisfies Hold));
    await view.refresh(true);
  }

  /** Ends a hold; false when there was none. */
  async function release(code: string): Promise<boolean> {
    const before = await redis.hget(keys.breaker, holdField(code));
    if (before === null || (await redis.hdel(keys.breaker, holdField(code))) === 0) return false;
    const { reason, since } = JSON.parse(before) as Hold;
    await redis.lpush(keys.pauses, JSON.stringify({ code, reason, from: since, to: time.now() } satisfies PastPause));
    await view.refresh(true);
    return true;
  }

  /** Every reason why delivery is paused now; holds first. */
  async function reasons(): Promise<Pause[]> {
    return allPauses(await redis.hgetall(keys.breaker));
  }

  /** The pauses that overlap a span of time, latest first, including a current one. */
  async function during(from: number, to: number): Promise<PastPause[]> {
    await view.refresh(true);
    const texts = await redis.lrange(keys.pauses, 0, -1);
    const past = texts
      .map((text) => JSON.parse(text) as PastPause)
      .filter((one) => one.from <= to && (one.to ?? to) >= from);
    const pause = view.current();
    if (pause === undefined || pause.since > to) return past;
    return [{ code: pause.code, reason: pause.reason, from: pause.since, to: undefined }, ...past];
  }

  return { hold, release, reasons, during };
}
