import type { Config } from '../config/config.ts';
import { type Loop, startLoop } from '../core/backoff/loop.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../redis/store.ts';
import { type Notice, redisAway, redisBack } from './notice.ts';
import type { OpenReceiver } from './outbox.ts';

type WatchDeps = {
  config: Pick<Config, 'environment'>;
  store: { redis: Pick<Store['redis'], 'status'> };
  clock: Clock;
  receivers: readonly Pick<OpenReceiver, 'on' | 'way'>[];
  complete(notice: Notice): Notice;
  onTrouble(error: unknown): void;
};

/** Milliseconds that Redis is away before people are told; and between two tries to tell one. */
const AWAY = 60_000;
const LOOK_EVERY = 1_000;

/** Tells receivers directly that Redis, which keeps all other notices, cannot be reached, and that it is back. */
export function createRedisWatch(deps: WatchDeps): Loop {
  const { config, store, clock, receivers, complete, onTrouble } = deps;
  const { environment } = config;
  const stopping = new AbortController();
  const told = new Set<OpenReceiver['way']>();
  let since: number | undefined;
  let tried = Number.NEGATIVE_INFINITY;

  async function tell(notice: Notice, ways: readonly OpenReceiver['way'][]): Promise<void> {
    await Promise.all(
      ways.map(async (way) => {
        try {
          await way.send(notice, stopping.signal);
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
      const notice = complete(redisBack({ environment, at: now, since }));
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
    await tell(complete(redisAway({ environment, at: now, since })), ways);
  }

  const loop = startLoop(look, { pause: LOOK_EVERY, clock, onTrouble });
  return {
    ...loop,
    get isStopped() {
      return loop.isStopped;
    },
    [Symbol.asyncDispose]: () => {
      stopping.abort();
      return loop[Symbol.asyncDispose]();
    },
  };
}
