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
  /** The command works on this protected environment: commands that its texts name need `--confirm`. */
  protect?: (environment: string) => void;
};

/** Commands that change something, as messages name them. `pause` needs no confirmation. */
const CHANGING =
  /\bpo-sync(?=\s+(?:start|resume|batches\s+(?:show\|)?(?:release|cancel)|dead-letters\s+(?:retry|discard|resolve)|reconcile\s+--repair)\b)/g;

/** The same shell. On a protected environment, commands that its texts name can be run as they are shown. */
export function withHints(shell: Shell): Shell {
  let command = 'po-sync';
  const shown = (text: string) => text.replace(CHANGING, () => command);
  const own: Partial<Shell> = {
    out: (text) => shell.out(shown(text)),
    err: (text) => shell.err(shown(text)),
    protect: (environment) => {
      command = `po-sync --confirm ${environment}`;
    },
  };
  // Keeps the getters.
  return Object.assign(Object.create(shell) as Shell, own);
}
