import type { Redis } from '../redis/connect.ts';
import type { Checks } from './health.ts';

/** Whether the daemon can do its work: Redis answers, and the folders of its sources are there. */
export function createReadiness({ redis, sources }: { redis: Redis; sources: { healthy(): boolean } }): Checks {
  return {
    async ready() {
      const answer = await redis.ping();
      const checks = {
        redis: answer === 'PONG' ? 'ok' : answer,
        sources: sources.healthy() ? 'ok' : 'a folder is missing',
      };
      return { ok: Object.values(checks).every((check) => check === 'ok'), checks };
    },
  };
}
