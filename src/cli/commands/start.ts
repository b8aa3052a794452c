import { once as eventOnce } from 'node:events';
import type { Config } from '../../config/config.ts';
import { loadNetwork } from '../../config/network.ts';
import { passwordsIn } from '../../config/problem.ts';
import { Secret } from '../../config/secret.ts';
import {
  loadAdminTokens,
  loadIntakeSecrets,
  loadSecrets,
  type Secrets,
} from '../../config/secrets.ts';
import { systemClock } from '../../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { iso, moment } from '../../core/format.ts';
import { within } from '../../core/semaphore.ts';
import { versionOf } from '../../core/version.ts';
import { openDaemon } from '../../daemon.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import { notBegun } from '../../intake/inbox.ts';
import { type NotTaken, notTakenText } from '../../intake/offers.ts';
import type { Batch } from '../../ledger/batches/batches.ts';
import { OPERATOR } from '../../ledger/pause-cause.ts';
import {
  configWarning,
  daemonFailed,
  daemonReady,
  daemonStarting,
  daemonStopped,
  daemonStopping,
} from '../../log/events/daemon.ts';
import { createLog, withWatchers } from '../../log/log.ts';
import { openTracing } from '../../log/open-tracing.ts';
import { createRedaction } from '../../log/redaction.ts';
import { type DaemonInput, type End, type Role, runUntilDone } from '../../operate/daemon.ts';
import { asText, type Sentence } from '../../order/sentence.ts';
import type { LedgerChange } from '../../redis/ledger-api.ts';
import { causeText } from '../../wording/pause.ts';
import { type CommonArgs, openConfig } from '../load-config.ts';
import { createServiceManager } from '../service-manager.ts';
import type { Shell } from '../shell.ts';
import { endText, personText, type SettledBatch } from '../terminal/live-lines.ts';
import { canShowLive, createLiveView, type LiveView } from '../terminal/live-view.ts';
import { errorFacts, printable, printJson, sentences } from '../terminal/print.ts';

/**
 * `role`: what this daemon does; all when absent. `maxWait`: how long `--once` waits at most, in milliseconds. `sameApi` and
 * `newLedger`: what becomes of the ledger where the configuration is for another API.
 */
export type StartArgs = CommonArgs & {
  once: boolean;
  maxWait: number;
  role?: Role | 'all';
  sameApi?: boolean;
  newLedger?: boolean;
};

/**
 * `start`: runs the daemon until it is stopped, or with `--once` until the files that are present now are done.
 * Exit codes as in docs/how-it-works.md. Throws PoSyncError if it cannot do its work.
 */
export async function startCommand(args: StartArgs, shell: Shell): Promise<number> {
  const role = roleOf(args);
  const { config, warnings } = await openConfig(args, shell, { confirm: true });
  const secrets = await (role === 'intake' ? loadIntakeSecrets : loadSecrets)(config, shell.env);
  const network = await loadNetwork(config, shell.env);
  const adminTokens = await loadAdminTokens(shell.env);
  const redaction = createRedaction();
  const live = canShowLive(shell, args)
    ? createLiveView({ shell, clock: systemClock, reports: config.reports.path })
    : undefined;
  const log = createLog({
    ...logSettings(args, shell, config, live),
    secrets: [...valuesOf(config, secrets), ...adminTokens.values(), ...network.secrets],
    redaction,
  });
  const version = versionOf();
  daemonStarting(log, { environment: config.environment, version, config: config.file });
  for (const warning of warnings) {
    if (live && args.once) shell.err(`warning: ${printable(warning)}\n`);
    else configWarning(log, { warning });
  }
  const self = { pid: shell.pid, version, ...(role && { role }) };
  const { env } = shell;
  await using tracing = await openTracing({ config, clock: systemClock, log, self });
  const input = {
    config,
    secrets,
    network,
    clock: systemClock,
    log: withWatchers(log, { tracer: tracing?.tracer }),
    self,
    signal: shell.signal,
    hide: redaction.hideToken,
    notices: {
      env,
      redactLine: (line: string) => redaction.redactLine(line),
    },
    adminTokens,
    change: changeOf(args),
  };
  try {
    return await (args.once ? startOnce(input, args, shell, live) : runDaemon(input, shell, live));
  } catch (error) {
    if (codeOf(error) !== 'interrupted') {
      if (args.json || !shell.isTTY)
        daemonFailed(log, { environment: config.environment, ...errorFacts(error) });
      throw error;
    }
    daemonStopped(log, { environment: config.environment });
    return args.once ? interruptedBy(shell.signal) : 0;
  }
}

