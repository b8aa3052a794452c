import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readSecret, secretFilesFrom } from '../../config/secret.ts';
import { ENVIRONMENT, variablePrefix } from '../../config/variables.ts';
import { codeOf, PoSyncError, toError } from '../../core/errors.ts';
import { makePathSync, PRIVATE_FOLDER } from '../../core/folder.ts';
import { readTextIfExists } from '../../core/regular-file.ts';
import type { Certificate } from '../../sandbox/certificate.ts';
import { unusable } from '../../sandbox/database.ts';
import type { AnsweredCall, SandboxOptions } from '../../sandbox/sandbox-options.ts';
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
  const tls = options.tls ?? (args.tls ? await selfSignedFor(options, shell) : undefined);
  // The caller got a 500; the operator of the sandbox needs the cause.
  const onCrash = (error: Error) =>
    shell.err(`The sandbox failed to answer a call: ${error.message}\n`);
  await using calls = openCallLog(shell.err);
  await using sandbox = await startSandbox({ ...options, tls, onCrash, onCall: calls.add });
  const { environment, baseUrl, authUrl } = sandbox;
  shell.out(`${JSON.stringify({ environment, baseUrl, authUrl })}\n`);
  shell.ready();
  const stopped = shell.signal.aborted || once(shell.signal, 'abort');
  const broken = await Promise.race([sandbox.ended, stopped]);
  if (!(broken instanceof Error)) return 0;
  throw new PoSyncError(
    'sandbox-ended',
    `The sandbox can no longer store orders: ${broken.message}`,
    {
      remedy: 'Start it again. Every order that it answered is stored.',
      cause: broken,
    },
  );
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

async function selfSignedFor(options: SandboxOptions, shell: Shell): Promise<Certificate> {
  const { selfSigned } = await import('../../sandbox/certificate.ts');
  const publicHost = options.publicUrl === undefined ? [] : [new URL(options.publicUrl).hostname];
  const hosts = [...publicHost, ...(options.host === undefined ? [] : [options.host])];
  const made = selfSigned(options.memory ? undefined : options.data, options.environment, hosts);
  if (made.file === undefined)
    shell.err(`Self-signed certificate of this run, for clients to trust:\n${made.cert}`);
  else shell.err(`Self-signed certificate: ${made.file}. Let clients trust this file.\n`);
  return made;
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
  return (await readSecret(name, env, secretFilesFrom(cwd)))?.value;
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

/** Pause between two writes, in milliseconds: a write for each call would cost the sandbox more than the call. */
const PAUSE = 100;
/** Longest line. */
const LONGEST = 300;

/** Writes one line per call: time, method, path, status, duration and, for a failed call, the reason. */
function openCallLog(
  write: (text: string) => void,
): AsyncDisposable & { add(call: AnsweredCall): void } {
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
