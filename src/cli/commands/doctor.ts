import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Config, environmentOf } from '../../config/config.ts';
import { loadNetwork, type Network } from '../../config/network.ts';
import {
  loadAdminTokens,
  loadRedisSecrets,
  loadSecrets,
  type Secrets,
} from '../../config/secrets.ts';
import { requireConfirmation } from '../../config/variables.ts';
import { systemClock } from '../../core/clock.ts';
import { codeOf, PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import { openHttp } from '../../core/http.ts';
import { createLog } from '../../log/log.ts';
import { checkDaemon } from '../../operate/doctor/check-daemon.ts';
import { checkFolders, unusable } from '../../operate/doctor/check-folders.ts';
import { checkGuarantee } from '../../operate/doctor/check-guarantee.ts';
import { checkAdminHost, checkNetwork, checkNotices } from '../../operate/doctor/check-network.ts';
import { checkPartner } from '../../operate/doctor/check-partner.ts';
import {
  checkLedgerThere,
  checkListed,
  checkRedis,
  checkRights,
} from '../../operate/doctor/check-redis.ts';
import { checkClock, type Finding, failure } from '../../operate/doctor/finding.ts';
import { lookingList } from '../../reconcile/list-proof.ts';
import { connectRedis } from '../../redis/connect.ts';
import { COMMAND_WAITS, explainRedisError } from '../../redis/connection-end.ts';
import { keysOf } from '../../redis/keys.ts';
import { openPrivateRedis } from '../../redis/private-server/private-server.ts';
import { hasPrivateRedis, isWithoutLedger } from '../../redis/store.ts';
import { type CommonArgs, openConfig } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { formatOf, hanging, printable, printJson, type Tone } from '../terminal/print.ts';

/**
 * `doctor`: checks everything that a daemon needs, in order, each finding with its remedy. After a failure it continues
 * with what can still be checked. 0: no failures; 1: something fails.
 */
export async function doctorCommand(args: CommonArgs, shell: Shell): Promise<number> {
  const findings: Finding[] = [];
  const report = (found: readonly Finding[]) => {
    findings.push(...found);
    if (!args.json) for (const one of found) shell.out(findingText(one, shell));
  };
  await examine(args, shell, report);
  const failed = findings.filter(({ state }) => state === 'fail').length;
  const warned = findings.filter(({ state }) => state === 'warn').length;
  const end =
    failed + warned === 0
      ? 'No problems found.'
      : `${failed} failed, ${counted(warned, 'warning')}.`;
  if (args.json) printJson(shell, { ok: failed === 0, findings });
  else shell.out(`\n${end}\n`);
  return failed > 0 ? 1 : 0;
}

async function examine(
  args: CommonArgs,
  shell: Shell,
  report: (found: readonly Finding[]) => void,
): Promise<void> {
  const opened = await openConfig(args, shell, { confirm: false }).catch(asPoSyncError);
  if (opened instanceof PoSyncError) return report([failure('configuration', opened)]);
  const { config, warnings } = opened;
  report([
    {
      check: 'configuration',
      state: 'ok',
      message: `${config.file}, environment ${config.environment}`,
    },
    ...warnings.map((message): Finding => ({ check: 'configuration', state: 'warn', message })),
    ...confirmationFindings(config, args, shell),
  ]);
  const secrets = await loadSecrets(config, shell.env).catch(asPoSyncError);
  report(secretsFindings(secrets));
  report(
    await loadAdminTokens(shell.env).then(
      ({ warnings }) =>
        warnings.map((message): Finding => ({ check: 'admin tokens', state: 'warn', message })),
      (error) => [failure('admin tokens', asPoSyncError(error))],
    ),
  );
  report([...(await checkFolders(config)), ...(await checkLedgerThere(config))]);
  report([...(await checkNotices(config, shell.env.PATH ?? '')), ...checkAdminHost(config)]);
  await using resources = new AsyncDisposableStack();
  const { found, place } = await redisFindings(config, shell, resources);
  report(found);
  const network = await loadNetwork(config, shell.env).catch(asPoSyncError);
  if (network instanceof PoSyncError) report([failure('network', network)]);
  else
    report([...warningsOf(network), ...(await checkNetwork(config, network, systemClock.now()))]);
  const missing = [
    secrets instanceof PoSyncError ? 'credentials' : [],
    network instanceof PoSyncError ? 'a network' : [],
  ].flat();
  if (secrets instanceof PoSyncError || network instanceof PoSyncError) {
    report([{ check: 'token', state: 'skipped', message: `needs ${missing.join(' and ')}` }]);
  } else report(await partnerFindings(config, secrets, network, place));
}

/** A daemon does not start without it; whoever runs `doctor` may leave it out on purpose. */
function confirmationFindings(config: Config, { confirm }: CommonArgs, { env }: Shell): Finding[] {
  try {
    requireConfirmation(config, confirm, env);
    return [];
  } catch (error) {
    const { message, remedy = '' } = asPoSyncError(error);
    return [
      {
        check: 'confirmation',
        state: 'ok',
        message: `${message} start needs it confirmed. ${remedy}`,
      },
    ];
  }
}

function warningsOf({ warnings }: Network): Finding[] {
  return warnings.map((message) => ({ check: 'network', state: 'warn', message }));
}

function secretsFindings(secrets: Secrets | PoSyncError): Finding[] {
  if (secrets instanceof PoSyncError) return [failure('credentials', secrets)];
  return [
    { check: 'credentials', state: 'ok', message: 'client ID and client secret are set' },
    ...secrets.warnings.map(
      (message): Finding => ({ check: 'credentials', state: 'warn', message }),
    ),
  ];
}

const NO_LEDGER = 'none of this environment yet: the first start begins one';

/** `place`: the ledger, where it can be read; open until `resources` are disposed of. */
type InRedis = { found: Finding[]; place?: Parameters<typeof checkListed>[0] };

async function redisFindings(
  config: Config,
  shell: Shell,
  resources: AsyncDisposableStack,
): Promise<InRedis> {
  try {
    const isPrivate = hasPrivateRedis(config);
    const { credentials } = await loadRedisSecrets(config, shell.env);
    const server = isPrivate
      ? { address: { url: await openPrivate() } }
      : { address: config.redis, credentials };
    const keys = keysOf(config.environment, environmentOf(config).numbers);
    const redis = await connectRedis(server, { within: 5_000, ...COMMAND_WAITS, key: keys.prefix });
    resources.defer(async () => void (await redis.quit().catch(() => redis.disconnect())));
    const found = await checkRedis(
      redis,
      isPrivate ? 'the private Redis' : 'the configured Redis',
      config.redis.cluster !== undefined,
    );
    const [seconds, micros] = await redis.time();
    const theirs = Number(seconds) * 1000 + Number(micros) / 1000;
    const clock = checkClock('clock of Redis', systemClock.now() - theirs);
    const rights = await checkRights(redis, keys.prefix);
    // Without the rights, these questions cannot be asked.
    if (rights.length > 0) return { found: [...found, ...rights, clock] };
    const place = { redis, keys };
    const isNew = (await redis.hexists(keys.identity, 'epoch')) === 0;
    const ledger: Finding[] = isNew
      ? [{ check: 'Redis ledger', state: 'ok', message: NO_LEDGER }]
      : [];
    const guarantee = await checkGuarantee(place, config, systemClock.now());
    const shared = [...(await checkDaemon(place, config)), ...guarantee];
    return { found: [...found, clock, ...ledger, ...shared], place };
  } catch (error) {
    const isFile = codeOf(error) === 'ENOTDIR';
    return {
      found: [
        isFile ? unusable('Redis', config.data, error) : failure('Redis', explainRedisError(error)),
      ],
    };
  }

  async function openPrivate(): Promise<string> {
    const log = createLog({ level: 'silent', pretty: false, stream: shell.streams.err });
    const data = await dataOrTrial(config, resources);
    return resources.use(
      await openPrivateRedis({ data, clock: systemClock, log, signal: shell.signal }),
    ).url;
  }
}

async function partnerFindings(
  config: Config,
  { clientId, clientSecret, headers }: Secrets,
  network: Network,
  place: InRedis['place'],
): Promise<Finding[]> {
  await using http = openHttp({ connections: 1, connectTimeout: 5_000, route: network.api });
  return await checkPartner({
    http,
    clock: systemClock,
    name: config.environment,
    environment: environmentOf(config),
    secrets: { credentials: { clientId, clientSecret: clientSecret.reveal() }, headers },
    timeout: config.delivery.timeout,
    ...(place && { through: (list) => lookingList(place, environmentOf(config).list, list) }),
    compare: async (listed) =>
      place === undefined ? [] : await checkListed(place, config, listed).catch(lost),
  });
}

/** Redis answered before. */
const lost = (error: unknown) => [failure('Redis', explainRedisError(error))];

const TONES: Record<Finding['state'], Tone> = {
  ok: 'good',
  warn: 'doubtful',
  fail: 'bad',
  skipped: 'quiet',
};

/** Where the message of a finding begins. */
const MESSAGE = 29;

function findingText({ check, state, message, remedy }: Finding, shell: Shell): string {
  const format = formatOf(shell);
  const { paint } = format;
  // Where it is not read on a terminal, such as with grep, each finding is one line.
  if (format.columns === undefined) {
    const text = [message, ...(remedy === undefined ? [] : [`→ ${remedy}`])]
      .join(' ')
      .replace(/\s*\n\s*/g, ' ');
    return `${state.padEnd(9)}${printable(check).padEnd(MESSAGE - 11)}  ${printable(text)}\n`;
  }
  const indent = ' '.repeat(MESSAGE);
  const fitted = (text: string, at: number) =>
    text
      .split('\n')
      .map((line) => hanging(printable(line), at, format))
      .join(`\n${' '.repeat(at)}`);
  const advice = remedy === undefined ? '' : `${indent}→ ${fitted(remedy, MESSAGE + 2)}\n`;
  const name = printable(check);
  // A message after a long name would begin at another place.
  const gap = name.length > MESSAGE - 10 ? `\n${indent}` : ' '.repeat(MESSAGE - 9 - name.length);
  return `${paint(TONES[state], state.padEnd(9))}${name}${gap}${fitted(message, MESSAGE)}\n${advice}`;
}

/** An error that the user can fix; any other is a bug and is thrown again. */
function asPoSyncError(error: unknown): PoSyncError {
  if (error instanceof PoSyncError) return error;
  throw error;
}

/** Before the first start, the private Redis is tried in a folder that is removed: `data` stays as it is. */
async function dataOrTrial(config: Config, resources: AsyncDisposableStack): Promise<string> {
  if (!(await isWithoutLedger(config))) return config.data;
  const trial = await mkdtemp(path.join(tmpdir(), 'po-sync-doctor-'));
  resources.defer(() => rm(trial, { recursive: true, force: true }));
  return trial;
}
