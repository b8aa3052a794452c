import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { link, lstat, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import { fileRenamed } from '../events/intake.ts';
import type { Log } from '../log/log.ts';
import { fingerprintOf } from './environment-marker.ts';
import { folderError } from './folders.ts';
import { doneFileOf, isLeftAlone } from './names.ts';
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

/** The inbox's own folders. */
const OWN = new Set(['processing', 'done', 'failed']);

/**
 * The paths of what lies in an inbox and may be taken, whatever it is. Names that are not UTF-8 are made so, because
 * nothing else could speak of the file. PoSyncError `folder-…`.
 */
export async function listInbox(source: InboxSource, log: Log): Promise<string[]> {
  const entries = await readdir(source.path, { encoding: 'buffer' }).catch((error: unknown) =>
    Promise.reject(folderError(error, source.path)),
  );
  const names = entries.filter((name) => isUtf8(name)).map((name) => name.toString());
  for (const name of entries) if (!isUtf8(name)) await renameToUtf8(source, name, log);
  const all = new Set(names);
  return names
    .filter((name) => !OWN.has(name) && !isLeftAlone(name, source.doneFile))
    .filter((name) => !source.doneFile || all.has(doneFileOf(name)))
    .map((name) => path.join(source.path, name));
}

/** The file is found under its new name at the next look. */
async function renameToUtf8(source: InboxSource, name: Buffer, log: Log): Promise<void> {
  const old = Buffer.concat([Buffer.from(`${source.path}${path.sep}`), name]);
  if (!(await lstat(old)).isFile()) return;
  const readable = Array.from(name, percentEncoded).join('');
  const fresh = `${randomBytes(3).toString('hex')}-${readable}`.slice(-200);
  await link(old, path.join(source.path, fresh));
  await unlink(old);
  fileRenamed(log, { source: source.name, file: fresh, was: readable });
}

function percentEncoded(byte: number): string {
  return byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
}
