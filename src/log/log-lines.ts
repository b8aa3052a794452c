/** Where log lines go: standard output, a file, a pipe. */
export type LogTarget = {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  /** Bytes that wait because the reader is slow. */
  readonly writableLength?: number;
};

/** More than this waiting means that nobody reads: memory is worth more than lines. */
const MOST_WAITING = 8 * 1024 * 1024;

/**
 * Hands lines to a stream that may be closed (EPIPE), full (ENOSPC) or slow: such lines are dropped, and their
 * number is told in the first line that gets through again.
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
