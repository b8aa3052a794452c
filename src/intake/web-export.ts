import type { ExportSource } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import { createLoop } from '../core/loop.ts';
import { exportAbsent, exportCopied, exportUnchanged, sourceBack, sourceLost } from '../events/intake.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { LIMITS } from '../order/limits.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { download, shownAddress, type Validators } from './download.ts';
import type { CopiedFile } from './export.ts';
import { dropCopy } from './put-away.ts';
import type { Watch } from './watch.ts';

export type WebExportDeps = {
  source: ExportSource;
  /** Folder for the copies of this source alone. */
  spool: string;
  /** The whole header. */
  authorization: Secret | undefined;
  clock: Clock;
  log: Log;
  /** The SHA-256 of the version that was taken last, by the copy's name. */
  known: (name: string) => Promise<string | undefined>;
  /** What the server said of the version that was taken last, over restarts. */
  validators: { recall(): Promise<Validators | undefined>; keep(validators: Validators): Promise<void> };
  /** Most bytes of a version, instead of the limit of every file. */
  most?: number;
  /** Gets the copy of a new version; from then on the copy is the receiver's. */
  onReady: (copy: ClaimedFile) => Promise<void>;
};

/**
 * Asks a web address every `poll` for a newer version of an export. An address that does not answer is told once, and
 * again when it is back; it makes po-sync no less healthy, as no restart mends it.
 */
export function openWebExport(deps: WebExportDeps): Watch {
  const { source, clock, log } = deps;
  const url = new URL(source.path);
  const http = openHttp({ connections: 1 });
  const rounds = createLoop(clock, round);
  let lost: { since: number; error: PoSyncError } | undefined;
  let isAbsent = false;

  async function round(): Promise<number> {
    try {
      await look();
      found();
    } catch (error) {
      if (!rounds.isStopped) fail(toError(error));
    }
    return source.poll;
  }

  async function look(): Promise<void> {
    const { spool, authorization } = deps;
    const validators = await deps.validators.recall();
    const { name, timeout, idle } = source;
    const at = new Date(clock.now());
    const limits = { timeout, idle, most: deps.most ?? LIMITS.downloadBytes };
    const got = await download({ url, source: name, spool, authorization, validators, at, ...limits }, http);
    tellAbsent(got.kind === 'absent');
    if (got.kind !== 'copy') return;
    await handOver(got.copy);
    await deps.validators.keep(got.validators);
  }

  async function handOver({ sha256, bytes, ...copy }: CopiedFile): Promise<void> {
    const facts = { source: source.name, file: copy.name };
    if ((await deps.known(copy.name)) === sha256) {
      await dropCopy(copy);
      exportUnchanged(log, facts);
      return;
    }
    exportCopied(log, { ...facts, batch: copy.batch, bytes });
    await deps.onReady(copy);
  }

  function tellAbsent(now: boolean): void {
    if (now && !isAbsent) exportAbsent(log, { source: source.name, path: shownAddress(url) });
    isAbsent = now;
  }

  function fail(error: Error): void {
    if (!lost) sourceLost(log, { source: source.name, path: shownAddress(url), reason: error.message });
    const told =
      error instanceof PoSyncError ? error : new PoSyncError('export-trouble', error.message, { cause: error });
    lost = { since: lost?.since ?? clock.monotonic(), error: told };
  }

  function found(): void {
    if (!lost) return;
    const durationMs = clock.monotonic() - lost.since;
    sourceBack(log, { source: source.name, path: shownAddress(url), durationMs });
    lost = undefined;
  }

  return {
    async start() {
      rounds.start();
    },
    tick: () => rounds.round(),
    async settleOnce() {
      await rounds.round();
      if (lost) throw lost.error;
    },
    healthy: () => true,
    async [Symbol.asyncDispose]() {
      const stopped = rounds[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await stopped;
    },
  };
}

/** What a server said of the version taken last, kept in Redis; of another address it counts for nothing. */
export function validatorsIn(
  { redis, keys }: { redis: Redis; keys: Keys },
  { name, path }: ExportSource,
): WebExportDeps['validators'] {
  const field = `${name}#validators`;
  return {
    async recall() {
      const text = await redis.hget(keys.exports, field);
      if (text === null) return undefined;
      const { address, ...validators } = JSON.parse(text) as Validators & { address: string };
      return address === path ? validators : undefined;
    },
    async keep(validators) {
      await redis.hset(keys.exports, field, JSON.stringify({ address: path, ...validators }));
    },
  };
}
