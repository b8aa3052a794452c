import { readFile, writeFile } from 'node:fs/promises';
import { makePlace, startDaemon } from '../contenders/daemon.ts';
import { dropInto } from '../contenders/drop-into.ts';
import { openRedis } from '../contenders/open-redis.ts';
import { median } from '../median.ts';
import type { Stage } from '../stage.ts';
import type { Row } from './row.ts';

const LATENCY = 50;
/** Calls in flight of each delivery process: few enough that four of them do not fill the cores. */
const CONCURRENCY = 8;
const PROCESSES = [1, 2, 4];

/** One intake process and more and more delivery processes, against a slow API. */
export const roles: Row = {
  name: 'roles',
  title: `Delivery processes, ${CONCURRENCY} calls each, ${LATENCY} ms an answer`,
  async measure(stage) {
    const rounds = stage.quick ? 1 : 3;
    const rates = new Map<number, number[]>(PROCESSES.map((processes) => [processes, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const processes of PROCESSES) rates.get(processes)?.push(await rateOf(stage, processes));
    }
    const alone = median(rates.get(1) ?? []);
    return PROCESSES.map((processes) => {
      const samples = rates.get(processes) ?? [];
      const value = median(samples) / alone / processes;
      return {
        what: `with ${processes}`,
        unit: 'orders/s',
        samples: { 'po-sync': samples },
        ...(processes > 1 && {
          targets: [{ text: '× linear', value, limit: 0.9, sense: 'at least' as const }],
        }),
      };
    });
  },
};

/** Orders a second from the first post to the last. */
async function rateOf(stage: Stage, processes: number): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const place = await makePlace(await stage.makeFolder(), stage.api.origin, '100ms');
  const text = await readFile(place.config, 'utf8');
  await writeFile(place.config, text.replace(/concurrency: \d+/, `concurrency: ${CONCURRENCY}`));
  stack.use(await openRedis(place.data));
  stack.use(await startDaemon(place, '--role', 'intake'));
  for (let nth = 0; nth < processes; nth += 1)
    stack.use(await startDaemon(place, '--role', 'delivery'));
  const file = await stage.writeFile((stage.quick ? 1_000 : 3_000) * processes);
  const { seen } = await stage.api.judge(file, LATENCY, async () => {
    await dropInto(place, file);
    await stage.api.reached();
  });
  const rate = (file.orders / (seen.lastAt - seen.firstAt + LATENCY)) * 1000;
  stage.say(`  ${processes} delivery processes: ${Math.round(rate)} orders/s`);
  return rate;
}
