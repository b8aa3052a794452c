import type { Secret } from '../config/secret.ts';
import { createLoop } from '../core/backoff/loop.ts';
import { PoSyncError, toError } from '../core/errors.ts';
import { openHttp } from '../core/http.ts';
import type { Route } from '../core/pool.ts';
import { exportAbsent } from '../log/events/intake.ts';
import { LIMITS } from '../order/limits.ts';
import { download, shownAddress } from './download.ts';
import { type ExportDeps, handOver, type OnRewrite } from './export.ts';
import type { ExportVersions, Validators } from './export-versions.ts';
import { createSourceHealth, type Watch } from './watch.ts';

export type WebExportDeps = Pick<ExportDeps, 'source' | 'spool' | 'clock' | 'log' | 'claim' | 'onReady'> & {
  /** The complete header value, the connection to the address, and the maximum bytes instead of the general limit. */
  access: { authorization: Secret | undefined; route?: Route; most?: number };
  /** The validators of the last version taken; they survive a restart. */
  validators: ReturnType<ExportVersions['validatorsOf']>;
};

/**
 * Requests a newer version of an export from a web address every `poll`. An unreachable address is logged once, and
 * once when it is back; it does not affect health, because a restart would not help.
 */
export function openWebExport(deps: WebExportDeps, onRewrite?: OnRewrite): Watch {
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
    const verdict = await handOver(got.copy, deps);
    if (verdict === 'unchanged' && isNewer(got.validators, validators)) onRewrite?.(clock.now());
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
    notTaken: () => [],
    healthy: () => true,
    async [Symbol.asyncDispose]() {
      const stopped = loop[Symbol.asyncDispose]();
      await http[Symbol.asyncDispose]();
      await stopped;
    },
  };
}

function isNewer(now: Validators, before: Validators | undefined): boolean {
  return now.etag !== before?.etag || now.lastModified !== before?.lastModified;
}

function asPoSyncError(error: Error): PoSyncError {
  return error instanceof PoSyncError ? error : new PoSyncError('export-trouble', error.message, { cause: error });
}
