import { join } from 'node:path';
import { type Config, type ExportSource, mappingFor } from '../config/config.ts';
import { DIRECT, type Network } from '../config/network.ts';
import type { Secret } from '../config/secret.ts';
import { isWebAddress } from '../config/source-schema.ts';
import { requireOneAddress } from '../ledger/environment-ledger.ts';
import { leftClaims, leftCopies } from './claim.ts';
import { markInboxes, requireFolder } from './environment-marker.ts';
import { createExport } from './export.ts';
import { createExportVersions, type ExportVersions } from './export-versions.ts';
import { leftHandedIn } from './hand-in.ts';
import { createInbox } from './inbox.ts';
import { type NotTaken, notTaken } from './offers.ts';
import { type ClaimedFileReader, createClaimedFileReader, missingClaims, type ReadingDeps } from './read-claimed.ts';
import type { Watch } from './watch.ts';
import { openWebExport } from './web-export.ts';

export type SourcesDeps = ReadingDeps & {
  config: Config;
  /** Learns that an export with `countRewrites` was written again, at this time of this host. */
  notices?: { rewritten(source: string, at: number): void };
  /** The Authorization header of web sources, by source name, and the connections to them. */
  input: { secrets: { sources?: ReadonlyMap<string, Secret> }; network?: Network; self?: { role?: string } };
};

/** Opens all configured sources: watches them, claims their files, and resumes files that a dead daemon left unread. */
export async function openSources(deps: SourcesDeps) {
  const { clock, log, input } = deps;
  // A daemon that only delivers takes no file, and may not see the folders.
  const config = input.self?.role === 'delivery' ? { ...deps.config, sources: [] } : deps.config;
  const versions = createExportVersions(deps);
  const reader = createClaimedFileReader({ ...deps, versions });
  const inboxes = config.sources.filter((source) => source.type === 'inbox');
  await requireOneAddress(config, deps);
  const marked = await markInboxes(inboxes, deps);
  for (const { answers } of config.sources) if (answers !== undefined) await requireFolder(answers);
  const exports = config.sources.filter((source) => source.type === 'export');
  const watchers = [
    ...inboxes.map((source) =>
      createInbox({
        source,
        environment: config.environment,
        tableEnd: mappingFor(config, source.name),
        clock,
        log,
        onReady: (path) => reader.claimAndRead(path, source),
      }),
    ),
    ...exports.map((source) => watchExport(source, deps, versions, reader.readCopy)),
  ];

  async function reclaimAll(): Promise<void> {
    await marked.keep();
    const claims = await Promise.all(inboxes.map(leftClaims));
    const copies = await Promise.all(exports.map(({ name }) => leftCopies(spoolOf(config, name), name)));
    const handedIn = await Promise.all(exports.map(({ name }) => leftHandedIn(config, name)));
    const files = [...claims, ...copies, ...handedIn].flat();
    const present = new Set(files.map(({ batch }) => batch));
    reader.keepOnly(present);
    for (const file of [...files, ...(await missingClaims(inboxes, present, deps.batches))]) await reader.resume(file);
  }

  let reclaiming: Promise<void> | undefined;
  /** One at a time, so that no file is counted as read by two. */
  function reclaim(): Promise<void> {
    reclaiming ??= reclaimAll().finally(() => {
      reclaiming = undefined;
    });
    return reclaiming;
  }

  /** Also what a run left that was killed: it may not be known to the ledger. */
  async function settleOnce(): Promise<NotTaken[]> {
    await reclaim().catch(() => undefined);
    return settleAll(watchers);
  }

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
    /** Hands over every file that is present now; resolves when the last one is claimed, with what cannot be taken. */
    settleOnce,
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

function watchExport(
  source: ExportSource,
  deps: SourcesDeps,
  versions: ExportVersions,
  onReady: ClaimedFileReader['readCopy'],
) {
  const { config, clock, log } = deps;
  const common = {
    source,
    tableEnd: mappingFor(config, source.name),
    spool: spoolOf(config, source.name),
    clock,
    log,
    claim: versions.claim,
    isTheirs: versions.isTheirs,
    onReady,
  };
  const onRewrite = source.countRewrites ? (at: number) => deps.notices?.rewritten(source.name, at) : undefined;
  if (!isWebAddress(source.path)) return createExport(common, onRewrite);
  const authorization = deps.input.secrets.sources?.get(source.name);
  const route = (deps.input.network ?? DIRECT).toSource(source);
  return openWebExport(
    { ...common, access: { authorization, route }, validators: versions.validatorsOf(source) },
    onRewrite,
  );
}

function spoolOf({ data }: Config, source: string): string {
  return join(data, 'spool', source);
}
