import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, toError } from '../../core/errors.ts';
import { draftPath } from '../../core/regular-file.ts';
import { oneAtATime } from '../../core/semaphore.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { jsonReply, type Route } from './route.ts';

/** Whether the daemon can do its work: each check with `ok` or the problem. */
type Readiness = { ok: boolean; checks: Record<string, string> };

export type Checks = { ready(): Promise<Readiness> };

/** Milliseconds after which a check has failed. */
const TIME_LIMIT = 2_000;

/** `/healthz`: the process is alive. `/readyz`: Redis and folders work; not the partner's API (docs/watching.md). */
export function healthRoutes(checks: Checks, timeLimit = TIME_LIMIT): Route[] {
  const ready = oneAtATime(() => checks.ready());
  return [
    { method: 'GET', path: '/healthz', handle: () => jsonReply(200, { ok: true }) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        const readiness = await within(
          timeLimit,
          ready(),
          notReady(`no answer in ${timeLimit} ms`),
        ).catch(() => notReady('the check failed'));
        return jsonReply(readiness.ok ? 200 : 503, readiness);
      },
    },
  ];
}

/** The result of `check`, or `late` when it takes longer than `timeLimit` milliseconds. */
async function within<Result>(
  timeLimit: number,
  check: Promise<Result>,
  late: Result,
): Promise<Result> {
  const timer = new AbortController();
  const passed = delay(timeLimit, late, { signal: timer.signal });
  try {
    return await Promise.race([check, passed]);
  } finally {
    timer.abort();
    passed.catch(() => undefined);
  }
}

function notReady(why: string): Readiness {
  return { ok: false, checks: { ready: why } };
}

type ReadinessDeps = {
  redis: Redis;
  keys: Keys;
  /** Folders that must be writable, by the name of their setting. */
  folders: Readonly<Record<string, string>>;
  sources: { healthy(): boolean };
  /** Milliseconds after which one check has failed; below the limit of all together, so that the answer names it. */
  timeLimit?: number;
};

const CHECK_LIMIT = 1_500;

/** Milliseconds that the mark of a readiness check stays in Redis. */
const MARK_LASTS = 60_000;

/**
 * Whether the daemon can do its work: Redis takes writes, the folders can be written, and the folders of the sources are
 * there. A Redis that is full or read-only, or a full disk, answers reads as if all were well.
 */
export function createReadiness(deps: ReadinessDeps): Checks {
  const { redis, keys, folders, sources, timeLimit = CHECK_LIMIT } = deps;
  const late = `does not answer (waited ${timeLimit} ms)`;
  // A check that hangs is not started again: its commands would pile up.
  const named = Object.entries({
    redis: () => checkOf(() => redis.set(keys.readiness, '1', 'PX', MARK_LASTS)),
    ...Object.fromEntries(
      Object.entries(folders).map(([name, folder]) => [name, folderCheck(folder)]),
    ),
  }).map(([name, check]) => [name, oneAtATime(check)] as const);
  return {
    async ready() {
      const ended = await Promise.all(
        named.map(async ([name, check]) => [name, await within(timeLimit, check(), late)] as const),
      );
      const checks = {
        ...Object.fromEntries(ended),
        sources: sources.healthy()
          ? 'ok'
          : 'a folder is missing, or is not the inbox that was used before',
      };
      return { ok: Object.values(checks).every((check) => check === 'ok'), checks };
    },
  };
}

/** Bytes of a large mark: a disk that is full for reports may still take a small one. */
const LARGE = 65_536;

/** Milliseconds that a folder which took a large mark gets small ones only: probes come every few seconds. */
const LARGE_PAUSE = 60_000;

function folderCheck(folder: string): () => Promise<string> {
  let largeAt = 0;
  return async () => {
    const isLarge = performance.now() >= largeAt;
    const draft = draftPath(folder);
    const result = await checkOf(async () => {
      try {
        // Random, because some file systems store no zeros.
        await writeFile(draft, isLarge ? randomBytes(LARGE) : 'po-sync', { flag: 'wx' });
      } finally {
        await rm(draft, { force: true });
      }
    });
    if (result !== 'ok') largeAt = 0;
    else if (isLarge) largeAt = performance.now() + LARGE_PAUSE;
    return result;
  };
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
