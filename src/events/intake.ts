import type { Log } from '../log/log.ts';

type Source = { source: string };
type File = Source & { file: string };

/** A file of an inbox is ours. */
export function fileClaimed(log: Log, facts: File & { batch: string }): void {
  log.info(facts, 'file claimed');
}

/** Another daemon was quicker; normal with several of them. */
export function fileTaken(log: Log, facts: File): void {
  log.debug(facts, 'file was taken by another daemon');
}

/** A new version of an export was copied and is ready to be read. */
export function exportCopied(log: Log, facts: File & { batch: string; bytes: number }): void {
  log.info(facts, 'export copied');
}

/** An export was rewritten with the content that was taken before. */
export function exportUnchanged(log: Log, facts: File): void {
  log.debug(facts, 'export has the same content as before');
}

/** An address has no export yet; waited for, told once. */
export function exportAbsent(log: Log, facts: Source & { path: string }): void {
  log.info(facts, 'there is no export yet');
}

/** What lies in the folder is no regular file: told once, left where it is. */
export function fileLeft(log: Log, facts: File & { kind: string }): void {
  log.warn(facts, 'not a regular file, left alone');
}

/** A file's name is not UTF-8; it was renamed within the inbox so that it can be spoken of. */
export function fileRenamed(log: Log, facts: File & { was: string }): void {
  log.warn(facts, 'file name was not UTF-8, renamed');
}

/** Taken as it is, after waiting ten times as long as for a whole one. */
export function fileIncomplete(log: Log, facts: File & { reason: string }): void {
  log.warn(facts, 'file still looks incomplete, taken as it is');
}

/** Somebody else holds the file, or we may not move it; tried again, told once. */
export function fileInUse(log: Log, facts: File & { code: string; durationMs: number }): void {
  log.warn(facts, 'file cannot be taken yet, tried again');
}

/** Handing a file over failed for another reason; tried again with growing waits. */
export function fileTrouble(log: Log, facts: File & { reason: string }): void {
  log.error(facts, 'file could not be handed over, tried again');
}

/** The folder or file of a source cannot be looked at. */
export function sourceLost(log: Log, facts: Source & { path: string; reason: string }): void {
  log.error(facts, 'source is not reachable');
}

/** It can be looked at again. */
export function sourceBack(log: Log, facts: Source & { path: string; durationMs: number }): void {
  log.info(facts, 'source is reachable again');
}

/** The operating system's change messages are not to be had; looking every `poll` serves as well, only slower. */
export function watcherFailed(log: Log, facts: Source & { reason: string }): void {
  log.warn(facts, 'no change messages for this source, it is polled');
}
