import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { fileMissing } from '../../core/regular-file.ts';
import { LIST_MODES, listModeOf } from '../../sandbox/list-mode.ts';
import {
  type SandboxOptions,
  SCOPES,
  type Scope,
  TOKEN_PATHS,
} from '../../sandbox/sandbox-options.ts';

/** The flags of `po-sync sandbox` as typed. */
export type SandboxArgs = {
  environment?: string;
  port?: string;
  authPort?: string;
  host?: string;
  publicUrl?: string;
  tokenPath?: string;
  scopes?: string;
  allowIp?: readonly string[];
  headers?: string;
  data?: string;
  memory?: boolean;
  reset?: boolean;
  seed?: string;
  onDuplicate?: string;
  list?: string;
  faults?: string;
  record?: boolean;
};

/** The options that the flags alone decide; files are read relative to `cwd`. Throws PoSyncError for an invalid flag. */
export async function optionsIn(args: SandboxArgs, cwd: string) {
  const { host, memory, reset, record, allowIp } = args;
  const flagged = {
    port: integer('--port', args.port ?? '0', 0, 65_535),
    authPort: given(args.authPort, (value) => integer('--auth-port', value, 0, 65_535)),
    data: resolve(cwd, args.data ?? 'data/sandbox'),
    publicUrl: given(args.publicUrl, publicUrlOf),
    tokenPath: given(args.tokenPath, (value) => oneOf('--token-path', value, TOKEN_PATHS)),
    scopes: given(args.scopes, scopesOf),
    headers: given(args.headers, (value) => oneOf('--headers', value, ['strict', 'lenient'])),
    onDuplicate: given(args.onDuplicate, duplicateOf),
    list: given(args.list, (value) => {
      if (listModeOf(value) !== undefined) return value;
      throw badFlag('--list', value, LIST_MODES);
    }),
    faults: await given(args.faults, async (file) => {
      const { loadFaults } = await import('../../sandbox/start-files.ts');
      return loadFaults(read(resolve(cwd, file)), resolve(cwd, file));
    }),
    seed: await given(args.seed, async (file) => {
      const { loadSeed } = await import('../../sandbox/start-files.ts');
      return loadSeed(read(resolve(cwd, file)), resolve(cwd, file));
    }),
  } satisfies Partial<SandboxOptions>;
  return { host, memory, reset, record, allowIp, ...flagged };
}

function given<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw fileMissing(path, error);
    throw new PoSyncError('file-unreadable', `${path} cannot be read: ${toError(error).message}.`, {
      remedy: 'Correct the path, or give the user that runs po-sync read permission.',
      facts: { file: path },
      cause: error,
    });
  }
}

function publicUrlOf(value: string): string {
  const url = URL.parse(value);
  const isPlain = url !== null && !/[?#]/.test(value) && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href;
  throw badFlag('--public-url', value, 'an address such as https://sandbox.example.com');
}

function duplicateOf(value: string): 'accept' | 'refuse' | number {
  if (value === 'accept' || value === 'refuse') return value;
  if (/^4\d\d$/.test(value)) return Number(value);
  throw badFlag('--on-duplicate', value, 'accept, refuse or a status from 400 to 499');
}

function integer(flag: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
  if (number >= least && number <= most) return number;
  throw badFlag(flag, value, `a whole number from ${least} to ${most}`);
}

function oneOf<T extends string>(flag: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw badFlag(flag, value, `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`);
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
