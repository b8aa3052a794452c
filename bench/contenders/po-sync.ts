import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from '../../src/redis/connect.ts';
import type { Report } from '../../src/report/report.ts';
import type { Api } from '../api/start-api.ts';
import type { OrderFile } from '../order-file.ts';
import { cpuOf } from '../process-figures.ts';
import { redisFigures, redisUse } from '../redis-figures.ts';
import type { Contender, Delivered } from './contender.ts';
import { makePlace, type Place, startDaemon } from './daemon.ts';
import { dropInto } from './drop-into.ts';

/** The daemon with its own Redis; both stay for all rounds. */
export type PoSync = Contender & {
  pid: number;
  redis: Redis;
  place: Place;
};

/** How long a file must stay unchanged before it is taken; not part of the delivery time. */
const STABLE = 100;

const OPEN_REDIS = 'bench/contenders/open-redis.ts';

export async function openPoSync(folder: string, api: Api, launcher?: string): Promise<PoSync> {
  await using stack = new AsyncDisposableStack();
  const place = await makePlace(folder, api.origin, `${STABLE}ms`, launcher);
  // Another checkout starts its Redis itself: how a daemon reaches it may differ.
  const { openRedis }: typeof import('./open-redis.ts') = await import(
    path.join(place.launcher, '../..', OPEN_REDIS)
  );
  const { redis } = stack.use(await openRedis(place.data));
  const { pid } = stack.use(await startDaemon(place));
  const kept = stack.move();

  async function deliver(file: OrderFile): Promise<Delivered> {
    const [cpu, use] = [cpuOf(pid), await redisFigures(redis)];
    const dropped = await dropInto(place, file);
    await api.reached();
    const report = await reportOf(file);
    const { counts, finishedAt } = report;
    if (counts.accepted !== file.orders)
      throw new Error(`not all accepted: ${JSON.stringify(counts)}`);
    return {
      milliseconds: Date.parse(finishedAt ?? '') - dropped - STABLE,
      cpu: cpuOf(pid) - cpu,
      redis: redisUse(use, await redisFigures(redis)),
    };
  }

  async function reportOf({ path: file }: OrderFile): Promise<Report> {
    const { name: slug } = path.parse(file);
    for (;;) {
      const report = await findReport(place.reports, slug);
      if (report?.state === 'finished') return report;
      await delay(20);
    }
  }

  return { pid, redis, place, deliver, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function findReport(reports: string, slug: string): Promise<Report | undefined> {
  const batch = (await readdir(reports)).find((name) => name.includes(`-${slug}-`));
  if (batch === undefined) return undefined;
  // A new batch has a folder before it has a report.
  const text = await readFile(path.join(reports, batch, 'report.json'), 'utf8').catch(() => '');
  return text === '' ? undefined : JSON.parse(text);
}
