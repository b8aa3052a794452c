import path from 'node:path';
import type { Clock } from '../core/clock.ts';
import { codeOf, explained, PoSyncError } from '../core/errors.ts';
import { withoutStop } from '../core/format.ts';
import { fileTrouble } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import type { ReadyFile } from './stability.ts';

/** Hands files over, and retries with growing gaps when that fails. */
export type Offers = {
  /** `kept`: the file was not handed over and must be offered again. */
  offer(ready: ReadyFile): Promise<'handed over' | 'kept'>;
  /** Those of the files whose handing over has failed for some seconds. */
  refused(files: readonly string[]): NotTaken[];
  /** All refused files that were reported. */
  troubles(): NotTaken[];
  /** Forgets all other files. */
  keepOnly(files: ReadonlySet<string>): void;
};

/** A file, or if absent a complete source, that cannot be taken. */
export type NotTaken = { source: string; file?: string; reason: string; remedy?: string };

/** `a.csv of source inbox: No permission to read a.csv. Give the user that runs po-sync read permission.` */
export function notTakenText({
  source,
  file,
  reason,
  remedy = 'The next run tries again.',
}: NotTaken): string {
  const what = file === undefined ? `source ${source}` : `${file} of source ${source}`;
  return `${what}: ${withoutStop(reason)}. ${remedy}`;
}

/** What could not be taken, with the reason and the remedy of its error. */
export function notTaken(source: string, thrown: unknown, file?: string): NotTaken {
  const error = explained(thrown);
  const remedy = error instanceof PoSyncError ? error.remedy : undefined;
  return {
    source,
    ...(file !== undefined && { file }),
    reason: error.message,
    ...(remedy !== undefined && { remedy }),
  };
}

/** All in milliseconds. */
const FIRST_GAP = 500;
const LONGEST_GAP = 60_000;
const MAY_END_FOR = 10_000;
const REFUSED_AFTER = 3_000;

/** The sender may still have the file open, or set its permissions a moment after it wrote it. */
const MAY_END = new Set(['EBUSY', 'EAGAIN', 'ETXTBSY', 'EACCES', 'EPERM', 'file-not-movable']);

/** Growing gaps between the attempts at things that fail. `version`: another one is tried at once, because its fault may be corrected. */
export type RetryGaps = {
  isDue(name: string, version?: string): boolean;
  /** Records a failure and returns for how long the attempts have failed, in milliseconds. */
  failed(name: string, version?: string): number;
  forget(name: string): void;
  keepOnly(names: ReadonlySet<string>): void;
};

/** Creates an empty record of failures: gaps double from half a second to a minute. */
export function createRetryGaps(clock: Clock): RetryGaps {
  const failures = new Map<
    string,
    { since: number; due: number; gap: number; version: string | undefined }
  >();
  return {
    isDue: (name, version) =>
      version !== failures.get(name)?.version ||
      clock.monotonic() >= (failures.get(name)?.due ?? 0),
    failed(name, version) {
      const now = clock.monotonic();
      const { since = now, gap: last = FIRST_GAP / 2 } = failures.get(name) ?? {};
      const gap = Math.min(LONGEST_GAP, last * 2);
      failures.set(name, { since, gap, due: now + gap, version });
      return now - since;
    },
    forget: (name) => void failures.delete(name),
    keepOnly(names) {
      for (const name of failures.keys()) if (!names.has(name)) failures.delete(name);
    },
  };
}

export function createOffers(
  source: string,
  clock: Clock,
  log: Log,
  onReady: (ready: ReadyFile) => Promise<void>,
): Offers {
  const gaps = createRetryGaps(clock);
  const reported = new Set<string>();
  const refused = new Map<string, NotTaken>();

  /** Reports each file once, after a while where that may end. */
  function report(file: string, error: unknown, durationMs: number): void {
    const patience = MAY_END.has(codeOf(error) ?? '') ? MAY_END_FOR : 0;
    if (reported.has(file) || durationMs < patience) return;
    reported.add(file);
    fileTrouble(log, { source, file: path.basename(file), reason: explained(error).message });
  }

  return {
    async offer(ready) {
      const { file, version } = ready;
      if (!gaps.isDue(file, version)) return 'kept';
      try {
        await onReady(ready);
        gaps.forget(file);
        reported.delete(file);
        refused.delete(file);
        return 'handed over';
      } catch (error) {
        const durationMs = gaps.failed(file, version);
        report(file, error, durationMs);
        if (durationMs >= REFUSED_AFTER)
          refused.set(file, notTaken(source, error, path.basename(file)));
        return 'kept';
      }
    },
    refused: (files) => files.flatMap((file) => refused.get(file) ?? []),
    troubles: () =>
      [...refused].flatMap(([file, trouble]) => (reported.has(file) ? [trouble] : [])),
    keepOnly(files) {
      gaps.keepOnly(files);
      for (const file of reported) if (!files.has(file)) reported.delete(file);
      for (const file of refused.keys()) if (!files.has(file)) refused.delete(file);
    },
  };
}
