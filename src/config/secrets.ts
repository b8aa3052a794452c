import { PoSyncError } from '../core/errors.ts';
import { openTls, type Tls } from '../core/tls-files.ts';
import { type Config, environmentOf } from './config.ts';
import { headerValue } from './fields.ts';
import {
  type FoundSecret,
  readSecret,
  readSecretFile,
  Secret,
  type SecretReader,
  secretFilesFrom,
} from './secret.ts';
import { isWebAddress } from './source-schema.ts';
import { ADMIN_TOKENS, REDIS_VARIABLES, type Variables, variablePrefix } from './variables.ts';

/** The credentials of the chosen environment (API part 5). */
export type Secrets = {
  clientId: string;
  clientSecret: Secret;
  headers: ApiHeaders;
  /** Authorization headers of exports with a protected address, by source name. */
  sources?: ReadonlyMap<string, Secret>;
  /** User and passwords of Redis that are not part of its address. */
  redis?: RedisSecrets;
  /** Warnings about how the secrets are stored, for the log. */
  warnings: readonly string[];
};

/** The further headers of the calls to the API, and those of their values that log and answers must not show. */
export type ApiHeaders = { sent: ReadonlyMap<string, Secret>; hidden: readonly Secret[] };

export const NO_HEADERS: ApiHeaders = { sent: new Map(), hidden: [] };

/** User and passwords of Redis and of its Sentinels, and its certificates. */
export type RedisSecrets = {
  username?: string;
  password?: Secret;
  sentinelPassword?: Secret;
  tls?: Tls;
};

/**
 * Reads the credentials of `config.environment` from `PO_SYNC_<ENVIRONMENT>_CLIENT_ID` and `_CLIENT_SECRET`, or from
 * the files that `…_FILE` name. Two environments never have the same credentials (API part 1).
 * Also reads the files of its headers. Throws PoSyncError `secret-missing`, `secret-shared`, or one of `readSecret`.
 */
