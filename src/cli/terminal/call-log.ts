import type { AnsweredCall } from '../../sandbox/sandbox-options.ts';

/** Pause between two writes, in milliseconds: a write for each call would cost the sandbox more than the call. */
const PAUSE = 100;
/** Longest line. */
const LONGEST = 300;

/** Writes one line per call: time, method, path, status, duration and, for a failed call, the reason. */
export function openCallLog(write: (text: string) => void): AsyncDisposable & { add(call: AnsweredCall): void } {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    write(lines.join(''));
    lines = [];
  }

  return {
    add(call) {
      lines.push(lineOf(call, new Date()));
      timer ??= setTimeout(flush, PAUSE);
    },
    async [Symbol.asyncDispose]() {
      if (timer === undefined) return;
      clearTimeout(timer);
      flush();
    },
  };
}

function lineOf({ method, path, status, durationMs, reason }: AnsweredCall, at: Date): string {
  const outcome = status === 0 ? 'connection dropped' : String(status);
  const why = reason === '' ? '' : ` ${reason}`;
  const line = `${at.toISOString()} ${method} ${path} ${outcome} ${durationMs.toFixed(1)} ms${why}`;
  // A caller chooses the path and parts of the reason: neither may control the terminal.
  return `${line.slice(0, LONGEST).replace(/[\p{Cc}\p{Cf}]/gu, '?')}\n`;
}
