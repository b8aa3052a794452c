import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { PoSyncError, toError } from '../errors.ts';
import type { FaultFile } from '../sandbox/faults/fault-file.ts';
import { type SandboxOptions, SCOPES, type Scope, TOKEN_PATHS } from '../sandbox/sandbox-options.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import type { Shell } from './shell.ts';

/** The flags of `po-sync sandbox` as they were typed. */
export type SandboxArgs = {
  environment: string;
  port?: string;
  authPort?: string;
  host?: string;
  tokenPath?: string;
  scopes?: string;
  data?: string;
  allowIp?: readonly string[];
  onDuplicate?: string;
  faults?: string;
  record?: boolean;
  tokenLifetime?: string;
  listShape?: string;
  listItems?: string;
};

/**
 * Runs the reference API until the shell's signal, and tells its addresses on the first line of standard output.
 * Throws PoSyncError for flags and surroundings that cannot be used.
 */
export async function sandboxCommand(args: SandboxArgs, shell: Shell): Promise<number> {
  await using sandbox = await startSandbox(await optionsOf(args, shell));
  const { environment, baseUrl, authUrl } = sandbox;
  shell.out(`${JSON.stringify({ environment, baseUrl, authUrl })}\n`);
  shell.ready();
  if (!shell.signal.aborted) await once(shell.signal, 'abort');
  return 0;
}

async function optionsOf(args: SandboxArgs, shell: Shell): Promise<SandboxOptions> {
  const { environment } = args;
  return {
    environment,
    clientId: credential('CLIENT_ID', environment, shell),
    clientSecret: credential('CLIENT_SECRET', environment, shell),
    port: args.port === undefined ? 0 : whole('--port', args.port, 0, 65_535),
    data: resolve(shell.cwd, args.data ?? 'data/sandbox'),
    ...(args.authPort !== undefined && { authPort: whole('--auth-port', args.authPort, 0, 65_535) }),
    ...(args.host !== undefined && { host: args.host }),
    ...(args.tokenPath !== undefined && { tokenPath: oneOf('--token-path', args.tokenPath, TOKEN_PATHS) }),
    ...(args.scopes !== undefined && { scopes: scopesOf(args.scopes) }),
    ...(args.allowIp !== undefined && { allowIp: args.allowIp }),
    ...(args.onDuplicate !== undefined && {
      onDuplicate: oneOf('--on-duplicate', args.onDuplicate, ['accept', 'refuse']),
    }),
    ...(args.faults !== undefined && { faults: await faultsOf(resolve(shell.cwd, args.faults)) }),
    ...(args.record !== undefined && { record: args.record }),
    ...(args.tokenLifetime !== undefined && {
      tokenLifetime: whole('--token-lifetime', args.tokenLifetime, 1, 86_400 * 365),
    }),
    ...(args.listShape !== undefined && { listShape: oneOf('--list-shape', args.listShape, ['array', 'object']) }),
    ...(args.listItems !== undefined && { listItems: oneOf('--list-items', args.listItems, ['yes', 'no']) === 'yes' }),
  };
}

/** `PO_SYNC_<ENVIRONMENT>_<WHAT>`, or the content of the file that `…_FILE` names. */
function credential(what: 'CLIENT_ID' | 'CLIENT_SECRET', environment: string, { env, cwd }: Shell): string {
  const name = `PO_SYNC_${environment.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_${what}`;
  const file = env[`${name}_FILE`];
  const value = env[name] || (file ? read(resolve(cwd, file)).trim() : '');
  if (value !== '') return value;
  throw new PoSyncError(
    'credentials-missing',
    `The sandbox has no credentials for ${environment}: ${name} is not set.`,
    {
      mend: `Set ${name}, or ${name}_FILE to the path of a file that holds it.`,
      facts: { variable: name },
    },
  );
}

async function faultsOf(path: string): Promise<FaultFile> {
  const { loadFaults } = await import('../sandbox/faults/load-faults.ts');
  return loadFaults(read(path), path);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PoSyncError('file-unreadable', `${path} cannot be read: ${toError(error).message}.`, {
      facts: { file: path },
      cause: error,
    });
  }
}

function whole(flag: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (number >= least && number <= most) return number;
  throw badFlag(flag, value, `a whole number from ${least} to ${most}`);
}

function oneOf<T extends string>(flag: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw badFlag(flag, value, choices.join(' or '));
}

function scopesOf(value: string): Scope[] {
  const words = value.split(/[ ,]+/).filter((word) => word !== '');
  if (words.length === 0) throw badFlag('--scopes', value, `some of ${SCOPES.join(' ')}`);
  return words.map((word) => oneOf('--scopes', word, SCOPES));
}

function badFlag(flag: string, value: string, wanted: string): PoSyncError {
  return new PoSyncError('flag-invalid', `${flag} is "${value}".`, {
    mend: `It must be ${wanted}.`,
    facts: { flag, value },
  });
}
