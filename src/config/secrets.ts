import { PoSyncError } from '../core/errors.ts';
import { openTls, type Tls } from '../core/tls-files.ts';
import { type Config, environmentOf } from './config.ts';
import { headerValue } from './fields.ts';
import {
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
  const clientSecret = new Secret(await needed(`${prefix}_CLIENT_SECRET`, env, read));
  await refuseShared(config, clientId, env, read);
  const headers = await loadHeaders(config, read);
  return { ...(await loadIntakeSecrets(config, env, read)), clientId, clientSecret, headers };
}

/** What a daemon needs that never calls the API: `loadSecrets` without the credentials of the environment. */
export async function loadIntakeSecrets(
  config: Config,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<Secrets> {
  return {
    clientId: '',
    clientSecret: new Secret(''),
    headers: NO_HEADERS,
    sources: await loadSourceSecrets(config, env, read),
    redis: await loadRedisSecrets(config, env, read),
  };
}

/** A shorter value in the configuration, such as the number of a company, occurs in texts by chance. */
const SHORTEST_HIDDEN = 8;

async function loadHeaders(config: Config, read: SecretReader): Promise<ApiHeaders> {
  const sent = new Map<string, Secret>();
  const hidden: Secret[] = [];
  for (const [name, given] of Object.entries(environmentOf(config).headers ?? {})) {
    const isFile = typeof given !== 'string';
    const value = isFile ? await readHeader(name, given.file, read) : given;
    const secret = new Secret(value);
    sent.set(name, secret);
    if (isFile || value.length >= SHORTEST_HIDDEN) hidden.push(secret);
  }
  return { sent, hidden };
}

async function readHeader(name: string, file: string, read: SecretReader): Promise<string> {
  const value = await readSecretFile(`headers.${name}`, file, read);
  const fault = headerValue.safeParse(value).error?.issues[0]?.message;
  if (fault === undefined) return value;
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
): Promise<RedisSecrets> {
  const [username, password, sentinelPassword, passphrase] = await Promise.all(
    REDIS_VARIABLES.map((name) => readSecret(name, env, read)),
  );
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: new Secret(password) }),
    ...(sentinelPassword !== undefined && { sentinelPassword: new Secret(sentinelPassword) }),
    ...(redis.tls && { tls: openTls(redis.tls, passphrase) }),
  };
}

/** What a token of the admin port allows: everything, reading, or only reading `/metrics`. */
export type AdminRole = keyof typeof ADMIN_TOKENS;

/** The tokens of the admin port, by what they allow. */
export type AdminTokens = ReadonlyMap<AdminRole, Secret>;

/** Fewest characters of a token: a shorter one can be guessed. */
const TOKEN = 20;

/**
 * The admin port's tokens from `PO_SYNC_ADMIN_TOKEN`, `PO_SYNC_ADMIN_READ_TOKEN` and `PO_SYNC_METRICS_TOKEN`, each also
 * as `…_FILE`. PoSyncError `admin-token-short`.
 */
export async function loadAdminTokens(
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<AdminTokens> {
  const tokens = new Map<AdminRole, Secret>();
  for (const role of ['operate', 'read', 'metrics'] as const) {
    const name = ADMIN_TOKENS[role];
    const token = await readSecret(name, env, read);
    if (token === undefined) continue;
    if (token.length < TOKEN)
      throw new PoSyncError('admin-token-short', `${name} has fewer than ${TOKEN} characters.`, {
        remedy: 'Set a longer one, such as what openssl rand -hex 24 prints.',
        facts: { variable: name },
      });
    tokens.set(role, new Secret(token));
  }
  return tokens;
}

async function needed(name: string, env: Variables, read: SecretReader): Promise<string> {
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
    if (found !== clientId) continue;
    const message = `${config.environment} and ${other} have the same client ID.`;
    throw new PoSyncError('secret-shared', message, {
      remedy: `Each environment needs its own credentials. Correct ${name} or that of ${config.environment}.`,
    });
  }
}

/**
 * Reads the Authorization headers for addresses of exports, by source name: `PO_SYNC_SOURCE_<NAME>_AUTHORIZATION`, or
 * `_USER` and `_PASSWORD` (Basic, RFC 7617), each also as `…_FILE`. Without them the address needs none. PoSyncError
 * `secret-ambiguous` when there are both, `secret-missing` when one of user and password is, or one of `readSecret`.
 */
export async function loadSourceSecrets(
  { sources }: Pick<Config, 'sources'>,
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<ReadonlyMap<string, Secret>> {
  const headers = new Map<string, Secret>();
  for (const { name, type, path } of sources) {
    if (type !== 'export' || !isWebAddress(path)) continue;
    const header = await headerFor(variablePrefix(`SOURCE_${name}`), env, read);
    if (header !== undefined) headers.set(name, new Secret(header));
  }
  return headers;
}

async function headerFor(prefix: string, env: Variables, read: SecretReader) {
  const whole = await readSecret(`${prefix}_AUTHORIZATION`, env, read);
  const pair = await readPair(`${prefix}_`, env, read);
  if (whole !== undefined && pair !== undefined) {
    const message = `${prefix}_AUTHORIZATION and ${prefix}_USER or _PASSWORD are both set.`;
    throw new PoSyncError('secret-ambiguous', message, { remedy: 'Set only one of the two.' });
  }
  return whole ?? (pair && `Basic ${Buffer.from(pair).toString('base64')}`);
}

/** `user:password` of the variables `…USER` and `…PASSWORD`. PoSyncError `secret-missing` when only one is set. */
export async function readPair(
  prefix: string,
  env: Variables,
  read: SecretReader,
): Promise<string | undefined> {
  const [user, password] = [`${prefix}USER`, `${prefix}PASSWORD`];
  const [name, word] = await Promise.all([user, password].map((one) => readSecret(one, env, read)));
  if (name === undefined && word === undefined) return undefined;
  if (name !== undefined && word !== undefined) return `${name}:${word}`;
  throw new PoSyncError('secret-missing', `${name === undefined ? user : password} is not set.`, {
    remedy: `Set ${user} and ${password}, or neither.`,
  });
}
