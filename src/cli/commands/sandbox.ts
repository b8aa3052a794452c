import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readSecret, secretFilesFrom } from '../../config/secret.ts';
import { ENVIRONMENT, variablePrefix } from '../../config/variables.ts';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { makePathSync, PRIVATE_FOLDER } from '../../core/folder.ts';
import { readTextIfExists } from '../../core/regular-file.ts';
import { unusable } from '../../sandbox/database.ts';
import type { SandboxEvent, SandboxOptions } from '../../sandbox/sandbox-options.ts';
import { checkEnvironmentName, startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Shell } from '../shell.ts';
import { optionsIn, type SandboxArgs } from './sandbox-flags.ts';

/** The environment of a sandbox that nobody named. */
const DEFAULT_ENVIRONMENT = 'staging';

/**
 * Runs the reference API until the shell's signal, and prints its addresses on the first line of standard output.
 * Throws PoSyncError for invalid flags, missing credentials, and resources that cannot be used.
 */
export async function sandboxCommand(args: SandboxArgs, shell: Shell): Promise<number> {
  const options = await optionsOf(args, shell);
  const onEvent = (event: SandboxEvent) => {
    if (event.type === 'answered') shell.err(callLine(event));
    // The caller got a 500; the operator of the sandbox needs the cause.
    if (event.type === 'crashed')
      shell.err(`The sandbox failed to answer a call: ${event.error.message}\n`);
  };
  await using sandbox = await startSandbox({ ...options, onEvent });
  const { environment, baseUrl, authUrl } = sandbox;
  shell.out(`${JSON.stringify({ environment, baseUrl, authUrl })}\n`);
  shell.ready();
  if (!shell.signal.aborted) await once(shell.signal, 'abort');
  return 0;
}

async function optionsOf(args: SandboxArgs, shell: Shell): Promise<SandboxOptions> {
  const environment = args.environment || shell.env[ENVIRONMENT] || DEFAULT_ENVIRONMENT;
  checkEnvironmentName(environment);
  const flagged = await optionsIn(args, shell.cwd);
  const credentials = await credentialsOf(
    environment,
    args.memory ? undefined : flagged.data,
    shell,
  );
  return { environment, ...credentials, ...flagged };
}

type Credentials = { clientId: string; clientSecret: string };

/**
 * The credentials of the variables, or generated ones that are stored in `folder` and shown on a terminal.
 * Throws PoSyncError `secret-missing` if only one is set, or if nobody could read generated ones.
 */
async function credentialsOf(
  environment: string,
  folder: string | undefined,
  shell: Shell,
): Promise<Credentials> {
  const [idName, secretName] = ['CLIENT_ID', 'CLIENT_SECRET'].map(
    (what) => `${variablePrefix(environment)}_${what}`,
  );
  const [clientId, clientSecret] = [
    await secretIn(idName ?? '', shell),
    await secretIn(secretName ?? '', shell),
  ];
  if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
  const missing = (clientId === undefined ? idName : secretName) ?? '';
  const isPartly = clientId !== undefined || clientSecret !== undefined;
  if (isPartly || (folder === undefined && !shell.isTTY)) throw secretMissing(environment, missing);
  return generatedCredentials(environment, folder, shell);
}

async function secretIn(name: string, { env, cwd }: Shell): Promise<string | undefined> {
  return readSecret(name, env, secretFilesFrom(cwd));
}

/**
 * Credentials that stay the same between runs, in a file that a shell can read with `. FILE`. The client ID names the
 * environment, because two environments of a configuration must not have the same one.
 */
async function generatedCredentials(
  environment: string,
  folder: string | undefined,
  shell: Shell,
): Promise<Credentials> {
  const file = folder === undefined ? undefined : path.join(folder, `${environment}.env`);
  const stored = file === undefined ? undefined : await readTextIfExists(file);
  const kept = /_CLIENT_ID=(\S+)\n.*_CLIENT_SECRET=(\S+)/.exec(stored ?? '');
  const clientId = kept?.[1] ?? `sandbox-${environment}`;
  const made = { clientId, clientSecret: kept?.[2] ?? randomBytes(24).toString('base64url') };
  const prefix = variablePrefix(environment);
  const text = `export ${prefix}_CLIENT_ID=${made.clientId}\nexport ${prefix}_CLIENT_SECRET=${made.clientSecret}\n`;
  if (file !== undefined && kept === null && !isWritten(file, text, stored === undefined)) {
    return generatedCredentials(environment, folder, shell);
  }
  if (file !== undefined)
    shell.err(
      `${kept === null ? 'Generated credentials' : 'Credentials, as before'}: ${file}. Load them into a shell with: . ${file}\n`,
    );
  if (shell.isTTY) shell.err(`Client ID: ${made.clientId}\nClient secret: ${made.clientSecret}\n`);
  return made;
}

/** Writes a private file; false if it should be new and another process was faster. */
function isWritten(file: string, text: string, isNew: boolean): boolean {
  try {
    makePathSync(path.dirname(file), PRIVATE_FOLDER);
    writeFileSync(file, text, { mode: 0o600, flag: isNew ? 'wx' : 'w' });
    return true;
  } catch (error) {
    if (isNew && codeOf(error) === 'EEXIST') return false;
    throw unusable(file, toError(error));
  }
}

function secretMissing(environment: string, name: string): PoSyncError {
  return new PoSyncError(
    'secret-missing',
    `The sandbox has no credentials for ${environment}: ${name} is not set.`,
    {
      remedy: `Set ${name}, or set ${name}_FILE to a file that contains it.`,
      facts: { variable: name },
    },
  );
}

/** Longest line. */
const LONGEST = 300;

type Answered = Extract<SandboxEvent, { type: 'answered' }>;

/** The line of a call: time, method, path, status, duration and, for a failed call, the reason. */
function callLine({ at, method, path, status, durationMs, reason }: Answered): string {
  const outcome = status === 0 ? 'connection dropped' : String(status);
  const why = reason === '' ? '' : ` ${reason}`;
  const line = `${new Date(at).toISOString()} ${method} ${path} ${outcome} ${durationMs.toFixed(1)} ms${why}`;
  // A caller chooses the path and parts of the reason: neither may control the terminal.
  return `${line.slice(0, LONGEST).replace(/[\p{Cc}\p{Cf}]/gu, '?')}\n`;
}
