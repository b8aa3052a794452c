import { makePlace, startDaemon } from '../contenders/daemon.ts';
import { openRedis } from '../contenders/open-redis.ts';
import { median } from '../median.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';

/** From the start of the process until it tells that it is ready. */
export const startUp: Row = {
  name: 'start-up',
  title: 'Start-up',
  measure: async (stage) => {
    const [all, daemonAlone]: [number[], number[]] = [[], []];
    for (let round = 0; round < (stage.quick ? 2 : 5); round += 1) {
      all.push(await startOnce(stage, false));
      daemonAlone.push(await startOnce(stage, true));
    }
    const target = (value: number) => ({
      text: 'ms',
      value,
      limit: 1_500,
      sense: 'at most' as const,
    });
    return [
      {
        what: 'ready, with a private Redis to start',
        unit: 'ms',
        samples: { 'po-sync': all },
        targets: [target(median(all))],
      },
      { what: 'ready, Redis running', unit: 'ms', samples: { 'po-sync': daemonAlone } },
    ];
  },
};

async function startOnce(stage: Stage, redisRuns: boolean): Promise<number> {
  const place = await makePlace(await stage.makeFolder(), stage.api.origin, '2s');
  await using stack = new AsyncDisposableStack();
  if (redisRuns) stack.use(await openRedis(place.data));
  const { readyAfter } = stack.use(await startDaemon(place));
  return readyAfter;
}
