import path from 'node:path';
import { growingWait } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, toError } from '../core/errors.ts';
import { fileInUse, fileTrouble } from '../events/intake.ts';
import type { Log } from '../log/log.ts';
import type { ReadyFile } from './stability.ts';

/** Hands files over, and again with growing waits when that fails. */
export type Offers = {
  /** `kept`: it failed or its time has not come, the file is still to be offered. */
  offer(ready: ReadyFile): Promise<'handed over' | 'kept'>;
  /** Forgets every file that is not among these. */
  keepOnly(files: ReadonlySet<string>): void;
};

type Failure = { since: number; again: number; count: number; isTold: boolean };

/** In milliseconds. */
const RETRY = { initial: 500, max: 60_000 };
const TOLD_AFTER = 5 * 60_000;

/** Somebody holds the file open exclusively, or has not given us the right to it yet. */
const IN_USE = new Set(['EBUSY', 'EACCES', 'EPERM', 'EAGAIN', 'ETXTBSY', 'file-not-readable']);

export function createOffers(
  source: string,
  clock: Clock,
  log: Log,
  onReady: (ready: ReadyFile) => Promise<void>,
): Offers {
  const failures = new Map<string, Failure>();

  function failed(file: string, error: unknown): void {
    const now = clock.monotonic();
    const before = failures.get(file);
    const count = (before?.count ?? 0) + 1;
    const since = before?.since ?? now;
    failures.set(file, {
      since,
      count,
      again: now + growingWait(count, RETRY),
      isTold: tell(file, error, now - since, before?.isTold === true),
    });
  }

  /** What is in use is normal for a while; anything else is told at once. Both are told once. */
  function tell(file: string, error: unknown, durationMs: number, isTold: boolean): boolean {
    const code = codeOf(error) ?? '';
    const isInUse = IN_USE.has(code);
    if (isTold || (isInUse && durationMs < TOLD_AFTER)) return isTold;
    const facts = { source, file: path.basename(file) };
    if (isInUse) fileInUse(log, { ...facts, code, durationMs });
    else fileTrouble(log, { ...facts, reason: toError(error).message });
    return true;
  }

  return {
    async offer(ready) {
      const { file } = ready;
      const failure = failures.get(file);
      if (failure && clock.monotonic() < failure.again) return 'kept';
      try {
        await onReady(ready);
        failures.delete(file);
        return 'handed over';
      } catch (error) {
        failed(file, error);
        return 'kept';
      }
    },
    keepOnly(files) {
      for (const file of failures.keys()) if (!files.has(file)) failures.delete(file);
    },
  };
}
