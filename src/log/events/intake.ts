import type { Sentence } from '../../order/sentence.ts';
import type { Log } from '../log.ts';

type Source = { source: string };
type File = Source & { file: string };

/** A file of an inbox was claimed. */
export function fileClaimed(log: Log, facts: File & { batch: string }): void {
  log.meter?.file(facts.source, 'taken');
  log.info({ event: 'file-claimed', ...facts }, 'file claimed');
}

/** A new version of an export was copied. */
export function exportCopied(log: Log, facts: File & { batch: string; bytes: number }): void {
  log.meter?.file(facts.source, 'taken');
  log.info({ event: 'export-copied', ...facts }, 'export copied');
}

/** A file of a pattern is older than the newest one, and with `newestOnly` never read. Logged once. */
export function exportOlder(log: Log, facts: File & { newest?: string }): void {
  log.info({ event: 'export-older', ...facts }, 'older than the newest export, not read');
}

/** An address has no export yet. Logged once. */
export function exportAbsent(log: Log, facts: Source & { path: string }): void {
  log.info({ event: 'export-absent', ...facts }, 'there is no export yet');
}

/** An export has no content: it creates no batch and does not count as received. */
export function exportEmpty(log: Log, facts: File): void {
  log.warn({ event: 'export-empty', ...facts }, 'export is empty, ignored');
}

/** Something in the folder is not a regular file. Logged once. */
export function fileLeft(log: Log, facts: File & { kind: string }): void {
  log.warn({ event: 'file-left', ...facts }, 'not a regular file, ignored');
}

/** A file that looks incomplete is taken after ten times `stable`. */
export function fileIncomplete(log: Log, facts: File & { reason: Sentence }): void {
  log.warn({ event: 'file-incomplete', ...facts }, 'file still looks incomplete, taken as it is');
}

/** A file could not be taken. Logged once. */
export function fileTrouble(log: Log, facts: File & { reason: string }): void {
  log.error({ event: 'file-trouble', ...facts }, 'file could not be taken, will retry');
}

/** The folder or file of a source cannot be read; also when the reason changes. */
export function sourceLost(log: Log, facts: Source & { path: string; reason: string }): void {
  log.error({ event: 'source-lost', ...facts }, 'source is not reachable');
}

/** An inbox that was used before had no marker at the start: it may be another folder. It is marked again and used. */
export function inboxMarkedAgain(log: Log, facts: Source & { path: string }): void {
  log.warn(
    { event: 'inbox-marked-again', ...facts },
    'inbox had lost its marker; it may be another folder',
  );
}

/** The source can be read again. */
export function sourceBack(log: Log, facts: Source & { path: string; durationMs: number }): void {
  log.info({ event: 'source-back', ...facts }, 'source is reachable again');
}

/** The operating system sends no change notifications; polling finds new files later. */
export function watcherFailed(log: Log, facts: Source & { reason: string }): void {
  log.warn(
    { event: 'watcher-failed', ...facts },
    'no change notifications for this source, polling only',
  );
}
