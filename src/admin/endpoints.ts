import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, toError } from '../core/errors.ts';
import { draftPath } from '../core/regular-file.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { jsonReply, type Route } from './http/route.ts';

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
  const why = `no answer in ${timeLimit} ms`;
  const late = delay(timeLimit, undefined, { signal: timer.signal }).then(() => notReady(why));
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

type ReadinessDeps = {
  redis: Redis;
  keys: Keys;
  /** Folders that must be writable, by the name of their setting. */
  folders: Readonly<Record<string, string>>;
  sources: { healthy(): boolean };
};

/** Milliseconds that the mark of a readiness check stays in Redis. */
const MARK_LASTS = 60_000;

/**
 * Whether the daemon can do its work: Redis takes writes, the folders can be written, and the folders of the sources are
 * there. A Redis that is full or read-only, or a full disk, answers reads as if all were well.
 */
export function createReadiness({ redis, keys, folders, sources }: ReadinessDeps): Checks {
  return {
    async ready() {
      const named = Object.entries(folders);
      const writable = named.map(async ([name, folder]) => [name, await folderCheck(folder)] as const);
      const checks = {
        redis: await checkOf(() => redis.set(keys.readiness, '1', 'PX', MARK_LASTS)),
        ...Object.fromEntries(await Promise.all(writable)),
        sources: sources.healthy() ? 'ok' : 'a folder is missing',
      };
      return { ok: Object.values(checks).every((check) => check === 'ok'), checks };
    },
  };
}

async function folderCheck(folder: string): Promise<string> {
  const draft = draftPath(folder);
  return checkOf(async () => {
    try {
      await writeFile(draft, 'po-sync', { flag: 'wx' });
    } finally {
      await rm(draft, { force: true });
    }
  });
}

/** `ok`, or the code of what failed: the words of an error may contain paths and addresses. */
async function checkOf(write: () => Promise<unknown>): Promise<string> {
  try {
    await write();
    return 'ok';
  } catch (error) {
    return `cannot be written (${codeOf(error) ?? (/^[A-Z]{3,12}(?= )/.exec(toError(error).message)?.[0] || 'unknown error')})`;
  }
}
