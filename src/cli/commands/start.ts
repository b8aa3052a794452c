import { once as event } from 'node:events';
import { loadAdminToken, loadSecrets } from '../../config/secrets.ts';
import { systemClock } from '../../core/clock.ts';
import { type DaemonInput, openDaemon } from '../../daemon.ts';
import { configWarning, daemonReady, daemonStarting, daemonStopped, daemonStopping } from '../../events/daemon.ts';
import { createLog } from '../../log/log.ts';
import { createRedaction } from '../../log/redaction.ts';
import { openConfig } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { canShowLive, type LiveView, openLiveView } from '../terminal/live-view.ts';
import { versionOf } from '../version.ts';
import { onceCommand } from './once.ts';

export type StartArgs = {
  config?: string;
  environment?: string;
  confirm?: string;
  json: boolean;
  once: boolean;
  /** Milliseconds that `--once` waits at most. */
  maxWait: number;
};

/**
 * `start`: the daemon until it is told to stop, or with `--once` what is there now.
 * Exit codes as in product.md; throws PoSyncError for what keeps it from its work.
 */
export async function startCommand(args: StartArgs, shell: Shell): Promise<number> {
  const { config, warnings } = await openConfig(args, shell, { confirm: true });
  const secrets = await loadSecrets(config, shell.env);
  const adminToken = await loadAdminToken(shell.env);
  const redaction = createRedaction();
  const live = canShowLive(shell, args)
    ? openLiveView({ shell, clock: systemClock, reports: config.reports.path })
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
  return args.once ? onceCommand(input, args, shell, live) : runDaemon(input, shell, live);
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
    if (!shell.signal.aborted) await event(shell.signal, 'abort');
    daemonStopping(input.log, { environment, reason: String(shell.signal.reason) });
  }
  daemonStopped(input.log, { environment });
  return 0;
}
