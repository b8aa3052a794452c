import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { runProgram } from '../../src/cli/program.ts';
import { fakeShell } from './fake-shell.ts';

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
};

/** A po-sync that runs; `ended` resolves with its exit and everything it printed. */
export type Running = {
  /** Its process; within the test's own process only `kill` with SIGTERM or SIGINT has a meaning. */
  child: { kill(signal?: NodeJS.Signals): unknown; pid?: number | undefined };
  ended: Promise<Ended>;
  out(): string;
};

/** `user`: the number of the user who starts it; needs root. */
type Place = { cwd: string; env: Record<string, string>; launcher?: string; user?: number };

/** Starts `bin/po-sync`, or another launcher, with nothing but these variables and the PATH. */
export function startProgram(
  args: readonly string[],
  { cwd, env, launcher = LAUNCHER, user }: Place,
): Running {
  const child = spawn(launcher, args, {
    cwd,
    env: withPath(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  let out = '';
  let err = '';
  // A character may span two chunks.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, out, err }));
  return { child, ended, out: () => out };
}

/** Runs the same program within this process: as fast as a call, and without a process to kill. */
export function startInside(args: readonly string[], { cwd, env }: Place): Running {
  const controller = new AbortController();
  const shell = fakeShell({
    argv: args,
    env: withPath(env),
    cwd,
    pid: process.pid,
    signal: controller.signal,
  });
  shell.streams = { out: { write: shell.out }, err: { write: shell.err } };
  const ended = runProgram(shell).then((code) => ({ code, signal: null, ...shell.written }));
  const kill = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (signal === 'SIGKILL')
      throw new Error('Only a process can be killed: start it with `spawn`.');
    controller.abort(signal);
  };
  return { child: { kill, pid: process.pid }, ended, out: () => shell.written.out };
}

function withPath(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', ...env };
}
