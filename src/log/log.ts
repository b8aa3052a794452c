import { type LogFn, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { growingWait } from '../core/backoff/backoff.ts';
import { escapeHidden } from '../order/text.ts';
import type { Meter } from './meter.ts';
import { createRedaction, type Redaction } from './redaction.ts';
import type { Tracer } from './tracer.ts';

/**
 * The program's log. Only the functions of `events/` write to it; `meter` counts what they write, for the metrics, and
 * `tracer` records it as spans.
 */
export type Log = Logger & { readonly meter?: Meter; readonly tracer?: Tracer };

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
  /** Monotonic milliseconds. */
  now?: () => number;
};

/**
 * Builds the log: one JSON object a line with `level`, `time` (ISO 8601, UTC), `event`, its facts and `msg`. A closed or
 * full stream loses lines, which are counted; it never ends the program. A failure that repeats is logged once, then
 * with growing gaps.
 */
export function createLog(options: LogOptions): Log {
  const {
    level,
    pretty,
    colour = false,
    stream,
    secrets = [],
    redaction = createRedaction(),
  } = options;
  for (const secret of secrets) redaction.hideSecret(secret.reveal());
  const form = pretty ? prettyLine({ colour }) : (line: string) => line;
  const repeats = createRepeats(options.now ?? (() => performance.now()));
  const lines = createLogLines(stream, (line) => form(redaction.redactLine(line)));
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      hooks: {
        logMethod(given: Parameters<LogFn>, method) {
          const line = repeats.pass(given);
          if (line) method.apply(this, line);
        },
      },
      formatters: { level: (label) => ({ level: label }), log: loggable, bindings: loggable },
    },
    lines,
  );
}

/** The same log, which counts with `meter` and records spans with `tracer` as well. */
export function withWatchers(
  log: Log,
  { meter, tracer }: { meter?: Meter | undefined; tracer?: Tracer | undefined },
): Log {
  const watched: Log = Object.create(log);
  return Object.assign(watched, { ...(meter && { meter }), ...(tracer && { tracer }) });
}

/** A failure that has not recurred for this long is a new one. Longer than any pause between two retries. */
const QUIET = 15 * 60_000;
/** Every connection reports Redis about once a second, so a new outage is known sooner. */
const QUIET_REDIS = 60_000;
/** Events that recur as long as their cause lasts, with the time after which they are new. */
const REPEATING: ReadonlyMap<unknown, number> = new Map([
  ['batch-trouble', QUIET],
  ['delivery-pause-changed', QUIET],
  ['delivery-trouble', QUIET],
  ['expiry-failed', QUIET],
  ['file-trouble', QUIET],
  ['job-taken-back', QUIET],
  ['notice-trouble', QUIET],
  ['private-redis-not-revived', QUIET],
  ['read-model-trouble', QUIET],
  ['redis-trouble', QUIET_REDIS],
  ['tracing-trouble', QUIET],
]);
/** The gap between two lines about the same failure, in milliseconds. */
const GAP = { initial: 10_000, max: 3_600_000 };
/** Failures that are remembered. */
const REMEMBERED = 1_000;

/** Lets a failure pass the first time, then with growing gaps; `repeated` counts what was left out. */
function createRepeats(now: () => number) {
  const failures = new Map<
    string,
    { seen: number; logged: number; times: number; repeated: number }
  >();
  return {
    pass(given: Parameters<LogFn>): Parameters<LogFn> | undefined {
      const [facts, ...rest] = given as unknown as [Record<string, unknown>, string];
      const quiet = REPEATING.get(facts?.['event']);
      if (quiet === undefined) return given;
      const key = JSON.stringify(identityOf(facts));
      const at = now();
      const before = failures.get(key);
      const last =
        before && at - before.seen <= quiet
          ? before
          : { seen: at, logged: at, times: 0, repeated: 0 };
      const isQuiet = last.times > 0 && at - last.logged < growingWait(last.times, GAP);
      failures.delete(key);
      if (failures.size >= REMEMBERED) failures.clear();
      if (isQuiet) {
        failures.set(key, { ...last, seen: at, repeated: last.repeated + 1 });
        return undefined;
      }
      failures.set(key, { seen: at, logged: at, times: last.times + 1, repeated: 0 });
      const more = last.repeated > 0 ? { repeated: last.repeated } : {};
      return [{ ...facts, ...more }, ...rest] as unknown as Parameters<LogFn>;
    },
  };
}

/** What makes two lines the same failure: for a change of reason the codes alone, because its texts contain times. */
function identityOf(facts: Record<string, unknown>): object {
  const { attempt: _, durationMs: _d, ...same } = facts;
  const { event, environment, code, formerCode } = facts;
  return formerCode === undefined ? same : [event, environment, code, formerCode];
}

const HIDDEN = '[redacted]';
/** Names of facts whose value is always redacted. */
const SECRET_NAME =
  /secret|token|password|passwd|authorization|cookie|credential|api_?key|private_?key/i;
const LONGEST_TEXT = 2_000;

/**
 * Reduces facts to what may appear in a log line: plain values. Drops objects, because requests, answers and library errors
 * contain headers and tokens.
 */
export function loggable(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]): [string, unknown][] => {
      if (value === null || typeof value === 'number' || typeof value === 'boolean')
        return [[name, value]];
      if (typeof value !== 'string') return [];
      return [[name, SECRET_NAME.test(name) ? HIDDEN : visible(value)]];
    }),
  );
}

/** A file name must not forge a log line. */
function visible(text: string): string {
  return escapeHidden(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);
}

/** Facts that are shown elsewhere in the line or not at all. */
const FRAME = ['level', 'time', 'event', 'msg'];

/** Converts a JSON log line into one for people: `07:15:00.120 INFO  file claimed  file=orders.csv batch=…`. */
function prettyLine({ colour }: { colour: boolean }): (line: string) => string {
  const pretty = prettyFactory({
    colorize: colour,
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: true,
    levelFirst: false,
    messageFormat: (fact, key) => `${String(fact[key])}${factsOf(fact)}`,
  });
  return (line) => pretty(line);
}

function factsOf(line: Record<string, unknown>): string {
  const facts = Object.entries(line).filter(([name]) => !FRAME.includes(name));
  return facts
    .map(
      ([name, value]) =>
        `  ${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
    )
    .join('');
}

/** Quotes a value that contains spaces. */
function quoted(text: string): string {
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

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
export function createLogLines(
  target: LogTarget,
  form: (line: string) => string,
): { write(line: string): void } {
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
