import type { InboxSource } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import type { Log } from '../log/log.ts';
import { listInbox } from './list-inbox.ts';
import { fingerprintOf } from './mark.ts';
import { openWatch, type Watch } from './watch.ts';

export type InboxDeps = {
  source: InboxSource;
  clock: Clock;
  log: Log;
  /** Gets a finished file, one after the other, the oldest first. When it rejects, the file is offered again later. */
  onReady: (path: string) => Promise<void>;
};

/** Watches one inbox. An inbox that disappears is unhealthy, not empty. */
export function createInbox({ source, clock, log, onReady }: InboxDeps): Watch {
  let wasMarked = false;

  /** An unmounted share leaves an empty folder behind: without the mark that was there it is not this inbox. */
  async function list(): Promise<string[]> {
    const files = await listInbox(source, log);
    const isMarked = (await fingerprintOf(source.path)) !== undefined;
    if (wasMarked && !isMarked) {
      throw new PoSyncError('folder-missing', `${source.path} has lost its mark: it is another folder.`, {
        remedy: 'Mount the share again, or start po-sync again to use the new folder.',
      });
    }
    wasMarked = isMarked;
    return files;
  }

  return openWatch({ source, clock, log, folder: source.path, list, onReady: ({ file }) => onReady(file) });
}
