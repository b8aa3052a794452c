import { setTimeout as delay } from 'node:timers/promises';
import { jsonReply } from './json-reply.ts';
import type { Route } from './route.ts';

/** Whether the daemon can do its work: each check with `ok` or what is wrong. */
type Readiness = { ok: boolean; checks: Record<string, string> };

export type Checks = { ready(): Promise<Readiness> };

/** A check that takes longer has not passed. */
const PATIENCE = 2_000;

/** `/healthz`: the process lives. `/readyz`: Redis and folders are fine; not the partner's API (product.md). */
export function healthRoutes(checks: Checks, patience = PATIENCE): Route[] {
  const ready = oneAtATime(() => checks.ready());
  return [
    { method: 'GET', path: '/healthz', handle: () => jsonReply(200, { ok: true }) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        const readiness = await within(ready(), patience);
        return jsonReply(readiness.ok ? 200 : 503, readiness);
      },
    },
  ];
}

async function within(check: Promise<Readiness>, patience: number): Promise<Readiness> {
  const timer = new AbortController();
  const late = delay(patience, undefined, { signal: timer.signal }).then(() => notReady(`no answer in ${patience} ms`));
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

/** Probes that come while a check hangs wait for that one, and do not start more. */
function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
