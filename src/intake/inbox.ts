import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource, Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import { fileNameTrouble, fileRenamed } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { PROCESSING } from './claim.ts';
import { environmentOf, requireOwnInbox } from './environment-marker.ts';
import { folderError, OWN_FOLDERS, refuseLinkedFolders } from './folders.ts';
import { doneFileOf, isPrivate, takenNames } from './names.ts';
import { createRetryGaps, type NotTaken } from './offers.ts';
import { moveToFree } from './put-away.ts';
import { FILES } from './read-claimed.ts';
import type { WhatLacks } from './stability.ts';
import { namesToTake } from './waiting.ts';
import { openWatch, type Watch } from './watch.ts';

export type InboxDeps = {
  source: InboxSource;
  /** The environment that the inbox was marked for at the start; absent: it is not marked. */
  environment?: string;
  lacks?: WhatLacks | undefined;
  clock: Clock;
  log: Log;
  /** Receives stable files one at a time, the oldest first. When it rejects, the file is offered again later. */
  onReady: (path: string) => Promise<void>;
};

const OWN: ReadonlySet<string> = new Set(OWN_FOLDERS);

/** Watches one inbox. An inbox that disappears is unhealthy, not empty. */
export function createInbox({ source, environment, lacks, clock, log, onReady }: InboxDeps): Watch {
  const namesReported = new Set<string>();
  const gaps = createRetryGaps(clock);
  // Also before the first look: the folder may be replaced since the start marked it.
  let wasMarked = environment !== undefined;
  const isTaken = takenNames(source);

  /** An unmounted share leaves an empty folder: without the marker seen before it is not the same inbox. */
  async function list(): Promise<string[]> {
    await refuseLinkedFolders(source.path);
    const names = await readNames();
    const owner = await (environment
      ? requireOwnInbox(source.path, environment)
      : environmentOf(source.path));
    const isMarked = owner !== undefined;
    if (wasMarked && !isMarked) {
      throw new PoSyncError(
        'folder-missing',
        `${source.path} no longer has its environment marker: it may be another folder.`,
        { remedy: 'Mount the share again, or restart po-sync to use the new folder.' },
      );
    }
    wasMarked = isMarked;
    return names.map((name) => path.join(source.path, name));
  }

  /** The names that intake handles. A name that is not UTF-8 is replaced first, because no report could show it. */
  async function readNames(): Promise<string[]> {
    const options = { encoding: 'buffer', withFileTypes: true } as const;
    const entries = await readdir(source.path, options).catch((error: unknown) =>
      Promise.reject(folderError(error, source.path)),
    );
    const readable = entries.filter(({ name }) => isUtf8(name));
    const others = new Map(
      entries
        .filter(({ name }) => !isUtf8(name))
        .map(({ name }) => [readableName(name), name] as const),
    );
    gaps.keepOnly(new Set(others.keys()));
    for (const shown of namesReported) if (!others.has(shown)) namesReported.delete(shown);
    for (const [shown, name] of others) if (gaps.isDue(shown)) await renameOrReport(name, shown);
    const all = new Set(readable.map(({ name }) => name.toString()));
    return readable.flatMap((entry) => {
      const name = entry.name.toString();
      if (OWN.has(name) || (source.doneFile && !all.has(doneFileOf(name)))) return [];
      // What is no file is reported, whatever it is called.
      const isOther = entry.isDirectory() || entry.isSymbolicLink() || entry.isFIFO();
      return isTaken(name) || (isOther && !isPrivate(name, source.doneFile)) ? [name] : [];
    });
  }

  /** The next poll finds the file under its new name. A file that cannot be renamed must not stop the others. */
  async function renameOrReport(name: Buffer, readable: string): Promise<void> {
    try {
      const fresh = await renameToUtf8(source.path, name, readable);
      if (fresh !== undefined)
        fileRenamed(log, { source: source.name, file: fresh, was: readable });
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      gaps.failed(readable);
      if (namesReported.has(readable)) return;
      namesReported.add(readable);
      fileNameTrouble(log, { source: source.name, file: readable, reason: toError(error).message });
    }
  }

  return openWatch({
    source,
    clock,
    log,
    lacks,
    folder: source.path,
    list,
    onReady: ({ file }) => onReady(file),
  });
}

const NOT_BEGUN = `the wait was over before its turn: a file is taken when it is complete and unchanged, and at most ${FILES} files are read at a time, as far as their orders are delivered`;

/** The files that are still in an inbox when a wait is over, without those that could not be taken. */
export async function notBegun(
  sources: readonly Source[],
  refused: readonly NotTaken[],
): Promise<NotTaken[]> {
  const found = sources.map(async (source) => {
    const names = source.type === 'inbox' ? await namesToTake(source) : [];
    const others = names.filter((name) =>
      refused.every(({ file, source: of }) => file !== name || of !== source.name),
    );
    return others.map((file) => ({ source: source.name, file, reason: NOT_BEGUN }));
  });
  return (await Promise.all(found)).flat();
}

async function renameToUtf8(
  folder: string,
  name: Buffer,
  readable: string,
): Promise<string | undefined> {
  const old = Buffer.concat([Buffer.from(`${folder}${path.sep}`), name]);
  if (!(await lstat(old)).isFile()) return undefined;
  const fresh = `${randomBytes(3).toString('hex')}-${readable}`.slice(-200);
  return (await moveToFree(old, path.join(folder, fresh))) ? fresh : undefined;
}

function readableName(name: Buffer): string {
  return Array.from(name, percentEncoded).join('');
}

function percentEncoded(byte: number): string {
  return byte >= 0x20 && byte <= 0x7e
    ? String.fromCharCode(byte)
    : `%${byte.toString(16).padStart(2, '0')}`;
}

/** The files of batches that are not read to their end, where they are not among those that are present. */
export async function missingClaims(
  inboxes: InboxSource[],
  present: Set<string>,
  { underWay }: Batches,
) {
  const unread = (await underWay()).filter(
    ({ batch, state }) => state === 'reading' && !present.has(batch),
  );
  return unread.flatMap(({ batch, source, kind, name }): ClaimedFile[] => {
    const inbox = inboxes.find((one) => kind === 'inbox' && one.name === source);
    return inbox
      ? [{ batch, source, kind, name, path: path.join(inbox.path, PROCESSING, batch, name) }]
      : [];
  });
}
