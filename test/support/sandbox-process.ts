import { CLIENT_ID, CLIENT_SECRET } from './open-sandbox.ts';
import { type Ended, type Running, startProgram } from './program.ts';
import { until } from './until.ts';

export const CREDENTIALS = {
  PO_SYNC_STAGING_CLIENT_ID: CLIENT_ID,
  PO_SYNC_STAGING_CLIENT_SECRET: CLIENT_SECRET,
};

/** `po-sync sandbox` in a separate process. */
export type SandboxProcess = AsyncDisposable & {
  child: Running['child'];
  /** What its first line of standard output says. */
  environment: string;
  baseUrl: string;
  authUrl: string;
  /** Ends it with a signal; gives its exit code, or the signal that killed it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
};

/** Starts one for `staging` on a data folder. */
export async function startSandboxProcess(
  data: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<SandboxProcess> {
  const args = ['sandbox', '--environment', 'staging', '--data', data, ...flags];
  const { child, ended, out } = start(args, { ...CREDENTIALS, ...env });
  const line = await until('its addresses', () => /^.*\n/.exec(out())?.[0]);
  async function end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    child.kill(signal);
    const { code, signal: by } = await ended;
    return code ?? by;
  }
  return {
    child,
    ...JSON.parse(line),
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}

/** Runs it to its end, for flags and surroundings that it refuses. */
export const runSandbox = (
  flags: readonly string[],
  env: Record<string, string> = CREDENTIALS,
): Promise<Ended> => start(['sandbox', ...flags], env).ended;

const start = (args: readonly string[], env: Record<string, string>): Running =>
  startProgram(args, { cwd: process.cwd(), env });
