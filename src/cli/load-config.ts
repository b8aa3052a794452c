import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { type ConfigProblem, sentenceOf } from '../config/problem.ts';
import { readSecret, secretFilesFrom } from '../config/secret.ts';
import { loadRedisSecrets } from '../config/secrets.ts';
import {
  REDIS_URL,
  requireConfirmation,
  requireSameEnvironment,
  type Variables,
  variable,
} from '../config/variables.ts';
import { systemClock } from '../core/clock.ts';
import { codeOf, PoSyncError, toError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import { createCircuitBreaker } from '../deliver/circuit-breaker.ts';
import { createBatches } from '../ledger/batches/batches.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createLog } from '../log/log.ts';
import { checkList, openApiList } from '../operate/delivery/api-list.ts';
import { readStatus } from '../operate/delivery/read-status.ts';
import { inboxesUsedElsewhere } from '../operate/doctor/check-redis.ts';
import type { BulkEnd, BulkJob, OperationContext } from '../operate/operation-context.ts';
import { createOperator, type OperatorContext } from '../operate/operator-context.ts';
import { openPersonJobs } from '../queue/person-jobs.ts';
import { openQueue } from '../queue/queue.ts';
import { COMMAND_WAITS } from '../redis/connection-end.ts';
import { openStore } from '../redis/store.ts';
import type { Shell } from './shell.ts';
import { printable } from './terminal/print.ts';

/** The default file, below the working folder or the program's folder. */
const USUAL = path.join('config', 'po-sync.yaml');
const MOST_BYTES = 1024 * 1024;
const OTHERS_WRITE = 0o002;

export type ConfigFile = { text: string; file: string; warnings: string[] };

/** Where to look: the flag, the variables, and the two folders that can contain the default file. */
export type ConfigPlace = {
  flag: string | undefined;
  env: Variables;
  cwd: string;
  programRoot: string;
};

/**
 * Finds and reads the configuration file: `--config`, else `PO_SYNC_CONFIG`, else `config/po-sync.yaml` below the
 * working folder, else that of the program.
 * Throws PoSyncError `config-missing` or `config-unreadable`.
 */
async function readConfigFile({ flag, env, cwd, programRoot }: ConfigPlace): Promise<ConfigFile> {
  const named = flag ?? variable(env, 'PO_SYNC_CONFIG');
  if (named !== undefined) return read(path.resolve(cwd, named));
  const here = path.join(cwd, USUAL);
  try {
    return await read(here);
  } catch (error) {
    const own = path.join(programRoot, USUAL);
    if (codeOf(error) !== 'config-missing' || own === here) throw error;
    return await read(own).catch((second: unknown) => {
      throw codeOf(second) === 'config-missing' ? error : second;
    });
  }
}

async function read(file: string): Promise<ConfigFile> {
  try {
    // Without O_NONBLOCK, opening a FIFO would wait forever.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return { file, ...(await readHandle(handle, file)) };
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? missing(file) : unreadable(file, error);
  }
}

async function readHandle(
  handle: FileHandle,
  file: string,
): Promise<{ text: string; warnings: string[] }> {
  const stat = await handle.stat();
  if (!stat.isFile()) throw new Error('it is not a file');
  if (stat.size > MOST_BYTES) throw new Error('it is larger than 1 MB');
  const open = (stat.mode & OTHERS_WRITE) !== 0;
  const warnings = open ? [`${file} can be written by every user of this machine (chmod o-w)`] : [];
  return {
    text: new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile()),
    warnings,
  };
}

function missing(file: string): PoSyncError {
  return new PoSyncError('config-missing', `Configuration file ${file} not found.`, {
    remedy: `Copy ${path.join(PROGRAM_ROOT, 'config/po-sync.starter.yaml')} there and adapt it, or set another file with --config or PO_SYNC_CONFIG. To use the sandbox of \`npm start\`, run \`. data/sandbox/env\` first.`,
    facts: { file },
  });
}

function unreadable(file: string, cause: unknown): PoSyncError {
  const encoding = codeOf(cause) === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  const reason = encoding ? 'it is not UTF-8' : (codeOf(cause) ?? toError(cause).message);
  return new PoSyncError(
    'config-unreadable',
    `Configuration file ${file} cannot be read (${reason}).`,
    {
      remedy: encoding
        ? 'Save the file as UTF-8.'
        : 'Set the right file with --config or PO_SYNC_CONFIG, and give the user that runs po-sync read permission.',
      facts: { file },
      cause,
    },
  );
}

/** The common flags of every command. */
export type CommonArgs = { config?: string; environment?: string; confirm?: string; json: boolean };

/** The folder that contains `config/`. */
export const PROGRAM_ROOT = path.resolve(import.meta.dirname, '..', '..');

/**
 * Loads the configuration that command line and variables select. `needs.confirm`: the command changes something in
 * the environment, so a protected one must be confirmed.
 * Throws PoSyncError `config-missing`, `config-unreadable`, `config-invalid` (one line for each problem),
 * `confirmation-missing`, `confirmation-other`, or one of `readSecret` for the address of Redis.
 */
