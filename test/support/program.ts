import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

export type Ended = { code: number | null; signal: NodeJS.Signals | null; out: string; err: string };

/** A po-sync process; `ended` resolves with its exit and everything it printed. */
export type Running = { child: ChildProcess; ended: Promise<Ended>; out(): string };

/** Starts `bin/po-sync` with nothing but these variables and the PATH. */
export function startProgram(
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Running {
  const child = spawn(LAUNCHER, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  // A character may lie across two chunks.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, out, err }));
  return { child, ended, out: () => out };
}
