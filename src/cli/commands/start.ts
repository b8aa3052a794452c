import { once as eventOnce } from 'node:events';
import { loadAdminToken, loadSecrets } from '../../config/secrets.ts';
import { systemClock } from '../../core/clock.ts';
import { type DaemonInput, openDaemon } from '../../daemon.ts';
import { configWarning, daemonReady, daemonStarting, daemonStopped, daemonStopping } from '../../events/daemon.ts';
import { createLog } from '../../log/log.ts';
import { createRedaction } from '../../log/redaction.ts';
import { type CommonArgs, openConfig } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { canShowLive, createLiveView, type LiveView } from '../terminal/live-view.ts';
import { versionOf } from '../version.ts';
import { startOnce } from './start-once.ts';

/** `maxWait`: how long `--once` waits at most, in milliseconds. */
export type StartArgs = CommonArgs & { once: boolean; maxWait: number };

/**
 * `start`: runs the daemon until it is stopped, or with `--once` until the files that are present now are done.
 * Exit codes as in docs/contract.md. Throws PoSyncError if it cannot do its work.
 */
export async function startCommand(args: StartArgs, shell: Shell): Promise<number> {
  const { config, warnings } = await openConfig(args, shell, { confirm: true });
  const secrets = await loadSecrets(config, shell.env);
  const adminToken = await loadAdminToken(shell.env);
  const redaction = createRedaction();
  const live = canShowLive(shell, args)
    ? createLiveView({ shell, clock: systemClock, reports: config.reports.path })
    : undefined;
  const log = createLog({
    level: config.log.level,
    pretty: shell.isTTY && !args.json,
    colour: shell.isTTY && shell.env['NO_COLOR'] === undefined,
    stream: live?.target ?? (args.json ? shell.streams.err : shell.streams.out),
    secrets: [secrets.clientSecret, ...(secrets.sources?.values() ?? []), ...(adminToken ? [adminToken] : [])],
    redaction,
  });
  daemonStarting(log, { environment: config.environment, version: versionOf(), config: config.file });
  for (const warning of [...warnings, ...secrets.warnings]) configWarning(log, warning);
  const input = {
    config,
    secrets,
    clock: systemClock,
    log,
    self: { pid: shell.pid, version: versionOf() },
    signal: shell.signal,
    hide: redaction.hideToken,
    notices: { env: shell.env, redactLine: (line: string) => redaction.redactLine(line) },
    ...(adminToken ? { adminToken } : {}),
  };
  return args.once ? startOnce(input, args, shell, live) : runDaemon(input, shell, live);
}

async function runDaemon(
  input: Omit<DaemonInput, 'admin' | 'onSettled'>,
  shell: Shell,
  live: LiveView | undefined,
): Promise<number> {
  const { environment } = input.config;
  {
    await using daemon = await openDaemon({ ...input, admin: true, ...(live ? { onSettled: live.settled } : {}) });
    await using _ = live?.follow(daemon);
    await daemon.watch();
    daemonReady(input.log, { environment, adminPort: daemon.adminPort ?? 0 });
    shell.ready();
    if (!shell.signal.aborted) await eventOnce(shell.signal, 'abort');
    daemonStopping(input.log, { environment, reason: String(shell.signal.reason) });
  }
  daemonStopped(input.log, { environment });
  return 0;
}
