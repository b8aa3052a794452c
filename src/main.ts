#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { runProgram } from './cli/program.ts';
import type { Shell } from './cli/shell.ts';

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
process.exitCode = await runProgram(openShell());
if (process.connected) process.disconnect();
