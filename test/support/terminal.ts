import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { runProgram } from '../../src/cli/program.ts';
import { fakeShell } from './fake-shell.ts';
import { credentials, type Workplace } from './workplace.ts';

const LAUNCHER = path.resolve(import.meta.dirname, '../../bin/po-sync');

type OnTerminal = {
  child: ChildProcess;
  ended: Promise<number>;
  out: () => string;
  type: (text: string) => void;
};

/** `bin/po-sync` on a pseudo terminal of so many columns; `out` is every byte that the terminal was sent. */
export function onTerminal(
  place: Workplace,
  args: string,
  env: Record<string, string> = {},
  columns = 80,
): OnTerminal {
  const command = `stty cols ${columns} rows 24; exec ${LAUNCHER} ${args}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: place.folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      TERM: 'xterm',
      ...credentials('STAGING'),
      PO_SYNC_CONFIG: place.config,
      PO_SYNC_ADMIN_PORT: '0',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  // A character may be in two chunks.
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const ended = once(child, 'close').then(([code]) => Number(code));
  return { child, ended, out: () => out, type: (text) => void child.stdin.write(text) };
}

/** What the program shows on a terminal of so many columns, line by line; runs within this process. */
export async function shownOnTerminal(
  place: Workplace,
  args: string,
  columns: number,
  env: Record<string, string> = {},
): Promise<string[]> {
  const shell = fakeShell({
    argv: args.split(' '),
    cwd: place.folder,
    env: { TERM: 'xterm', PO_SYNC_CONFIG: place.config, ...credentials('STAGING'), ...env },
    isTTY: true,
    columns,
  });
  await runProgram(shell);
  return (shell.written.out + shell.written.err).split('\n');
}
