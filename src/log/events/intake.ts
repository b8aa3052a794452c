import type { Sentence } from '../../order/sentence.ts';
import { error, info, warn } from '../event.ts';

type Source = { source: string };
type File = Source & { file: string };

/** A file of an inbox was claimed. */
export const fileClaimed = info<File & { batch: string }>('file-claimed', (log, facts) =>
  log.meter?.file(facts.source, 'taken'),
);

/** A new version of an export was copied. */
export const exportCopied = info<File & { batch: string; bytes: number }>(
  'export-copied',
  (log, facts) => log.meter?.file(facts.source, 'taken'),
);

/** A file of a pattern is older than the newest one, and with `newestOnly` never read. Logged once. */
export const exportOlder = info<File & { newest?: string }>('export-older');

/** An address has no export yet. Logged once. */
export const exportAbsent = info<Source & { path: string }>('export-absent');

/** An export has no content: it creates no batch and does not count as received. */
export const exportEmpty = warn<File>('export-empty');

/** Something in the folder is not a regular file. Logged once. */
export const fileLeft = warn<File & { kind: string }>('file-left');

/** A file that looks incomplete is taken after ten times `stable`. */
export const fileIncomplete = warn<File & { reason: Sentence }>('file-incomplete');

/** A file could not be taken. Logged once. */
export const fileTrouble = error<File & { reason: string }>('file-trouble');

/** The folder or file of a source cannot be read; also when the reason changes. */
export const sourceLost = error<Source & { path: string; reason: string }>('source-lost');

/** An inbox that was used before had no marker at the start: it may be another folder. It is marked again and used. */
export const inboxMarkedAgain = warn<Source & { path: string }>('inbox-marked-again');

/** The source can be read again. */
export const sourceBack = info<Source & { path: string; durationMs: number }>('source-back');

/** The operating system sends no change notifications; polling finds new files later. */
export const watcherFailed = warn<Source & { reason: string }>('watcher-failed');
