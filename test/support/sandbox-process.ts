import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { CLIENT_ID, CLIENT_SECRET } from './open-sandbox.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/po-sync');

export const CREDENTIALS = {
  PO_SYNC_STAGING_CLIENT_ID: CLIENT_ID,
  PO_SYNC_STAGING_CLIENT_SECRET: CLIENT_SECRET,
};

/** `po-sync sandbox` in a separate process. */
export type SandboxProcess = AsyncDisposable & {
  child: ChildProcess;
  /** What its first line of standard output says. */
  environment: string;
  baseUrl: string;
  authUrl: string;
  /** Ends it with a signal; gives its exit code, or the signal that killed it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
};

/** Starts one for `staging` on a data folder. */
export async function startSandboxProcess(
  data: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<SandboxProcess> {
  const args = ['sandbox', '--environment', 'staging', '--data', data, ...flags];
  const child = spawn(PROGRAM, args, {
    env: withPath({ ...CREDENTIALS, ...env }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  const [line] = await once(createInterface(child.stdout), 'line');
  async function end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    child.kill(signal);
    const [code, by] = await closed;
    return code ?? by;
  }
  return {
    child,
    ...JSON.parse(String(line)),
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}

/** Runs it to its end, for flags and surroundings that it refuses. */
export async function runSandbox(
  flags: readonly string[],
  env: Record<string, string> = CREDENTIALS,
) {
  const child = spawn(PROGRAM, ['sandbox', ...flags], {
    env: withPath(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', err: '' };
  // A character may be in two chunks.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.err += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...written };
}

/** With the path of the shell that the program begins with. */
function withPath(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env };
}
