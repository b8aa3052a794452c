import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../redis/store.ts';
import { type Notice, redisAway, redisBack } from './notice.ts';
import type { OpenReceiver } from './outbox.ts';

type WatchDeps = {
  config: Pick<Config, 'environment'>;
  store: { redis: Pick<Store['redis'], 'status'> };
  clock: Clock;
  receivers: readonly Pick<OpenReceiver, 'on' | 'way'>[];
  /** Aborts when the daemon stops. */
  signal: AbortSignal;
  onTrouble(error: unknown): void;
};

/** Milliseconds without Redis before it is reported; and between two tries. */
const AWAY = 60_000;

/** Builds a look, to be called once a second, that reports directly when Redis, which keeps all other notices, is not reachable, and when it is again. */
export function createRedisWatch(deps: WatchDeps): () => Promise<void> {
  const { config, store, clock, receivers, signal, onTrouble } = deps;
  const { environment } = config;
  const told = new Set<OpenReceiver['way']>();
  let since: number | undefined;
  let tried = Number.NEGATIVE_INFINITY;

  async function tell(notice: Notice, ways: readonly OpenReceiver['way'][]): Promise<void> {
    await Promise.all(
      ways.map(async (way) => {
        try {
          await way.send(notice, signal);
          told.add(way);
        } catch (error) {
          onTrouble(error);
        }
      }),
    );
  }

  async function look(): Promise<void> {
    const now = clock.now();
    if (store.redis.status === 'ready') {
      if (since === undefined) return;
      const notice = redisBack({ environment, at: now, since });
      since = undefined;
      const ways = [...told];
      told.clear();
      await tell(notice, ways);
      told.clear();
      return;
    }
    since ??= now;
    if (now - since < AWAY || clock.monotonic() - tried < AWAY) return;
    tried = clock.monotonic();
    const ways = receivers.flatMap(({ on, way }) =>
      on.includes('attention') && !told.has(way) ? [way] : [],
    );
    await tell(redisAway({ environment, at: now, since }), ways);
  }

  return look;
}
