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
  /** The flags that select what the command works on: commands that its texts name need the same ones. */
  select?: (flags: SelectingFlags) => void;
  /** Completes the commands that a text names, once: before it is broken into lines, or for the log and notices. */
  hints?: (text: string) => string;
};

/**
 * `place`: the flags of the command line that name the configuration and the environment. `confirmation`: the flag that a
 * command needs, too, if it changes something in a protected environment.
 */
export type SelectingFlags = { place: readonly string[]; confirmation: readonly string[] };

/** Commands that work on an environment, as messages name them. */
const COMMANDS =
  /\bpo-sync(?=\s+(?:start|check|map|rehearse|config|status|reconcile|pause|resume|dashboard|doctor|explain|batches|dead-letters)\b)/g;
/** Those that change something there. `pause` needs no confirmation. */
const CHANGING =
  /^\s+(?:start|resume|batches\s+(?:show\|)?(?:release|cancel)|dead-letters\s+(?:retry|discard|resolve)|reconcile\s+--repair)\b/;

/** The same shell. Commands that its texts name work as they are shown on what the command itself works on. */
export function withHints(shell: Shell): Shell {
  let flags: SelectingFlags = { place: [], confirmation: [] };
  const shown = (text: string) =>
    text.replace(COMMANDS, (name, at: number) =>
      [
        name,
        ...flags.place,
        ...(CHANGING.test(text.slice(at + name.length)) ? flags.confirmation : []),
      ].join(' '),
    );
  const own: Partial<Shell> = {
    out: (text) => shell.out(shown(text)),
    err: (text) => shell.err(shown(text)),
    hints: shown,
    select: (selected) => {
      flags = selected;
    },
  };
  // Keeps the getters.
  return Object.assign(Object.create(shell) as Shell, own);
}