export async function openConfig(
  args: Omit<CommonArgs, 'json'>,
  shell: Pick<Shell, 'env' | 'cwd'>,
  needs: { confirm: boolean },
): Promise<{ config: Config; warnings: string[] }> {
  const { cwd } = shell;
  const env = await withRedisUrl(shell);
  const { text, file, warnings } = await readConfigFile({
    flag: args.config,
    env,
    cwd,
    programRoot: PROGRAM_ROOT,
  });
  const chosen = args.environment === undefined ? {} : { environment: args.environment };
  const loaded = loadConfig({ text, file, env, ...chosen });
  const name = shortest(file, cwd);
  if (!loaded.ok) throw invalid(file, name, loaded.problems);
  requireSameEnvironment(loaded.config, args.confirm);
  if (needs.confirm) requireConfirmation(loaded.config, args.confirm, env);
  return {
    config: loaded.config,
    warnings: [...warnings, ...loaded.warnings.map((it) => sentenceOf(it, name))],
  };
}

/** The variables, with the address of Redis from the file that `PO_SYNC_REDIS_URL_FILE` names. Throws as `readSecret`. */
async function withRedisUrl({ env, cwd }: Pick<Shell, 'env' | 'cwd'>): Promise<Variables> {
  return { ...env, [REDIS_URL]: await readSecret(REDIS_URL, env, secretFilesFrom(cwd)) };
}

function invalid(file: string, name: string, problems: readonly ConfigProblem[]): PoSyncError {
  const count = counted(problems.length, 'problem');
  const lines = [
    `${count} in the configuration:`,
    ...problems.map((problem) => sentenceOf(problem, name)),
  ];
  return new PoSyncError('config-invalid', lines.join('\n'), {
    remedy: 'docs/reference/configuration.md describes every key.',
    facts: { file, problems: problems.length },
  });
}

/** The path as the reader would enter it. */
function shortest(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}

/**
 * The configuration; undefined if none was named and there is none in the usual place, so that the standard columns
 * apply. Throws like `openConfig`.
 */
export async function configIfAny(
  args: CommonArgs & { source?: string },
  shell: Shell,
): Promise<Config | undefined> {
  try {
    const { config, warnings } = await openConfig(args, shell, { confirm: false });
    if (!args.json) for (const doubt of warnings) shell.err(`warning: ${printable(doubt)}\n`);
    return config;
  } catch (error) {
    const isNamed =
      args.config !== undefined ||
      Boolean(shell.env['PO_SYNC_CONFIG']) ||
      args.source !== undefined;
    if (isNamed || codeOf(error) !== 'config-missing') throw error;
    if (!args.json) shell.err('No configuration found; checking with the standard columns.\n');
    return undefined;
  }
}

/**
 * Opens the daemons' store for a command. `confirm`: the command changes something, so a protected environment must be
 * confirmed. Throws like `openConfig` and `openStore`.
 */
export async function openOperatorContext(
  args: CommonArgs,
  shell: Shell,
  { confirm }: { confirm: boolean },
): Promise<OperationContext & AsyncDisposable> {
  const { config } = await openConfig(args, shell, { confirm });
  await using resources = new AsyncDisposableStack();
  const [clock, log] = [
    systemClock,
    createLog({ level: 'silent', pretty: false, stream: shell.streams.err }),
  ];
  const credentials = await loadRedisSecrets(config, shell.env);
  const begins = (await inboxesUsedElsewhere(config)).length === 0;
  const deps = {
    clock,
    log,
    signal: shell.signal,
    waits: COMMAND_WAITS,
    credentials,
    reads: !confirm,
    begins,
  };
  const store = resources.use(await openStore(config, deps));
  const { redis, keys, time } = store;
  const owner = randomUUID();
  const { probe } = config.delivery;
  const onChange = () => undefined;
  const breaker = createCircuitBreaker({
    store,
    clock,
    probe,
    onPaused: onChange,
    onResumed: onChange,
  });
  const queue = resources.use(openQueue({ store, log }));
  const jobs = resources.use(openPersonJobs<BulkJob, BulkEnd>({ store, log }));
  // A command never begins an attempt, so it needs no checkpoint of the ledger.
  const identity = { known: () => ({ epoch: '', sequence: 0 }), saw: () => undefined };
  const kept = resources.move();
  const context: OperatorContext = {
    config,
    store,
    owner,
    clock,
    log,
    stopping: shell.signal,
    ledger: createLedger({ redis, keys, identity }),
    batches: createBatches({ redis, keys, owner, config }),
    queue,
    breaker,
    operator: createOperator(shell.env, time),
  };
  return {
    ...operationContext(context, shell),
    jobs,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function operationContext(
  context: OperatorContext,
  { env }: Pick<Shell, 'env'>,
): Omit<OperationContext, 'jobs'> {
  return {
    ...context,
    status: async () => ({ status: await readStatus(context) }),
    checkList: (numbers) => checkList(numbers, context, env),
    async readList(onOrder) {
      await using list = await openApiList(context, env);
      return await list.read(onOrder);
    },
    examine: async () =>
      (await import('../operate/doctor/examine.ts')).examined(context.config, {
        env,
        signal: context.stopping,
      }),
    // A daemon reads what is submitted.
    take: async () => undefined,
  };
}
