import { join } from 'node:path';
import type { Config, ExportSource, InboxSource } from '../config/config.ts';
import { DIRECT, type Network } from '../config/network.ts';
import type { Secret } from '../config/secret.ts';
import { isWebAddress } from '../config/source-schema.ts';
import type { PoSyncError } from '../core/errors.ts';
import { oneAtATime } from '../core/semaphore.ts';
import { leftClaims } from './claim.ts';
import { markInboxes } from './environment-marker.ts';
import { claimReadable, createExport, leftCopies } from './export.ts';
import { type CopiedFile, createExportVersions, type ExportVersions } from './export-versions.ts';
import { leftHandedIn } from './hand-in.ts';
import { createInbox, missingClaims } from './inbox.ts';
import { type NotTaken, notTaken } from './offers.ts';
import {
  type ClaimedFileReader,
  createClaimedFileReader,
  type ReadingDeps,
} from './read-claimed.ts';
import type { WhatLacks } from './stability.ts';
import type { Watch } from './watch.ts';
import { openWebExport, storedValidators } from './web-export.ts';

export type SourcesDeps = ReadingDeps & {
  config: Config;
  /** Names this process. */
  owner: string;
  look: {
    /** Why a file cannot be read as orders of a source; undefined if it can. */
    faultOf(file: string, source: string): Promise<PoSyncError | undefined>;
    /** What a file of a source lacks to be complete; undefined for nothing. */
    lacks(file: string, source: string): ReturnType<WhatLacks>;
  };
  /** The Authorization header of web sources, by source name, and the connections to them. */
  input: {
    secrets: { sources?: ReadonlyMap<string, Secret> };
    network?: Network;
    self?: { role?: string };
  };
};

/** Opens all configured sources: watches them, claims their files, and resumes files that a dead daemon left unread. */
export async function openSources(deps: SourcesDeps) {
  const { input } = deps;
  // A daemon that only delivers takes no file, and may not see the folders.
  const config = input.self?.role === 'delivery' ? { ...deps.config, sources: [] } : deps.config;
  const versions = createExportVersions(deps);
  const reader = createClaimedFileReader({ ...deps, versions });
  const inboxes = config.sources.filter((source) => source.type === 'inbox');
  const marked = await markInboxes(inboxes, deps);
  const exports = config.sources.filter((source) => source.type === 'export');
  const watchers = [
    ...inboxes.map((source) => watchInbox(source, deps, reader)),
    ...exports.map((source) => watchExport(source, deps, versions, reader.readCopy)),
  ];

  const reclaim = oneAtATime(async () => {
    await marked.keep();
    const claims = await Promise.all(inboxes.map(leftClaims));
    const copies = await Promise.all(
      exports.map(({ name }) => leftCopies(spoolOf(config, name), name)),
    );
    const handedIn = await Promise.all(exports.map(({ name }) => leftHandedIn(config, name)));
    const files = [...claims, ...copies, ...handedIn].flat();
    const present = new Set(files.map(({ batch }) => batch));
    reader.keepOnly(present);
    for (const file of [...files, ...(await missingClaims(inboxes, present, deps.batches))])
      await reader.resume(file);
  });

  return {
    /** The ledger that this host and folder had when an inbox was marked last, where it was another one. */
    ledgerBefore: marked.ledgerBefore,
    start: async (): Promise<void> => {
      for (const watcher of watchers) await watcher.start();
    },
    /** Reads a file that was submitted. */
    take: reader.readCopy,
    /** Resumes claimed files that nobody reads: of a daemon that died, or of ours before Redis lost its memory. */
    reclaim,
    /** Takes every file that is present now, also of a killed run; resolves when the last is claimed, with what cannot be taken. */
    settleOnce: (): Promise<NotTaken[]> =>
      reclaim()
        .catch(() => undefined)
        .then(() => settleAll(watchers)),
    /** The files that could not be taken for some time. */
    notTaken: (): NotTaken[] => watchers.flatMap((watcher) => watcher.notTaken()),
    healthy: (): boolean => watchers.every((watcher) => watcher.healthy()),
    /** Number of files being read now. */
    reading: reader.count,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
      await reader[Symbol.asyncDispose]();
    },
  };
}

/** A source that cannot be read must not stop the others, and nobody reads it again. */
async function settleAll(watchers: readonly Watch[]): Promise<NotTaken[]> {
  const settleOne = (watch: Watch) =>
    watch.settleOnce().catch((error: unknown) => [notTaken(watch.source.name, error)]);
  return (await Promise.all(watchers.map(settleOne))).flat();
}

function watchInbox(
  source: InboxSource,
  { config, look, clock, log }: SourcesDeps,
  reader: ClaimedFileReader,
): Watch {
  const { environment } = config;
  const lacks = (path: string) => look.lacks(path, source.name);
  const onReady = (path: string) => reader.claimAndRead(path, source);
  return createInbox({ source, environment, lacks, clock, log, onReady });
}

function watchExport(
  source: ExportSource,
  deps: SourcesDeps,
  versions: ExportVersions,
  onReady: ClaimedFileReader['readCopy'],
) {
  const { config, look, clock, log } = deps;
  const common = {
    source,
    lacks: (file: string) => look.lacks(file, source.name),
    spool: spoolOf(config, source.name),
    clock,
    log,
    claim: (copy: CopiedFile) => claimReadable(copy, versions, look.faultOf),
    isTheirs: versions.isTheirs,
    onReady,
  };
  if (!isWebAddress(source.path)) return createExport(common);
  const authorization = deps.input.secrets.sources?.get(source.name);
  const route = (deps.input.network ?? DIRECT).toSource(source);
  const validators = storedValidators(source, deps);
  return openWebExport({ ...common, access: { authorization, route }, validators });
}

function spoolOf({ data }: Config, source: string): string {
  return join(data, 'spool', source);
}