/** Where and how the log is written. */
function logSettings(args: StartArgs, shell: Shell, config: Config, live: LiveView | undefined) {
  return {
    level: live && args.once ? quietLevel(config) : config.log.level,
    pretty: shell.isTTY && !args.json,
    colour: shell.isTTY && shell.env['NO_COLOR'] === undefined,
    stream: live?.target ?? (args.json ? shell.streams.err : shell.streams.out),
  };
}

function redisPasswords({ redis }: Config, { redis: login }: Secrets): Secret[] {
  const inAddress = passwordsIn(redis.url ?? '').map((password) => new Secret(password));
  return [...inAddress, login?.password, login?.sentinelPassword].filter(
    (one) => one !== undefined,
  );
}

/** What the log must never show. An intake daemon has no client secret. */
function valuesOf(config: Config, secrets: Secrets): Secret[] {
  const client = secrets.clientId === '' ? [] : [secrets.clientSecret];
  const sources = secrets.sources?.values() ?? [];
  return [...client, ...secrets.headers.hidden, ...sources, ...redisPasswords(config, secrets)];
}

/** The one side that is served; undefined for both. */
function changeOf({ sameApi, newLedger }: StartArgs): LedgerChange | undefined {
  if (!sameApi || !newLedger) return newLedger ? 'newLedger' : sameApi ? 'sameApi' : undefined;
  throw new PoSyncError('usage', '--same-api and --new-ledger exclude each other.', {
    remedy: 'Keep --same-api where only the address of the API changed.',
  });
}

function roleOf({ role, once }: StartArgs): Role | undefined {
  if (role === undefined || role === 'all') return undefined;
  if (!once) return role;
  throw new PoSyncError(
    'usage',
    `--once does everything and cannot be combined with --role ${role}.`,
    {
      remedy: 'Leave out --once or --role.',
    },
  );
}

function interruptedBy(signal: AbortSignal): number {
  return signal.reason === 'SIGINT' ? 130 : 143;
}

/** A person who watches `--once` sees progress and results; only errors come between. */
function quietLevel({ log: { level } }: Config): Config['log']['level'] {
  return level === 'debug' || level === 'trace' || level === 'fatal' || level === 'silent'
    ? level
    : 'error';
}

async function runDaemon(
  input: Omit<DaemonInput, 'admin' | 'onSettled'>,
  shell: Shell,
  live: LiveView | undefined,
): Promise<number> {
  const { environment } = input.config;
  const manager = createServiceManager(shell.env);
  {
    await using daemon = await openDaemon({
      ...input,
      admin: true,
      ...(live ? { onSettled: live.settled } : {}),
    });
    await using _ = live?.follow(daemon);
    await daemon.watch();
    daemonReady(input.log, { environment, adminPort: daemon.adminPort ?? 0 });
    shell.ready();
    manager.ready();
    using _watchdog = manager.watch();
    const end = AbortSignal.any([shell.signal, daemon.outdated]);
    if (!end.aborted) await eventOnce(end, 'abort');
    daemonStopping(input.log, { environment, reason: toError(end.reason).message });
    manager.stopping();
    daemon.outdated.throwIfAborted();
  }
  daemonStopped(input.log, { environment });
  return 0;
}

/** How long a run that ends asks Redis, which may be lost, for what is left. Milliseconds. */
const LOOK = 2_000;

