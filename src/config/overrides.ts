import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { nearest } from './nearest.ts';
import type { Finding } from './problem.ts';
import { port, redisUrl } from './schema.ts';
import { ADMIN_PORT, ENVIRONMENT, REDIS_URL, type Variables, variable } from './variables.ts';

/** What the command line and the variables say instead of the file. */
export type Overrides = { redisUrl?: string; adminPort?: number };

/** Reads `PO_SYNC_REDIS_URL` and `PO_SYNC_ADMIN_PORT`; a value is never repeated, as it may hold a password. */
export function readOverrides(env: Variables): { overrides: Overrides; problems: Finding[] } {
  const problems: Finding[] = [];
  const overrides: Overrides = {};
  const url = variable(env, REDIS_URL);
  if (url !== undefined) {
    const read = redisUrl.safeParse(url);
    if (read.success) overrides.redisUrl = read.data;
    else problems.push({ path: REDIS_URL, message: read.error.issues[0]?.message ?? 'is no address' });
  }
  const number = variable(env, ADMIN_PORT);
  if (number !== undefined) {
    const read = port.safeParse(/^[0-9]+$/.test(number) ? Number(number) : number);
    if (read.success) overrides.adminPort = read.data;
    else problems.push({ path: ADMIN_PORT, message: read.error.issues[0]?.message ?? 'is no port' });
  }
  return { overrides, problems };
}

/**
 * Which environment is meant: the flag's, else the variable's, else the file's. There is none by default, so that
 * nobody delivers to the wrong one by forgetting to say it.
 */
export function chooseEnvironment(
  flag: string | undefined,
  env: Variables,
  inFile: unknown,
  known: readonly string[],
): { environment?: string; problems: Finding[] } {
  const said = [
    { path: '--environment', name: flag },
    { path: ENVIRONMENT, name: variable(env, ENVIRONMENT) },
    { path: ['environment'], name: typeof inFile === 'string' ? inFile : undefined },
  ].find(({ name }) => name !== undefined);
  if (said?.name === undefined) return { problems: inFile === undefined ? [unsaid(known)] : [] };
  if (known.includes(said.name)) return { environment: said.name, problems: [] };
  const near = nearest(said.name, known);
  const hint = near === undefined ? `known: ${known.join(', ') || 'none'}` : `did you mean ${near}?`;
  return { problems: [{ path: said.path, message: `there is no environment ${JSON.stringify(said.name)}`, hint }] };
}

function unsaid(known: readonly string[]): Finding {
  return {
    path: ['environment'],
    message: `no environment is chosen${known.length === 0 ? '' : `; known: ${known.join(', ')}`}`,
    hint: `say it with --environment, ${ENVIRONMENT} or the key environment`,
  };
}

const CONFIRM = 'PO_SYNC_CONFIRM';

/**
 * Lets a protected environment pass only when it is named once more, by `--confirm` or `PO_SYNC_CONFIRM`.
 * Throws PoSyncError `confirmation-missing`.
 */
export function requireConfirmation(config: Config, flag: string | undefined, env: Variables): void {
  const { environment, environments } = config;
  const said = flag ?? variable(env, CONFIRM);
  if (environments[environment]?.protected !== true || said === environment) return;
  const found = said === undefined ? '' : `, and ${flag === undefined ? CONFIRM : '--confirm'} names ${said}`;
  throw new PoSyncError('confirmation-missing', `${environment} is a protected environment${found}.`, {
    remedy: `If it is meant: --confirm ${environment}, or ${CONFIRM}=${environment}.`,
    facts: { environment },
  });
}
