import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readSecret, secretFilesFrom } from '../../config/secret.ts';
import { ENVIRONMENT, variablePrefix } from '../../config/variables.ts';
import { PoSyncError, toError } from '../../core/errors.ts';
import type { FaultFile } from '../../sandbox/faults/fault-file.ts';
import {
  type AnsweredCall,
  type SandboxOptions,
  SCOPES,
  type Scope,
  TOKEN_PATHS,
} from '../../sandbox/sandbox-options.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Shell } from '../shell.ts';

/** The flags of `po-sync sandbox` as typed. */
export type SandboxArgs = {
  environment?: string;
  port?: string;
  authPort?: string;
  host?: string;
  tokenPath?: string;
  scopes?: string;
  data?: string;
  memory?: boolean;
  reset?: boolean;
  allowIp?: readonly string[];
  onDuplicate?: string;
  faults?: string;
  record?: boolean;
  tokenLifetime?: string;
  listShape?: string;
  listItems?: string;
};

/**
 * Runs the reference API until the shell's signal, and prints its addresses on the first line of standard output.
 * Throws PoSyncError for invalid flags, missing credentials, and resources that cannot be used.
 */
export async function sandboxCommand(args: SandboxArgs, shell: Shell): Promise<number> {
  const options = await optionsOf(args, shell);
  // The caller got a 500; the operator of the sandbox needs the cause.
  const onCrash = (error: Error) => shell.err(`The sandbox failed to answer a call: ${error.message}\n`);
  await using calls = openCallLog(shell.err);
  await using sandbox = await startSandbox({ ...options, onCrash, onCall: calls.add });
  const { environment, baseUrl, authUrl } = sandbox;
  shell.out(`${JSON.stringify({ environment, baseUrl, authUrl })}\n`);
  shell.ready();
  const stopped = shell.signal.aborted || once(shell.signal, 'abort');
  const broken = await Promise.race([sandbox.ended, stopped]);
  if (!(broken instanceof Error)) return 0;
  throw new PoSyncError('sandbox-ended', `The sandbox can no longer store orders: ${broken.message}`, {
    remedy: 'Start it again. Every order that it answered is stored.',
    cause: broken,
  });
}

async function optionsOf(args: SandboxArgs, shell: Shell): Promise<SandboxOptions> {
  const environment = environmentOf(args, shell);
  return {
    environment,
    clientId: await credential('CLIENT_ID', environment, shell),
    clientSecret: await credential('CLIENT_SECRET', environment, shell),
    port: integer('--port', args.port ?? '0', 0, 65_535),
    data: resolve(shell.cwd, args.data ?? 'data/sandbox'),
    memory: args.memory,
    reset: args.reset,
    authPort: given(args.authPort, (value) => integer('--auth-port', value, 0, 65_535)),
    host: args.host,
    tokenPath: given(args.tokenPath, (value) => oneOf('--token-path', value, TOKEN_PATHS)),
    scopes: given(args.scopes, scopesOf),
    allowIp: args.allowIp,
    onDuplicate: given(args.onDuplicate, (value) => oneOf('--on-duplicate', value, ['accept', 'refuse'])),
    faults: await given(args.faults, (value) => faultsOf(resolve(shell.cwd, value))),
    record: args.record,
    tokenLifetime: given(args.tokenLifetime, (value) => integer('--token-lifetime', value, 1, 86_400 * 365)),
    listShape: given(args.listShape, (value) => oneOf('--list-shape', value, ['array', 'object'])),
    listItems: given(args.listItems, (value) => oneOf('--list-items', value, ['yes', 'no']) === 'yes'),
  };
}

function given<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value);
}

function environmentOf(args: SandboxArgs, { env }: Shell): string {
  const environment = args.environment ?? env[ENVIRONMENT];
  if (environment) return environment;
  throw new PoSyncError('environment-missing', 'The environment of the sandbox is missing.', {
    remedy: `Add --environment NAME, or set ${ENVIRONMENT}.`,
  });
}

async function credential(what: string, environment: string, { env, cwd }: Shell): Promise<string> {
  const name = `${variablePrefix(environment)}_${what}`;
  const found = await readSecret(name, env, secretFilesFrom(cwd));
  if (found !== undefined) return found.value;
  throw new PoSyncError('secret-missing', `The sandbox has no credentials for ${environment}: ${name} is not set.`, {
    remedy: `Set ${name}, or set ${name}_FILE to a file that contains it.`,
    facts: { variable: name },
  });
}

async function faultsOf(path: string): Promise<FaultFile> {
  const { loadFaults } = await import('../../sandbox/faults/fault-file.ts');
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

function integer(flag: string, value: string, least: number, most: number): number {
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
  return new PoSyncError('flag-invalid', `Option ${flag}: "${value}" is not valid.`, {
    remedy: `Use ${wanted}.`,
    facts: { flag, value },
  });
}

/** Pause between two writes, in milliseconds: a write for each call would cost the sandbox more than the call. */
const PAUSE = 100;
/** Longest line. */
const LONGEST = 300;

/** Writes one line per call: time, method, path, status, duration and, for a failed call, the reason. */
function openCallLog(write: (text: string) => void): AsyncDisposable & { add(call: AnsweredCall): void } {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    write(lines.join(''));
    lines = [];
  }

  return {
    add(call) {
      lines.push(callLine(call, new Date()));
      timer ??= setTimeout(flush, PAUSE);
    },
    async [Symbol.asyncDispose]() {
      if (timer === undefined) return;
      clearTimeout(timer);
      flush();
    },
  };
}

function callLine({ method, path, status, durationMs, reason }: AnsweredCall, at: Date): string {
  const outcome = status === 0 ? 'connection dropped' : String(status);
  const why = reason === '' ? '' : ` ${reason}`;
  const line = `${at.toISOString()} ${method} ${path} ${outcome} ${durationMs.toFixed(1)} ms${why}`;
  // A caller chooses the path and parts of the reason: neither may control the terminal.
  return `${line.slice(0, LONGEST).replace(/[\p{Cc}\p{Cf}]/gu, '?')}\n`;
}
