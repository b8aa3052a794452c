import { access } from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { Config, ExportSource, InboxSource } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { isWebAddress } from '../config/source-schema.ts';
import type { Clock } from '../core/clock.ts';
import { toError } from '../core/errors.ts';
import { createSemaphore } from '../core/semaphore.ts';
import { batchTakenUp, batchTrouble } from '../events/batch.ts';
import { fileClaimed, fileTaken } from '../events/intake.ts';
import type { Batches } from '../ledger/batches.ts';
import type { Log } from '../log/log.ts';
import { type ClaimedFile, claimTimeOf } from '../order/batch.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { claimFile, leftClaims, leftCopies } from './claim.ts';
import { markInbox } from './environment-marker.ts';
import { createExport } from './export.ts';
import { createInbox } from './inbox.ts';
import { openWebExport, validatorsIn } from './web-export.ts';

/** Files read at the same time; the next is claimed when one is through, so that other daemons get their share. */
const FILES = 16;

type SourcesDeps = {
  config: Config;
  batches: Batches;
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  stopping: AbortSignal;
  /** The Authorization header of sources with an address, by name. */
  authorizations?: ReadonlyMap<string, Secret> | undefined;
  /** Reads a claimed file to its last admitted order. */
  ingest(file: ClaimedFile, claimedAt: number): Promise<{ sha256?: string }>;
};

/** All sources of the configuration: watched, claimed from, and what a dead daemon left in hand taken up again. */
export async function openSources(deps: SourcesDeps) {
  const { config, batches, redis, keys, clock, log, stopping } = deps;
  const slots = createSemaphore(FILES);
  const inHand = new Map<string, Promise<void>>();
  const inboxes = config.sources.filter((source) => source.type === 'inbox');
  for (const { path } of inboxes) await markInbox(path, config.environment);
  const exports = config.sources.filter((source) => source.type === 'export');
  const watchers = [...inboxes.map(watchInbox), ...exports.map(watchExport)];

  function spoolOf(source: string): string {
    return join(config.data, 'spool', source);
  }

  function watchInbox(source: InboxSource) {
    return createInbox({ source, clock, log, onReady: (path) => claimAndRead(path, source) });
  }

  function watchExport(source: ExportSource) {
    const common = {
      source,
      spool: spoolOf(source.name),
      clock,
      log,
      known: async (origin: string) => (await redis.hget(keys.exports, `${source.name}/${origin}`)) ?? undefined,
      onReady: async (copy: ClaimedFile) =>
        keep(
          copy.batch,
          slots.hold(() => read(copy, clock.now())),
        ),
    };
    if (!isWebAddress(source.path)) return createExport(common);
    const validators = validatorsIn({ redis, keys }, source);
    return openWebExport({ ...common, authorization: deps.authorizations?.get(source.name), validators });
  }

  /** Resolves when the file is claimed, or somebody else has it; reading goes on by itself. */
  function claimAndRead(path: string, source: InboxSource): Promise<void> {
    return new Promise((claimed, failed) => {
      const reading = slots.hold(async () => {
        if (stopping.aborted) return claimed();
        const at = clock.now();
        const file = await claimFile(path, source, new Date(at)).catch(failed);
        claimed();
        if (file === 'taken') fileTaken(log, { source: source.name, file: basename(path) });
        else if (file) await readClaimed(file, at);
      });
      keep(path, reading);
    });
  }

  function keep(name: string, reading: Promise<void>): void {
    inHand.set(
      name,
      reading.finally(() => inHand.delete(name)),
    );
  }

  async function readClaimed(file: ClaimedFile, at: number): Promise<void> {
    fileClaimed(log, { batch: file.batch, source: file.source, file: file.name });
    await read(file, at);
  }

  async function read(file: ClaimedFile, claimedAt: number): Promise<void> {
    try {
      const { sha256 } = await deps.ingest(file, claimedAt);
      const { source, name, origin = name } = file;
      if (file.kind === 'export' && sha256) await redis.hset(keys.exports, `${source}/${origin}`, sha256);
    } catch (error) {
      batchTrouble(log, { batch: file.batch, reason: toError(error).message });
    }
  }

  /** Takes up what was claimed but not read to its end: by a daemon that died, or by us before Redis lost its memory. */
  async function reclaim(): Promise<void> {
    const claims = await Promise.all(inboxes.map(leftClaims));
    const copies = await Promise.all(exports.map(({ name }) => leftCopies(spoolOf(name), name)));
    for (const file of [...claims, ...copies].flat()) await takeUp(file);
  }

  async function takeUp(file: ClaimedFile): Promise<void> {
    if (stopping.aborted || inHand.has(file.batch)) return;
    const batch = await batches.find(file.batch);
    if ((batch && batch.state !== 'reading') || !(await exists(file.path)) || (await batches.isHeld(file.batch)))
      return;
    batchTakenUp(log, { batch: file.batch, source: file.source, file: file.name });
    const claimedAt = batch?.startedAt ?? claimTimeOf(file.batch) ?? clock.now();
    keep(
      file.batch,
      slots.hold(() => read(file, claimedAt)),
    );
  }

  return {
    start: async (): Promise<void> => {
      for (const watcher of watchers) await watcher.start();
    },
    reclaim,
    /** Hands over every file that is there now; resolves when the last is claimed. */
    settleOnce: async (): Promise<void> => {
      await Promise.all(watchers.map((watcher) => watcher.settleOnce()));
    },
    healthy: (): boolean => watchers.every((watcher) => watcher.healthy()),
    /** Files that are being read now. */
    reading: (): number => inHand.size,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
      await Promise.all(inHand.values());
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
