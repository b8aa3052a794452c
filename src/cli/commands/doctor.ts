import type { Config } from '../../config/config.ts';
import { environmentOf } from '../../config/environment-of.ts';
import { loadSecrets, type Secrets } from '../../config/secrets.ts';
import { systemClock } from '../../core/clock.ts';
import { PoSyncError } from '../../core/errors.ts';
import { openHttp } from '../../core/http.ts';
import { createLog } from '../../log/log.ts';
import { checkClock } from '../../operate/doctor/check-clock.ts';
import { checkFolders } from '../../operate/doctor/check-folders.ts';
import { checkPartner } from '../../operate/doctor/check-partner.ts';
import { checkRedis } from '../../operate/doctor/check-redis.ts';
import { type Finding, failure } from '../../operate/doctor/finding.ts';
import { connectRedis } from '../../redis/connect.ts';
import { openPrivateRedis } from '../../redis/private-server/private-server.ts';
import { openConfig } from '../load-config.ts';
import type { OperatorContextArgs } from '../operator-context.ts';
import type { Shell } from '../shell.ts';
import { createPaint, type Tone } from '../terminal/paint.ts';
import { printJson } from '../terminal/print-json.ts';
import { printable } from '../terminal/printable.ts';

/**
 * `doctor`: looks at all that a daemon needs, in order, each with its mend. It goes on where the next can still be
 * looked at. 0: fine, or with warnings; 1: something fails.
 */
export async function doctorCommand(args: OperatorContextArgs, shell: Shell): Promise<number> {
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]) => {
    findings.push(...found);
    if (!args.json) for (const one of found) shell.out(findingText(one, shell));
  };
  await examine(args, shell, tell);
  const failed = findings.filter(({ state }) => state === 'fail').length;
  const warned = findings.filter(({ state }) => state === 'warn').length;
  if (args.json) printJson(shell, { ok: failed === 0, findings });
  else shell.out(failed + warned === 0 ? '\nAll is well.\n' : `\n${failed} failed, ${warned} to look at.\n`);
  return failed > 0 ? 1 : 0;
}

async function examine(
  args: OperatorContextArgs,
  shell: Shell,
  tell: (found: readonly Finding[]) => void,
): Promise<void> {
  const opened = await openConfig(args, shell, { confirm: false }).catch(asError);
  if (opened instanceof PoSyncError) return tell([failure('configuration', opened)]);
  const { config, warnings } = opened;
  tell([
    { check: 'configuration', state: 'ok', message: `${config.file}, environment ${config.environment}` },
    ...warnings.map((message): Finding => ({ check: 'configuration', state: 'warn', message })),
  ]);
  const secrets = await loadSecrets(config, shell.env).catch(asError);
  tell(secretsFindings(secrets));
  tell(await checkFolders(config));
  tell(await redisFindings(config, shell));
  if (secrets instanceof PoSyncError)
    tell([{ check: 'token', state: 'skipped', message: 'not asked without credentials' }]);
  else tell(await partnerFindings(config, secrets));
}

function secretsFindings(secrets: Secrets | PoSyncError): Finding[] {
  if (secrets instanceof PoSyncError) return [failure('credentials', secrets)];
  return [
    { check: 'credentials', state: 'ok', message: 'client id and secret are given' },
    ...secrets.warnings.map((message): Finding => ({ check: 'credentials', state: 'warn', message })),
  ];
}

async function redisFindings(config: Config, shell: Shell): Promise<Finding[]> {
  await using resources = new AsyncDisposableStack();
  try {
    const { url } = config.redis;
    const address = url ?? (await openPrivate());
    const redis = await connectRedis(address, { within: 5_000 });
    resources.defer(async () => void (await redis.quit().catch(() => redis.disconnect())));
    const found = await checkRedis(redis, url === undefined ? 'the private Redis' : 'the configured Redis');
    const [seconds, micros] = await redis.time();
    const theirs = Number(seconds) * 1000 + Number(micros) / 1000;
    return [...found, checkClock('clock of Redis', systemClock.now() - theirs)];
  } catch (error) {
    return [failure('Redis', error)];
  }

  async function openPrivate(): Promise<string> {
    const log = createLog({ level: 'silent', pretty: false, stream: shell.streams.err });
    return resources.use(await openPrivateRedis({ data: config.data, clock: systemClock, log, signal: shell.signal }))
      .url;
  }
}

async function partnerFindings(config: Config, { clientId, clientSecret }: Secrets): Promise<Finding[]> {
  await using http = openHttp({ connections: 1, connectTimeout: 5_000 });
  return await checkPartner({
    http,
    clock: systemClock,
    name: config.environment,
    environment: environmentOf(config),
    credentials: { clientId, clientSecret: clientSecret.reveal() },
    timeout: config.delivery.timeout,
  });
}

const TONES: Record<Finding['state'], Tone> = { ok: 'good', warn: 'doubtful', fail: 'bad', skipped: 'quiet' };

function findingText({ check, state, message, remedy }: Finding, shell: Shell): string {
  const paint = createPaint(shell);
  const indent = ' '.repeat(29);
  const text = message.split('\n').map(printable).join(`\n${indent}`);
  const cure = remedy === undefined ? '' : `${indent}→ ${remedy.split('\n').map(printable).join(`\n${indent}  `)}\n`;
  return `${paint(TONES[state], state.padEnd(9))}${printable(check).padEnd(20)}${text}\n${cure}`;
}

/** What the user can mend; anything else is a bug and goes on its way. */
function asError(error: unknown): PoSyncError {
  if (error instanceof PoSyncError) return error;
  throw error;
}
