import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { nearest } from './nearest.ts';
import { type FoundSecret, readSecret, Secret, type SecretReader, secretFilesFrom } from './secret.ts';
import { isWebAddress } from './source-schema.ts';
import { ADMIN_TOKEN, type Variables, variablePrefix } from './variables.ts';

/** The credentials of the chosen environment (spec part 5). */
export type Secrets = {
  clientId: string;
  clientSecret: Secret;
  /** The Authorization header of each export with an address that wants one, by the source's name. */
  sources?: ReadonlyMap<string, Secret>;
  /** Doubts about how the secrets are kept, for the log. */
  warnings: readonly string[];
};

/**
 * Reads the credentials of `config.environment` from `PO_SYNC_<ENVIRONMENT>_CLIENT_ID` and `_CLIENT_SECRET`, or from
 * the files that `…_FILE` name. Credentials of two environments are never the same (spec part 1).
 * Throws PoSyncError `secret-missing`, `secret-shared`, or one of `readSecret`.
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
  const sources = await loadSourceSecrets(config, env, read);
  const doubts = [clientId, clientSecret].flatMap(({ warning }) => (warning === undefined ? [] : [warning]));
  return {
    clientId: clientId.value,
    clientSecret: new Secret(clientSecret.value),
    ...(sources.headers.size > 0 && { sources: sources.headers }),
    warnings: [...doubts, ...sources.warnings],
  };
}

/** The admin port's token from `PO_SYNC_ADMIN_TOKEN` or `PO_SYNC_ADMIN_TOKEN_FILE`; undefined when there is none. */
export async function loadAdminToken(
  env: Variables,
  read: SecretReader = secretFilesFrom('.'),
): Promise<Secret | undefined> {
  // Set to nothing is how a service manager says "none" for something that need not be there.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const found = await readSecret(ADMIN_TOKEN, given, read);
  return found === undefined ? undefined : new Secret(found.value);
}

async function needed(name: string, env: Variables, read: SecretReader): Promise<FoundSecret> {
  const found = await readSecret(name, env, read);
  if (found !== undefined) return found;
  const given = Object.keys(env).filter((key) => key.startsWith('PO_SYNC_') && key !== name);
  const near = nearest(name, given);
  throw new PoSyncError('secret-missing', `${name} is not set.`, {
    remedy: `Set it, or ${name}_FILE to a file that holds it${near === undefined ? '' : `; ${near} is set, which looks like it`}.`,
    facts: { variable: name },
  });
}

async function refuseShared(config: Config, clientId: string, env: Variables, read: SecretReader): Promise<void> {
  for (const other of Object.keys(config.environments)) {
    if (other === config.environment) continue;
    const name = `${variablePrefix(other)}_CLIENT_ID`;
    // Another environment's file may be none of this user's business: then there is nothing to compare.
    const found = await readSecret(name, env, read).catch(() => undefined);
    if (found?.value !== clientId) continue;
    throw new PoSyncError('secret-shared', `${config.environment} and ${other} have the same client id.`, {
      remedy: `Each environment has credentials of its own: correct ${name} or that of ${config.environment}.`,
    });
  }
}

/** Of each source with an address and credentials, by the source's name: the Authorization header. */
type SourceSecrets = { headers: ReadonlyMap<string, Secret>; warnings: readonly string[] };

/**
 * Reads what the addresses of exports want: `PO_SYNC_SOURCE_<NAME>_AUTHORIZATION` (the whole header), or `_USER` and
 * `_PASSWORD` (Basic, RFC 7617), each also as `…_FILE`. None of them: the address is open. PoSyncError
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
  const warnings = [whole, user, password].flatMap((one) => (one?.warning === undefined ? [] : [one.warning]));
  if (whole !== undefined) {
    if (user === undefined && password === undefined) return { value: whole.value, warnings };
    throw new PoSyncError('secret-ambiguous', `${prefix}_AUTHORIZATION and ${prefix}_USER or _PASSWORD are both set.`, {
      remedy: 'Set the one or the other.',
    });
  }
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || password === undefined) throw half(prefix, user === undefined ? 'USER' : 'PASSWORD');
  return { value: `Basic ${Buffer.from(`${user.value}:${password.value}`).toString('base64')}`, warnings };
}

function half(prefix: string, missing: string): PoSyncError {
  return new PoSyncError('secret-missing', `${prefix}_${missing} is not set.`, {
    remedy: `Set ${prefix}_USER and ${prefix}_PASSWORD, or neither.`,
  });
}
