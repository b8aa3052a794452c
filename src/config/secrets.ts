import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { nearest } from './nearest.ts';
import { Secret } from './secret.ts';
import { type SecretReader, secretFilesFrom } from './secret-file.ts';
import { type FoundSecret, readSecret } from './secret-variable.ts';
import { loadSourceSecrets } from './source-secrets.ts';
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
