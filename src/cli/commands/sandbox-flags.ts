import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { fileMissing } from '../../core/regular-file.ts';
import type { FaultFile } from '../../sandbox/faults/fault-file.ts';
import {
  CLIENT_AUTHS,
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
  tls?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  cors?: string | true;
  tokenPath?: string;
  tokenLifetime?: string;
  clientAuth?: string;
  scopes?: string;
  clients?: string;
  allowIp?: readonly string[];
  headers?: string;
  data?: string;
  memory?: boolean;
  reset?: boolean;
  seed?: string;
  onDuplicate?: string;
  duplicateStatus?: string;
  createdStatus?: string;
  blankText?: string;
  unknownFields?: string;
  quantity?: string;
  bodyLimit?: string;
  textLimit?: string;
  listShape?: string;
  listKey?: string;
  listItems?: string;
  listedState?: string;
  faults?: string;
  record?: boolean;
};

/** The options that the flags alone decide; files are read relative to `cwd`. Throws PoSyncError for an invalid flag. */
export async function optionsIn(args: SandboxArgs, cwd: string) {
  return { ...places(args, cwd), ...rules(args), ...(await files(args, cwd)) };
}

type Flagged = Partial<SandboxOptions>;

function places(args: SandboxArgs, cwd: string) {
  return {
    port: integer('--port', args.port ?? '0', 0, 65_535),
    data: resolve(cwd, args.data ?? 'data/sandbox'),
    authPort: given(args.authPort, (value) => integer('--auth-port', value, 0, 65_535)),
    host: args.host,
    publicUrl: given(args.publicUrl, publicUrlOf),
    cors: args.cors === true ? '*' : given(args.cors, originOf),
    memory: args.memory,
    reset: args.reset,
    record: args.record,
    allowIp: args.allowIp,
  } satisfies Flagged;
}

function rules(args: SandboxArgs) {
  return {
    tokenPath: given(args.tokenPath, (value) => oneOf('--token-path', value, TOKEN_PATHS)),
    tokenLifetime: given(args.tokenLifetime, (value) =>
      integer('--token-lifetime', value, 1, 86_400 * 365),
    ),
    clientAuth: given(args.clientAuth, (value) => oneOf('--client-auth', value, CLIENT_AUTHS)),
    scopes: given(args.scopes, scopesOf),
    headers: given(args.headers, (value) => oneOf('--headers', value, ['strict', 'lenient'])),
    onDuplicate: given(args.onDuplicate, (value) =>
      oneOf('--on-duplicate', value, ['accept', 'refuse']),
    ),
    duplicateStatus: given(args.duplicateStatus, (value) =>
      oneOf('--duplicate-status', value, ['409', '400']) === '409' ? 409 : 400,
    ),
    createdStatus: given(args.createdStatus, (value) =>
      oneOf('--created-status', value, ['201', '200']) === '201' ? 201 : 200,
    ),
    textLimit: given(args.textLimit, (value) => integer('--text-limit', value, 1, 256)),
    blankText: given(args.blankText, (value) => oneOf('--blank-text', value, ['accept', 'refuse'])),
    unknownFields: given(args.unknownFields, (value) =>
      oneOf('--unknown-fields', value, ['ignore', 'refuse']),
    ),
    quantity: given(args.quantity, (value) => oneOf('--quantity', value, ['number', 'integer'])),
    bodyLimit: given(args.bodyLimit, (value) =>
      integer('--body-limit', value, 1, 64 * 1024 * 1024),
    ),
    listShape: given(args.listShape, (value) => oneOf('--list-shape', value, ['array', 'object'])),
    listKey: given(args.listKey, (value) => nameIn('--list-key', value)),
    listItems: given(
      args.listItems,
      (value) => oneOf('--list-items', value, ['yes', 'no']) === 'yes',
    ),
    listedState: given(args.listedState, (value) => nameIn('--listed-state', value)),
  } satisfies Flagged;
}

async function files(args: SandboxArgs, cwd: string) {
  const contents = (file: string) => ({ text: read(resolve(cwd, file)), path: resolve(cwd, file) });
  return {
    faults: await given(args.faults, (file) => faultsIn(contents(file))),
    clients: await given(args.clients, async (file) => {
      const { text, path } = contents(file);
      return (await import('../../sandbox/start-files.ts')).loadClients(text, path);
    }),
    seed: await given(args.seed, async (file) => {
      const { text, path } = contents(file);
      return (await import('../../sandbox/start-files.ts')).loadSeed(text, path);
    }),
    tls: tlsIn(args, (file) => contents(file).text),
  } satisfies Flagged;
}

async function faultsIn({ text, path }: { text: string; path: string }): Promise<FaultFile> {
  const { loadFaults } = await import('../../sandbox/start-files.ts');
  return loadFaults(text, path);
}

function tlsIn(
  { tlsCert, tlsKey }: SandboxArgs,
  contents: (file: string) => string,
): SandboxOptions['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return { cert: contents(tlsCert), key: contents(tlsKey) };
  throw new PoSyncError('flag-invalid', 'Only one of --tls-cert and --tls-key is set.', {
    remedy: 'Set both, or use --tls for a self-signed certificate.',
  });
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

/** An origin as browsers send it, without a slash at its end; `*` and `null` are origins too. */
function originOf(value: string): string {
  if (value === '*' || value === 'null') return value;
  const url = URL.parse(value);
  if (
    url !== null &&
    url.origin !== 'null' &&
    value.replace(/\/$/, '').toLowerCase() === url.origin
  )
    return url.origin;
  throw badFlag(
    '--cors',
    value,
    'an origin such as https://swagger.example.com, or no value for every origin',
  );
}

function nameIn(flag: string, value: string): string {
  if (value !== '') return value;
  throw badFlag(flag, value, 'a name');
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
