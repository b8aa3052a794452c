#!/usr/bin/env node
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { runProgram } from './cli/program.ts';
import type { Shell } from './cli/shell.ts';

/** The first signal requests a clean stop, a second SIGINT or SIGTERM forces it. */
function untilSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // Shell and kernel each send SIGHUP when a terminal closes, so a second one means nothing.
      if (controller.signal.aborted && name !== 'SIGHUP')
        process.exit(name === 'SIGINT' ? 130 : 143);
      controller.abort(name);
    });
  }
  return controller.signal;
}

/** Asks on standard error, because standard output carries the result. Ctrl-C or a signal at the question is no. */
async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question, { signal: stop });
  } catch {
    process.stderr.write('\n');
    return '';
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
    get rows() {
      return process.stdout.rows ?? 24;
    },
    get columns() {
      return process.stdout.columns ?? 80;
    },
    ask,
    signal: stop,
    ready: () => void process.send?.('ready'),
  };
}

/** A closed pipe or a full disk loses log lines, never orders. */
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Milliseconds for the last lines, once the work has ended. */
const LAST_LINES = 1_000;

/** A reader that hangs keeps its lines waiting forever, and the process with them. */
function endSoon(): void {
  setTimeout(() => process.exit(), LAST_LINES).unref();
}

const stop = untilSignal();
// Other users get no access to what po-sync creates; owner and group keep what they inherit.
process.umask(process.umask() | 0o007);
process.exitCode = await runProgram(openShell());
if (process.connected) process.disconnect();
// A reader may take its time, like a person with a pager; a collector of traces that hangs must not.
const isRead = (stream: NodeJS.WriteStream): Promise<unknown> =>
  stream.writableLength === 0 ? Promise.resolve() : once(stream, 'drain');
if (stop.aborted) endSoon();
else stop.addEventListener('abort', endSoon);
void Promise.all([process.stdout, process.stderr].map(isRead)).then(endSoon, endSoon);
