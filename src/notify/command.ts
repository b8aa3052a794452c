import { type ChildProcess, spawn } from 'node:child_process';
import type { Notice } from './notice.ts';

type Options = {
  /** All that the program sees of our environment. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** After so many milliseconds it is killed. */
  timeout: number;
  signal: AbortSignal;
};

/** What is kept of a program's output. */
const MOST_OUTPUT = 2_000;
/** How long output may come after the program has ended: what it started may hold the pipe for ever. */
const LAST_WORDS = 200;

/**
 * Runs a program without a shell, the notice as JSON on its standard input and in `PO_SYNC_NOTICE_…` variables.
 * Exit code 0 is success. Throws with how it ended and the beginning of its output.
 */
export function runCommand(command: readonly string[], notice: Notice, options: Options): Promise<void> {
  const { env, cwd, timeout, signal } = options;
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...variablesOf(notice) },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout,
      killSignal: 'SIGKILL',
      signal,
    });
    const output = keepOutput(child);
    child.once('error', reject);
    child.once('exit', (code, killed) => {
      const settle = () => {
        clearTimeout(late);
        for (const pipe of [child.stdout, child.stderr, child.stdin]) pipe.destroy();
        if (code === 0) resolve();
        else reject(new Error(`${endingOf(code, killed, timeout)}${output() === '' ? '' : `: ${output()}`}`));
      };
      const late = setTimeout(settle, LAST_WORDS);
      child.once('close', settle);
    });
    // A program that does not read what it is told is none of our business.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(notice)}\n`);
  });
}

function keepOutput({ stdout, stderr }: ChildProcess): () => string {
  let kept = '';
  for (const pipe of [stdout, stderr]) {
    pipe?.on('error', () => undefined);
    pipe?.on('data', (chunk: Buffer) => {
      if (kept.length < MOST_OUTPUT) kept = (kept + chunk.toString()).slice(0, MOST_OUTPUT);
    });
  }
  return () => kept.trim();
}

function endingOf(code: number | null, killed: NodeJS.Signals | null, timeout: number): string {
  if (code !== null) return `the program ended with ${code}`;
  return `the program was ended by ${killed} (it has ${timeout / 1000} s)`;
}

/** `needPerson` → `PO_SYNC_NOTICE_NEED_PERSON`; tables such as the counts are in the JSON only. */
function variablesOf(notice: Notice): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(notice)) {
    if (typeof value === 'object') continue;
    variables[`PO_SYNC_NOTICE_${name.replace(/[A-Z]/g, (deadLetter) => `_${deadLetter}`).toUpperCase()}`] = `${value}`;
  }
  return variables;
}
