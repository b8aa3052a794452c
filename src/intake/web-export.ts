import type { Config, ExportSource } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { growingWait } from '../core/backoff/backoff.ts';
import { createLoop } from '../core/backoff/loop.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import type { Route } from '../core/pool.ts';
import { exportAbsent } from '../log/events/intake.ts';
import { LIMITS } from '../order/limits.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { type DownloadOrder, download, shownAddress, type Validators } from './download.ts';
import { type ExportDeps, handOver, STILL_UNREADABLE } from './export.ts';
import { type CopiedFile, mappingDigest, sha256 } from './export-versions.ts';
import { createSourceHealth, type Watch } from './watch.ts';

export type WebExportDeps = Pick<
  ExportDeps,
  'source' | 'spool' | 'clock' | 'log' | 'claim' | 'isTheirs' | 'onReady'
> & {
  /** The complete header value, the connection to the address, and the maximum bytes instead of the general limit. */
  access: { authorization: Secret | undefined; route?: Route; most?: number };
  /** The validators of the last version taken; they survive a restart. */
  validators: ReturnType<typeof storedValidators>;
};

type StoreDeps = { config: Pick<Config, 'sources' | 'mappings'>; redis: Redis; keys: Keys };

/** What stores the validators of an address in Redis; those of another address or mapping are ignored. */
export function storedValidators(
  { name, path: address }: ExportSource,
  { config, redis, keys }: StoreDeps,
) {
  const field = `${name}#validators`;
  // The query of an address can contain a secret.
  const own = { address: sha256(address), mapping: mappingDigest(name, config) };
  return {
    async recall(): Promise<Validators | undefined> {
      const text = await redis.hget(keys.exports, field);
      if (text === null) return undefined;
      const { address, mapping, ...validators } = JSON.parse(text) as Validators & typeof own;
      return address === own.address && mapping === own.mapping ? validators : undefined;
    },
    async keep(validators: Validators): Promise<void> {
      await redis.hset(keys.exports, field, JSON.stringify({ ...own, ...validators }));
    },
  };
}

/** The longest wait for a server that sends something else than its export, such as a login page, in milliseconds. */
const LONGEST_WAIT = 15 * 60_000;

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
  /** The version that another daemon reads, or that nobody may read yet, and our copy of it, which is removed. */
  let theirs: { validators: Validators; copy: CopiedFile } | undefined;

  /** Downloads in a row that could not be read. */
  let unreadable = 0;

  async function round(): Promise<number> {
    try {
      await check();
      unreadable = 0;
      health.recover();
    } catch (error) {
      if (codeOf(error) === STILL_UNREADABLE) unreadable += 1;
      if (!loop.isStopped) health.fail(asPoSyncError(toError(error)));
    }
    const { poll } = source;
    return growingWait(unreadable + 1, { initial: poll, max: Math.max(poll, LONGEST_WAIT) });
  }

  async function check(): Promise<void> {
    if (theirs && !(await deps.isTheirs(theirs.copy))) theirs = undefined;
    const validators = theirs?.validators ?? (await deps.validators.recall());
    const got = await download(downloadOf(deps, validators), http);
    reportAbsent(got.kind === 'absent');
    if (got.kind !== 'copy') return;
    const verdict = await handOver(got.copy, deps);
    // The daemon that reads it may die, or the version may be known only when the reports were read: it is downloaded again then.
    theirs = verdict === 'theirs' ? { validators: got.validators, copy: got.copy } : undefined;
    if (verdict !== 'theirs') await deps.validators.keep(got.validators);
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
    notTaken: () => [],
    healthy: () => true,
    async [Symbol.asyncDispose]() {
      const stopped = loop[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await stopped;
    },
  };
}

function downloadOf(
  { source, spool, clock, access }: WebExportDeps,
  validators: Validators | undefined,
): DownloadOrder {
  const { name, path, timeout, idle } = source;
  const { authorization, most = LIMITS.downloadBytes } = access;
  const at = new Date(clock.now());
  return {
    url: new URL(path),
    source: name,
    spool,
    authorization,
    validators,
    at,
    timeout,
    idle,
    most,
  };
}

function asPoSyncError(error: Error): PoSyncError {
  return error instanceof PoSyncError
    ? error
    : new PoSyncError('export-trouble', error.message, { cause: error });
}
