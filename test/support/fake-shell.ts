import type { Shell } from '../../src/cli/shell.ts';

/** A shell that keeps what is written, for commands that are called within the test. */
export function fakeShell(
  more: Partial<Shell> = {},
): Shell & { written: { out: string; err: string } } {
  const written = { out: '', err: '' };
  return {
    argv: [],
    env: {},
    cwd: '/',
    pid: 1,
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    streams: { out: { write: () => true }, err: { write: () => true } },
    isTTY: false,
    columns: 80,
    rows: 24,
    ask: async () => undefined,
    signal: new AbortController().signal,
    ready: () => undefined,
    ...more,
    written,
  };
}
