import { type Logger, pino } from 'pino';
import { createLogLines, type LogTarget } from './log-lines.ts';
import { loggable } from './loggable.ts';
import { prettyLine } from './pretty-line.ts';
import { createRedaction, type Redaction } from './redaction.ts';

/** The program's log; written to only by the functions of `events/`. */
export type Log = Logger;

export type LogOptions = {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** For people instead of one JSON object a line. */
  pretty: boolean;
  /** Only with `pretty`. */
  colour?: boolean;
  /** Where the lines go, such as standard output. */
  stream: LogTarget;
  /** Never stand in a line, whatever it says. */
  secrets?: readonly { reveal(): string }[];
  /** Takes more secrets later, such as tokens. */
  redaction?: Redaction;
};

/**
 * Opens the log: one JSON object a line with `level`, `time` (ISO 8601, UTC), the facts of the event and `msg`.
 * A stream that is closed or full loses lines, counts them, and never ends the program.
 */
export function createLog(options: LogOptions): Log {
  const { level, pretty, colour = false, stream, secrets = [], redaction = createRedaction() } = options;
  for (const secret of secrets) redaction.hideSecret(secret.reveal());
  const form = pretty ? prettyLine({ colour }) : (line: string) => line;
  const lines = createLogLines(stream, (line) => form(redaction.redactLine(line)));
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      // `loggable` has made plain values of errors already.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }), log: loggable, bindings: loggable },
    },
    lines,
  );
}
