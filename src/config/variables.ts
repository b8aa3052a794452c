import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { type Finding, nearest } from './problem.ts';
import { port, redisUrl } from './schema.ts';

/** Environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables that override the file, and secrets that are never in it. */
export const ENVIRONMENT = 'PO_SYNC_ENVIRONMENT';
export const REDIS_URL = 'PO_SYNC_REDIS_URL';
export const ADMIN_PORT = 'PO_SYNC_ADMIN_PORT';
export const INSTANCE = 'PO_SYNC_INSTANCE';
export const FIRST_INSTANCE = 'PO_SYNC_FIRST_INSTANCE';
/** The variables of the admin port's tokens, by what each token allows. */
export const ADMIN_TOKENS = {
  operate: 'PO_SYNC_ADMIN_TOKEN',
  read: 'PO_SYNC_ADMIN_READ_TOKEN',
  metrics: 'PO_SYNC_METRICS_TOKEN',
} as const;

/** The variables of a Redis with a login, and of its certificate: few need them. */
export const REDIS_VARIABLES = ['USERNAME', 'PASSWORD', 'SENTINEL_PASSWORD', 'TLS_PASSPHRASE'].map(
  (what) => `PO_SYNC_REDIS_${what}`,
);

/** The prefix of an environment's variables, such as `PO_SYNC_STAGING`; characters that are not letters or digits become `_`. */
export function variablePrefix(environment: string): string {
  return `PO_SYNC_${environment.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

/** The value of a variable; undefined when it is not set or empty. */
export function variable(env: Variables, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/**
 * Values of environment variables that override the file. `instance`: the number of this daemon, from 0, among those that a
 * supervisor starts with the same variables, and of the first of them. It is added to the admin port.
 */
export type Overrides = { redisUrl?: string; adminPort?: number; instance?: number };

/** Reads the variables of `Overrides`; never repeats a value, because it can contain a password. */
export function readOverrides(env: Variables): { overrides: Overrides; problems: Finding[] } {
  const problems: Finding[] = [];
  const overrides: Overrides = {};
  const url = variable(env, REDIS_URL);
  if (url !== undefined) {
    const read = redisUrl.safeParse(url);
    if (read.success) overrides.redisUrl = read.data;
    else
      problems.push({
        path: REDIS_URL,
        message: read.error.issues[0]?.message ?? 'is not an address',
      });
  }
  const number = variable(env, ADMIN_PORT);
  if (number !== undefined) {
    const read = port.safeParse(/^[0-9]+$/.test(number) ? Number(number) : number);
    if (read.success) overrides.adminPort = read.data;
    else
      problems.push({
        path: ADMIN_PORT,
        message: read.error.issues[0]?.message ?? 'is not a port',
      });
  }
  for (const name of [INSTANCE, FIRST_INSTANCE]) {
    const instance = variable(env, name);
    if (instance === undefined) continue;
    if (/^[0-9]{1,3}$/.test(instance))
      overrides.instance = (overrides.instance ?? 0) + Number(instance);
    else problems.push({ path: name, message: 'must be a number from 0 to 999' });
  }
  return { overrides, problems };
}

/**
 * Chooses the environment: the flag, then the variable, then the file. There is no default, so that nobody delivers to
 * the wrong environment by omission.
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
  const hint =
    near === undefined ? `known: ${known.join(', ') || 'none'}` : `did you mean ${near}?`;
  return {
    problems: [
      { path: said.path, message: `there is no environment ${JSON.stringify(said.name)}`, hint },
    ],
  };
}

function unsaid(known: readonly string[]): Finding {
  return {
    path: ['environment'],
    message: `no environment is chosen${known.length === 0 ? '' : `; known: ${known.join(', ')}`}`,
    hint: `set --environment, ${ENVIRONMENT} or the key environment`,
  };
}

const CONFIRM = 'PO_SYNC_CONFIRM';

/**
 * Requires that a protected environment is named again, with `--confirm` or `PO_SYNC_CONFIRM`.
 * Throws PoSyncError `confirmation-missing`.
 */
export function requireConfirmation(
  config: Config,
  flag: string | undefined,
  env: Variables,
): void {
  const { environment, environments } = config;
  const said = variable(env, CONFIRM);
  if (environments[environment]?.protected !== true || (flag ?? said) === environment) return;
  const found = said === undefined ? '' : `, and ${CONFIRM} names ${said}`;
  throw new PoSyncError(
    'confirmation-missing',
    `${environment} is a protected environment${found}.`,
    {
      remedy: `To confirm, use --confirm ${environment} or ${CONFIRM}=${environment}.`,
      facts: { environment },
    },
  );
}

/**
 * Requires that `--confirm` names the environment of the command, also where it need not be confirmed: who confirms
 * production means production. `PO_SYNC_CONFIRM` may name another one, because it stays set.
 * Throws PoSyncError `confirmation-other`.
 */
export function requireSameEnvironment({ environment }: Config, flag: string | undefined): void {
  if (flag === undefined || flag === environment) return;
  throw new PoSyncError(
    'confirmation-other',
    `--confirm names ${flag}, but the command works on ${environment}.`,
    {
      remedy: `To work on ${flag}, add --environment ${flag}. To work on ${environment}, leave --confirm ${flag} out.`,
      facts: { environment, confirm: flag },
    },
  );
}