/**
 * Takes the files that are present now, claims of dead daemons and orders that are already queued; ends when none is
 * left. 0: all is well; 2: something needs a person or is left; 130/143: interrupted.
 */
async function startOnce(
  input: Omit<DaemonInput, 'admin' | 'onSettled'>,
  { json, maxWait }: { json: boolean; maxWait: number },
  shell: Shell,
  live?: LiveView,
): Promise<number> {
  const batches: SettledBatch[] = [];
  const taken = new Set<string>();
  let ended: { end: End; notTaken: NotTaken[] };
  let reason: string | undefined;
  let others: readonly (Batch | undefined)[] = [];
  {
    const onSettled = (batch: Batch, needPerson: number) => {
      batches.push(summaryOf(batch, needPerson));
      live?.settled(batch);
    };
    const onTaken = (name: string) => void taken.add(name);
    await using daemon = await openDaemon({ ...input, admin: false, onSettled, onTaken });
    await using _ = live?.follow(daemon);
    ended = await runUntilDone(daemon, maxWait, input.clock, shell.signal);
    const elsewhere = Promise.all([...taken].map(daemon.find));
    others = (await within(LOOK, elsewhere, input.clock, shell.signal)) ?? [];
    const pause = daemon.pause();
    const byPerson = pause?.code === OPERATOR ? pausedByPerson(pause) : undefined;
    reason =
      ended.end === 'held'
        ? (byPerson ?? said(await daemon.waitsForPerson()))
        : said(pause && causeText(pause));
  }
  batches.push(...settledElsewhere(others, batches));
  const { end } = ended;
  const notTaken =
    end === 'waited'
      ? [...ended.notTaken, ...(await notBegun(input.config.sources, ended.notTaken))]
      : ended.notTaken;
  const needPerson = batches.filter((batch) => batch.needPerson > 0).length + notTaken.length;
  const exitCode = exitCodeOf(end, needPerson, shell.signal);
  const left = notTaken.map((one) => `Not taken: ${printable(notTakenText(one))}\n`).join('');
  const reports = input.config.reports.path;
  const text =
    left +
    (end === 'done' && left
      ? personText(batches, reports)
      : endText(end, batches, { reason, reports }));
  if (live) shell.out(sentences(text, shell));
  // Cron keeps what is on standard error: a run that is done without a person says nothing.
  // A run without a file needs no API; that none can be reached must not look like success.
  else if (exitCode === 2 || (end === 'done' && batches.length === 0 && reason !== undefined))
    shell.err(text);
  if (json)
    printJson(shell, { environment: input.config.environment, end, exitCode, batches, notTaken });
  return exitCode;
}

/** Batches that this run took and another daemon settled. One that reads a file that is unreadable settles it. */
function settledElsewhere(
  taken: readonly (Batch | undefined)[],
  here: readonly SettledBatch[],
): SettledBatch[] {
  const others = taken.filter(
    (batch) => batch?.state === 'done' && here.every((one) => one.batch !== batch.batch),
  );
  return others.flatMap((batch) => (batch ? summaryOf(batch, batch.open) : []));
}

const said = (text: Sentence | undefined) => text && asText(text);

/** Who paused delivery, why and since when, and how it continues. */
function pausedByPerson(pause: Pause): string {
  return `delivery is ${asText(causeText(pause))}, since ${moment(iso(pause.since))}; run po-sync resume, then run this again`;
}

function exitCodeOf(end: End, needPerson: number, signal: AbortSignal): number {
  switch (end) {
    case 'interrupted':
      return interruptedBy(signal);
    case 'held':
    case 'waited':
      return 2;
    case 'done':
      return needPerson > 0 ? 2 : 0;
  }
}

function summaryOf(
  { batch, source, name: file, total: orders = 0, counts }: Batch,
  needPerson: number,
): SettledBatch {
  return { batch, source, file, orders, counts, needPerson };
}
