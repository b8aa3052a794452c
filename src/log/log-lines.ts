/** Where log lines go: standard output, a file, a pipe. */
export type LogTarget = {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  /** Bytes that wait for a slow reader. */
  readonly writableLength?: number;
};

/** Bytes that may wait. Above this limit lines are dropped to save memory. */
const MOST_WAITING = 8 * 1024 * 1024;

/**
 * Writes lines to a stream that can be closed (EPIPE), full (ENOSPC) or slow. Drops lines that cannot be written and
 * logs their number when writing works again.
 */
export function createLogLines(target: LogTarget, form: (line: string) => string): { write(line: string): void } {
  let dropped = 0;
  target.on?.('error', () => {
    dropped += 1;
  });
  return {
    write(line) {
      if ((target.writableLength ?? 0) > MOST_WAITING) {
        dropped += 1;
        return;
      }
      const lost = dropped;
      try {
        target.write(lost === 0 ? form(line) : form(lossLine(lost)) + form(line));
        dropped -= lost;
      } catch {
        dropped += 1;
      }
    },
  };
}

function lossLine(dropped: number): string {
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), event: 'log-lines-lost', dropped, msg: 'log lines lost' })}\n`;
}
