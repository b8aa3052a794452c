import { spawn } from 'node:child_process';
import { reasonOf } from '../core/errors.ts';
import type { Http } from '../core/http.ts';
import type { Notice } from './notice.ts';

/** `timeout`: of one call, in milliseconds. */
type Deps = { http: Http; timeout: number; signal: AbortSignal };

/** Maximum number of bytes read from an answer. */
const MOST_BYTES = 64 * 1024;

/** Posts a notice as JSON; any 2xx is success. Errors never contain the address, which may be a secret. */
export async function callWebhook(
  address: string,
  notice: Notice,
  { http, timeout, signal }: Deps,
): Promise<void> {
  signal.throwIfAborted();
  const call = http.call({
    method: 'POST',
    url: new URL(address),
    headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'po-sync' },
    body: JSON.stringify(notice),
    timeout,
    maxBytes: MOST_BYTES,
  });
  const answered = new AbortController();
  const end = await Promise.race([call, whenAborted(signal, answered.signal)]).finally(() =>
    answered.abort(),
  );
  const status =
    end.kind === 'answered' ? end.answer.status : end.kind === 'broken' ? end.status : undefined;
  if (status !== undefined && status >= 200 && status < 300) return;
  if (end.kind === 'answered') throw new Error(`the webhook answered ${end.answer.status}`);
  throw new Error(`no answer from the webhook: ${reasonOf(end.error)}`);
}

/** Rejects when `signal` aborts; stops listening when `unneeded` aborts. */
function whenAborted(signal: AbortSignal, unneeded: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(new Error('po-sync is stopping'));
    signal.addEventListener('abort', giveUp, { once: true, signal: unneeded });
  });
}

type Options = {
  /** The program's environment variables, besides those of the notice. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Milliseconds after which the program is killed. */
  timeout: number;
  signal: AbortSignal;
};

/**
 * Runs a program without a shell, the notice as JSON on its standard input and in `PO_SYNC_NOTICE_…` variables.
 * Exit code 0 is success; its output is ignored. Throws with the exit code or signal.
 */
export function runCommand(
  command: readonly string[],
  notice: Notice,
  options: Options,
): Promise<void> {
  const { env, cwd, timeout, signal } = options;
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...variablesOf(notice) },
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout,
      killSignal: 'SIGKILL',
      signal,
    });
    child.once('error', reject);
    child.once('exit', (code, killed) => {
      child.stdin.destroy();
      if (code === 0) resolve();
      else reject(new Error(endingOf(code, killed, timeout)));
    });
    // A program is not required to read its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(notice)}\n`);
  });
}

function endingOf(code: number | null, killed: NodeJS.Signals | null, timeout: number): string {
  if (code !== null) return `the program exited with ${code}`;
  return `the program was killed by ${killed} (time limit ${timeout / 1000} s)`;
}

/** `needPerson` becomes `PO_SYNC_NOTICE_NEED_PERSON`; objects such as the counts are only in the JSON. */
function variablesOf(notice: Notice): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(notice)) {
    if (typeof value === 'object') continue;
    variables[`PO_SYNC_NOTICE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`] =
      `${value}`;
  }
  return variables;
}
