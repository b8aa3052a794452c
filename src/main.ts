#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { runProgram } from './cli/program.ts';
import type { Shell } from './cli/shell.ts';
import { describe, PoSyncError, toError } from './core/errors.ts';

/** The first signal asks for a clean end, the second forces it. */
function untilSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
      controller.abort(name);
    });
  }
  return controller.signal;
}

/** On standard error, so that standard output stays what was asked for. */
async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question, { signal: stop });
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}

function openShell(): Shell {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    pid: process.pid,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    streams: { out: process.stdout, err: process.stderr },
    isTTY: process.stdout.isTTY === true,
    get columns() {
      return process.stdout.columns ?? 80;
    },
    ask,
    signal: stop,
    ready: () => void process.send?.('ready'),
  };
}

/** A closed pipe or a full log disk costs lines, never orders. */
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const stop = untilSignal();
const shell = openShell();
try {
  process.exitCode = await runProgram(shell);
} catch (error) {
  // What the user can mend is told in a line or two; anything else is a bug and shows where.
  const told = error instanceof PoSyncError ? describe(error) : (toError(error).stack ?? String(error));
  if (shell.argv.includes('--json')) {
    const { code, facts, remedy } =
      error instanceof PoSyncError ? error : { code: 'internal', facts: {}, remedy: undefined };
    shell.out(`${JSON.stringify({ error: { code, message: toError(error).message, remedy, facts } })}\n`);
  } else {
    shell.err(`po-sync: ${told}\n`);
  }
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
