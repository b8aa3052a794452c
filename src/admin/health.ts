import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from '../redis/connect.ts';
import { jsonReply, type Route } from './route.ts';

/** Whether the daemon can do its work: each check with `ok` or the problem. */
type Readiness = { ok: boolean; checks: Record<string, string> };

export type Checks = { ready(): Promise<Readiness> };

/** Milliseconds after which a check has failed. */
const TIME_LIMIT = 2_000;

/** `/healthz`: the process is alive. `/readyz`: Redis and folders work; not the partner's API (docs/contract.md). */
export function healthRoutes(checks: Checks, timeLimit = TIME_LIMIT): Route[] {
  const ready = oneAtATime(() => checks.ready());
  return [
    { method: 'GET', path: '/healthz', handle: () => jsonReply(200, { ok: true }) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        const readiness = await within(ready(), timeLimit);
        return jsonReply(readiness.ok ? 200 : 503, readiness);
      },
    },
  ];
}

async function within(check: Promise<Readiness>, timeLimit: number): Promise<Readiness> {
  const timer = new AbortController();
  const late = delay(timeLimit, undefined, { signal: timer.signal }).then(() =>
    notReady(`no answer in ${timeLimit} ms`),
  );
  const failed = check.catch(() => notReady('the check failed'));
  try {
    return await Promise.race([failed, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

function notReady(why: string): Readiness {
  return { ok: false, checks: { ready: why } };
}

/** Requests that come during a check share its result instead of starting another. */
function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

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
