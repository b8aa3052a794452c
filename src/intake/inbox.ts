import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { InboxSource, Source } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError } from '../core/errors.ts';
import type { Batches } from '../ledger/batches/batches.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { PROCESSING } from './claim.ts';
import { environmentOf, requireOwnInbox } from './environment-marker.ts';
import { folderError, OWN_FOLDERS, refuseLinkedFolders } from './folders.ts';
import { doneFileOf, isPrivate, takenNames } from './names.ts';
import type { NotTaken } from './offers.ts';
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

  /** The names that intake handles. */
  async function readNames(): Promise<string[]> {
    const entries = await readdir(source.path, { withFileTypes: true }).catch((error: unknown) =>
      Promise.reject(folderError(error, source.path)),
    );
    const all = new Set(entries.map(({ name }) => name));
    return entries.flatMap((entry) => {
      const { name } = entry;
      if (OWN.has(name) || (source.doneFile && !all.has(doneFileOf(name)))) return [];
      // What is no file is reported, whatever it is called.
      const isOther = entry.isDirectory() || entry.isSymbolicLink() || entry.isFIFO();
      return isTaken(name) || (isOther && !isPrivate(name, source.doneFile)) ? [name] : [];
    });
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