export async function loadSecrets(
  config: Config,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<Secrets> {
  const prefix = variablePrefix(config.environment);
  const clientId = await needed(`${prefix}_CLIENT_ID`, env, read);
  const clientSecret = await needed(`${prefix}_CLIENT_SECRET`, env, read);
  await refuseShared(config, clientId.value, env, read);
  const headers = await loadHeaders(config, read);
  const sources = await loadSourceSecrets(config, env, read);
  const redis = await loadRedisSecrets(config, env, read);
  const doubts = [clientId, clientSecret].flatMap(({ warning }) =>
    warning === undefined ? [] : [warning],
  );
  return {
    clientId: clientId.value,
    clientSecret: new Secret(clientSecret.value),
    headers,
    ...(sources.headers.size > 0 && { sources: sources.headers }),
    redis: redis.credentials,
    warnings: [...doubts, ...headers.warnings, ...sources.warnings, ...redis.warnings],
  };
}

/** A shorter value in the configuration, such as the number of a company, occurs in texts by chance. */
const SHORTEST_HIDDEN = 8;

async function loadHeaders(
  config: Config,
  read: SecretReader,
): Promise<ApiHeaders & { warnings: string[] }> {
  const sent = new Map<string, Secret>();
  const hidden: Secret[] = [];
  const warnings: string[] = [];
  for (const [name, given] of Object.entries(environmentOf(config).headers ?? {})) {
    const { value, warning } =
      typeof given === 'string' ? { value: given } : await readHeader(name, given.file, read);
    if (warning !== undefined) warnings.push(warning);
    const secret = new Secret(value);
    sent.set(name, secret);
    if (typeof given !== 'string' || value.length >= SHORTEST_HIDDEN) hidden.push(secret);
  }
  return { sent, hidden, warnings };
}

async function readHeader(name: string, file: string, read: SecretReader): Promise<FoundSecret> {
  const found = await readSecretFile(`headers.${name}`, file, read);
  const fault = headerValue.safeParse(found.value).error?.issues[0]?.message;
  if (fault === undefined) return found;
  throw new PoSyncError('secret-invalid', `headers.${name}: ${file} ${fault}.`, {
    remedy: 'Write only the value into this file.',
  });
}

/**
 * Reads `PO_SYNC_REDIS_USERNAME`, `PO_SYNC_REDIS_PASSWORD` and `PO_SYNC_REDIS_SENTINEL_PASSWORD`, each also as
 * `…_FILE`. They take precedence over what `redis.url` contains. Also opens the files of `redis.tls`, whose passphrase
 * is `PO_SYNC_REDIS_TLS_PASSPHRASE`. Throws PoSyncError as `readSecret` and `openTls` do.
 */
export async function loadRedisSecrets(
  { redis }: Pick<Config, 'redis'>,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<{ credentials: RedisSecrets; warnings: readonly string[] }> {
  const given = withoutEmpty(env);
  const [username, password, sentinelPassword, passphrase] = await Promise.all(
    REDIS_VARIABLES.map((name) => readSecret(name, given, read)),
  );
  return {
    credentials: {
      ...(username && { username: username.value }),
      ...(password && { password: new Secret(password.value) }),
      ...(sentinelPassword && { sentinelPassword: new Secret(sentinelPassword.value) }),
      ...(redis.tls && { tls: openTls(redis.tls, passphrase?.value) }),
    },
    warnings: [password, sentinelPassword, passphrase].flatMap((one) =>
      one?.warning === undefined ? [] : [one.warning],
    ),
  };
}

/** Service managers set a variable to an empty text when there is no value. */
function withoutEmpty(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

/** What a daemon needs that never calls the API: `loadSecrets` without the credentials of the environment. */
export async function loadIntakeSecrets(
  config: Config,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<Secrets> {
  const sources = await loadSourceSecrets(config, env, read);
  const redis = await loadRedisSecrets(config, env, read);
  return {
    clientId: '',
    clientSecret: new Secret(''),
    headers: NO_HEADERS,
    ...(sources.headers.size > 0 && { sources: sources.headers }),
    redis: redis.credentials,
    warnings: [...sources.warnings, ...redis.warnings],
  };
}

/** What a token of the admin port allows: everything, reading, or only reading `/metrics`. */
export type AdminRole = keyof typeof ADMIN_TOKENS;

/** The tokens of the admin port, by what they allow. */
export type AdminTokens = ReadonlyMap<AdminRole, Secret>;

/**
 * The admin port's tokens from `PO_SYNC_ADMIN_TOKEN`, `PO_SYNC_ADMIN_READ_TOKEN` and `PO_SYNC_METRICS_TOKEN`, each also
 * as `…_FILE`, with warnings about them. PoSyncError `admin-token-short`.
 */
export async function loadAdminTokens(env: Variables, read: SecretReader = secretFilesFrom('.')) {
  const given = withoutEmpty(env);
  const tokens = new Map<AdminRole, Secret>();
  const warnings: string[] = [];
  for (const role of ['operate', 'read', 'metrics'] as const) {
    const found = await readSecret(ADMIN_TOKENS[role], given, read);
    if (found === undefined) continue;
    if (found.value.length < TOKEN) throw shortToken(ADMIN_TOKENS[role]);
    tokens.set(role, new Secret(found.value));
    if (found.warning !== undefined) warnings.push(found.warning);
  }
  return { tokens, warnings };
}

/** Fewest characters of a token: a shorter one can be guessed. */
const TOKEN = 20;

function shortToken(name: string): PoSyncError {
  return new PoSyncError('admin-token-short', `${name} has fewer than ${TOKEN} characters.`, {
    remedy: 'Set a longer one, such as what openssl rand -hex 24 prints.',
    facts: { variable: name },
  });
}

async function needed(name: string, env: Variables, read: SecretReader): Promise<FoundSecret> {
  const found = await readSecret(name, env, read);
  if (found !== undefined) return found;
  throw new PoSyncError('secret-missing', `${name} is not set.`, {
    remedy: `Set ${name}, or set ${name}_FILE to a file that contains it.`,
    facts: { variable: name },
  });
}

async function refuseShared(
  config: Config,
  clientId: string,
  env: Variables,
  read: SecretReader,
): Promise<void> {
  for (const other of Object.keys(config.environments)) {
    if (other === config.environment) continue;
    const name = `${variablePrefix(other)}_CLIENT_ID`;
    // This user may have no permission to read another environment's file; then there is nothing to compare.
    const found = await readSecret(name, env, read).catch(() => undefined);
    if (found?.value !== clientId) continue;
    throw new PoSyncError(
      'secret-shared',
      `${config.environment} and ${other} have the same client ID.`,
      {
        remedy: `Each environment needs its own credentials. Correct ${name} or that of ${config.environment}.`,
      },
    );
  }
}

/** The Authorization header of each source with an address and credentials, by source name. */
type SourceSecrets = { headers: ReadonlyMap<string, Secret>; warnings: readonly string[] };

/**
 * Reads the credentials for addresses of exports: `PO_SYNC_SOURCE_<NAME>_AUTHORIZATION` (the complete header), or `_USER`
 * and `_PASSWORD` (Basic, RFC 7617), each also as `…_FILE`. Without them the address needs none. PoSyncError
 * `secret-ambiguous` when there are both, `secret-missing` when one of user and password is, or one of `readSecret`.
 */
export async function loadSourceSecrets(
  { sources }: Pick<Config, 'sources'>,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<SourceSecrets> {
  const headers = new Map<string, Secret>();
  const warnings: string[] = [];
  for (const { name, type, path } of sources) {
    if (type !== 'export' || !isWebAddress(path)) continue;
    const found = await headerFor(variablePrefix(`SOURCE_${name}`), env, read);
    if (found === undefined) continue;
    headers.set(name, new Secret(found.value));
    warnings.push(...found.warnings);
  }
  return { headers, warnings };
}

async function headerFor(prefix: string, env: Variables, read: SecretReader) {
  const [whole, user, password] = await Promise.all(
    ['AUTHORIZATION', 'USER', 'PASSWORD'].map((what) => readSecret(`${prefix}_${what}`, env, read)),
  );
  const warnings = [whole, user, password].flatMap((one) =>
    one?.warning === undefined ? [] : [one.warning],
  );
  if (whole !== undefined) {
    if (user === undefined && password === undefined) return { value: whole.value, warnings };
    throw new PoSyncError(
      'secret-ambiguous',
      `${prefix}_AUTHORIZATION and ${prefix}_USER or _PASSWORD are both set.`,
      {
        remedy: 'Set only one of the two.',
      },
    );
  }
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || password === undefined)
    throw half(prefix, user === undefined ? 'USER' : 'PASSWORD');
  return {
    value: `Basic ${Buffer.from(`${user.value}:${password.value}`).toString('base64')}`,
    warnings,
  };
}

function half(prefix: string, missing: string): PoSyncError {
  return new PoSyncError('secret-missing', `${prefix}_${missing} is not set.`, {
    remedy: `Set ${prefix}_USER and ${prefix}_PASSWORD, or neither.`,
  });
}
