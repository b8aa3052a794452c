import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { Secret } from './secret.ts';
import { type SecretReader, secretFilesFrom } from './secret-file.ts';
import { readSecret } from './secret-variable.ts';
import { isWebAddress } from './source-schema.ts';
import { type Variables, variablePrefix } from './variables.ts';

/** Of each source with an address and credentials, by the source's name: the Authorization header. */
export type SourceSecrets = { headers: ReadonlyMap<string, Secret>; warnings: readonly string[] };

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
