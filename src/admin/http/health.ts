import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { systemClock } from '../../core/clock.ts';
import { codeOf, toError } from '../../core/errors.ts';
import { draftPath } from '../../core/regular-file.ts';
import { oneAtATime, within } from '../../core/semaphore.ts';
import type { Redis } from '../../redis/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { jsonReply, type Route } from './route.ts';

/** Whether the daemon can do its work: each check with `ok` or the problem. */
type Readiness = { ok: boolean; checks: Record<string, string> };

export type Checks = { ready(): Promise<Readiness> };

/** `/healthz`: the process is alive. `/readyz`: Redis and folders work; not the partner's API (docs/watching.md). */
export function healthRoutes(checks: Checks): Route[] {
  const ready = oneAtATime(() => checks.ready());
  return [
    { method: 'GET', path: '/healthz', handle: () => jsonReply(200, { ok: true }) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        const found = within(2_000, ready(), systemClock).catch(() => notReady('the check failed'));
        const readiness = (await found) ?? notReady('no answer in 2000 ms');
        return jsonReply(readiness.ok ? 200 : 503, readiness);
      },
    },
  ];
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
};

/** Milliseconds after which a check has failed. */
const TIME_LIMIT = 1_500;
const LATE = `does not answer (waited ${TIME_LIMIT} ms)`;

/** Milliseconds that the mark of a readiness check stays in Redis. */
const MARK_LASTS = 60_000;

/**
 * Whether the daemon can do its work: Redis takes writes, the folders can be written, and the folders of the sources are
 * there. A Redis that is full or read-only, or a full disk, answers reads as if all were well.
 */
export function createReadiness({ redis, keys, folders, sources }: ReadinessDeps): Checks {
  // A check that hangs is not started again: its commands would pile up.
  const named = Object.entries({
    redis: () => checkOf(() => redis.set(keys.readiness, '1', 'PX', MARK_LASTS)),
    ...Object.fromEntries(
      Object.entries(folders).map(([name, folder]) => [name, () => folderCheck(folder)]),
    ),
  }).map(([name, check]) => [name, oneAtATime(check)] as const);
  return {
    async ready() {
      const ended = await Promise.all(
        named.map(async ([name, check]) => {
          return [name, (await within(TIME_LIMIT, check(), systemClock)) ?? LATE] as const;
        }),
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

/** Bytes of a mark: a disk that is full for reports may still take a small one. */
const LARGE = 65_536;

function folderCheck(folder: string): Promise<string> {
  const draft = draftPath(folder);
  return checkOf(async () => {
    try {
      // Random, because some file systems store no zeros.
      await writeFile(draft, randomBytes(LARGE), { flag: 'wx' });
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
