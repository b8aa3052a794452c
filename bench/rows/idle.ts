import { setTimeout as delay } from 'node:timers/promises';
import { makePlace, startDaemon } from '../contenders/daemon.ts';
import { openRedis } from '../contenders/open-redis.ts';
import { cpuOf, memoryOf } from '../process-figures.ts';
import { redisFigures, redisUse } from '../redis-figures.ts';
import type { Row } from './row.ts';

/** An idle daemon. */
export const idle: Row = {
  name: 'idle',
  title: 'Idle',
  measure: async (stage) => {
    const seconds = stage.quick ? 5 : 30;
    const place = await makePlace(await stage.makeFolder(), stage.api.origin, '2s');
    await using store = await openRedis(place.data);
    await using daemon = await startDaemon(place);
    // The first moments belong to startup.
    await delay(3_000);
    const [cpu, use] = [cpuOf(daemon.pid), await redisFigures(store.redis)];
    await delay(seconds * 1000);
    const share = (microseconds: number) => microseconds / seconds / 10_000;
    const ours = share(cpuOf(daemon.pid) - cpu);
    const redis = redisUse(use, await redisFigures(store.redis));
    return [
      {
        what: `processor time of the daemon over ${seconds} s`,
        unit: '%',
        samples: { 'po-sync': [ours] },
        targets: [{ text: '%', value: ours, limit: 1, sense: 'at most' }],
      },
      {
        what: 'processor time of its Redis',
        unit: '%',
        samples: { 'po-sync': [share(redis.cpu)] },
      },
      {
        what: 'Redis commands a second',
        unit: '',
        samples: { 'po-sync': [redis.commands / seconds] },
      },
      {
        what: 'memory of the daemon',
        unit: 'MB',
        samples: { 'po-sync': [memoryOf(daemon.pid, 'now')] },
      },
    ];
  },
};
