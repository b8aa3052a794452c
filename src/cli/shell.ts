import type { LogTarget } from '../log/log.ts';

/** Everything that a command may use of its process. Built by `main.ts`; tests build their own. */
export type Shell = {
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  pid: number;
  /** Writes to standard output. */
  out: (text: string) => void;
  /** Writes to standard error. */
  err: (text: string) => void;
  /** Standard output and standard error as streams, for a log that must notice when nobody reads. */
  streams: { out: LogTarget; err: LogTarget };
  isTTY: boolean;
  /** Current width of the terminal. */
  readonly columns: number;
  /** Current height of the terminal. */
  readonly rows: number;
  /** Asks the person at the terminal; undefined if nobody can answer. */
  ask(question: string): Promise<string | undefined>;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP; `reason` is the name of the signal. */
  signal: AbortSignal;
  /** Notifies a process manager (pm2, systemd) that po-sync is ready. */
  ready: () => void;
};
