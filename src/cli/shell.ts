import type { LogTarget } from '../log/log-lines.ts';

/** Everything a command may know of the process it runs in; built by `main.ts`, made up by tests. */
export type Shell = {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  pid: number;
  /** Writes to standard output. */
  out: (text: string) => void;
  /** Writes to standard error. */
  err: (text: string) => void;
  /** Standard output and standard error themselves, for a log that must notice when nobody reads. */
  streams: { out: LogTarget; err: LogTarget };
  isTTY: boolean;
  /** Of the terminal as it is now. */
  readonly columns: number;
  /** Asks the person at the terminal one question; undefined when nobody can answer there. */
  ask(question: string): Promise<string | undefined>;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP; `reason` is the signal's name. */
  signal: AbortSignal;
  /** Tells a supervisor (pm2, systemd) that the work has begun. */
  ready: () => void;
};
