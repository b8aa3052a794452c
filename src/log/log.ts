import { type Logger, pino } from 'pino';
import { createLogLines, type LogTarget } from './log-lines.ts';
import { loggable } from './loggable.ts';
import { prettyLine } from './pretty-line.ts';
import { createRedaction, type Redaction } from './redaction.ts';

/** The program's log. Only the functions of `events/` write to it. */
export type Log = Logger;

export type LogOptions = {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Lines for people instead of JSON. */
  pretty: boolean;
  /** Only with `pretty`. */
  colour?: boolean;
  /** Target of the lines, such as standard output. */
  stream: LogTarget;
  /** Values that are redacted in every line. */
  secrets?: readonly { reveal(): string }[];
  /** Accepts more secrets later, such as tokens. */
  redaction?: Redaction;
};

/**
 * Builds the log: one JSON object a line with `level`, `time` (ISO 8601, UTC), `event`, its facts and `msg`. A closed or
 * full stream loses lines, which are counted; it never ends the program.
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
      // `loggable` has already turned errors into plain values.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }), log: loggable, bindings: loggable },
    },
    lines,
  );
}
