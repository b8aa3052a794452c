import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Redis } from '../../src/redis/connect.ts';
import { redisFigures, redisUse } from '../redis-figures.ts';
import { CONCURRENCY, type Contender, type Delivered } from './contender.ts';
import type { Task } from './serve-runs.ts';

/** A contender that is one of the programs in this folder, in a separate process that stays for all rounds. */
export async function forkContender(
  program: string,
  origin: string,
  store?: { url: string; redis: Redis },
): Promise<Contender> {
  const child = fork(path.join(import.meta.dirname, program));
  const ended = once(child, 'exit');

  async function run(task: Task): Promise<Delivered> {
    child.send(task);
    const failed = ended.then(() => {
      throw new Error(`${program} ended`);
    });
    const [delivered] = await Promise.race([once(child, 'message'), failed]);
    return delivered as Delivered;
  }

  return {
    async deliver({ path: file, orders }) {
      const task: Task = { file, orders, origin, concurrency: CONCURRENCY };
      if (store === undefined) return run(task);
      const before = await redisFigures(store.redis);
      const delivered = await run({ ...task, redis: store.url });
      return { ...delivered, redis: redisUse(before, await redisFigures(store.redis)) };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
