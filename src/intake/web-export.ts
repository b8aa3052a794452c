import { createHash } from 'node:crypto';
import type { ExportSource } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { createLoop } from '../core/backoff/loop.ts';
import type { Clock } from '../core/clock.ts';
import { PoSyncError, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import type { Route } from '../core/pool.ts';
import { exportAbsent, exportCopied, exportEmpty, exportUnchanged } from '../log/events/intake.ts';
import type { Log } from '../log/log.ts';
import type { ClaimedFile } from '../order/batch.ts';
import { LIMITS } from '../order/limits.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { download, shownAddress, type Validators } from './download.ts';
import type { CopiedFile } from './export.ts';
import { dropCopy } from './put-away.ts';
import { createSourceHealth, type Watch } from './watch.ts';

export type WebExportDeps = {
  source: ExportSource;
  /** Folder for the copies of this source alone. */
  spool: string;
  /** The complete header value, the connection to the address, and the maximum bytes instead of the general limit. */
  access: { authorization: Secret | undefined; route?: Route; most?: number };
  clock: Clock;
  log: Log;
  /** The SHA-256 of the last version taken, by the copy's name. */
  known: (name: string) => Promise<string | undefined>;
  /** The validators of the last version taken; they survive a restart. */
  validators: { recall(): Promise<Validators | undefined>; keep(validators: Validators): Promise<void> };
  /** Receives the copy of a new version and owns it from then on. */
  onReady: (copy: ClaimedFile) => Promise<void>;
};

/**
 * Requests a newer version of an export from a web address every `poll`. An unreachable address is logged once, and
 * once when it is back; it does not affect health, because a restart would not help.
 */
export function openWebExport(deps: WebExportDeps): Watch {
  const { source, clock, log } = deps;
  const url = new URL(source.path);
  const http = openHttp({ connections: 1, route: deps.access.route ?? {} });
  const loop = createLoop(clock, round);
  const health = createSourceHealth(source, shownAddress(url), clock, log);
  let isAbsent = false;

  async function round(): Promise<number> {
    try {
      await check();
      health.recover();
    } catch (error) {
      if (!loop.isStopped) health.fail(asPoSyncError(toError(error)));
    }
    return source.poll;
  }

  async function check(): Promise<void> {
    const { spool } = deps;
    const { authorization, most = LIMITS.downloadBytes } = deps.access;
    const validators = await deps.validators.recall();
    const { name, timeout, idle } = source;
    const at = new Date(clock.now());
    const limits = { timeout, idle, most };
    const got = await download({ url, source: name, spool, authorization, validators, at, ...limits }, http);
    reportAbsent(got.kind === 'absent');
    if (got.kind !== 'copy') return;
    await handOver(got.copy, deps);
    await deps.validators.keep(got.validators);
  }

  function reportAbsent(now: boolean): void {
    if (now && !isAbsent) exportAbsent(log, { source: source.name, path: shownAddress(url) });
    isAbsent = now;
  }

  return {
    source,
    async start() {
      loop.start();
    },
    tick: () => loop.round(),
    async settleOnce() {
      await loop.round();
      const failure = health.failure();
      if (failure !== undefined) throw failure;
      return [];
    },
    healthy: () => true,
    async [Symbol.asyncDispose]() {
      const stopped = loop[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await stopped;
    },
  };
}

async function handOver({ sha256, bytes, ...copy }: CopiedFile, deps: WebExportDeps): Promise<void> {
  const { source, log } = deps;
  const facts = { source: source.name, file: copy.name };
  if (bytes === 0) {
    await dropCopy(copy);
    exportEmpty(log, facts);
  } else if ((await deps.known(copy.name)) === sha256) {
    await dropCopy(copy);
    exportUnchanged(log, facts);
  } else {
    exportCopied(log, { ...facts, batch: copy.batch, bytes });
    await deps.onReady(copy);
  }
}

function asPoSyncError(error: Error): PoSyncError {
  return error instanceof PoSyncError ? error : new PoSyncError('export-trouble', error.message, { cause: error });
}

/** Stores the validators of the last version in Redis; those of another address are ignored. */
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
      return address === addressOf(path) ? validators : undefined;
    },
    async keep(validators) {
      await redis.hset(keys.exports, field, JSON.stringify({ address: addressOf(path), ...validators }));
    },
  };
}

/** Identifies an address without its query, which can contain a secret. */
function addressOf(path: string): string {
  return createHash('sha256').update(path).digest('hex');
}
