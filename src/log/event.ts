import type { Log } from './log.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Counts or traces an event. */
type Watch<Facts, More extends unknown[]> = (log: Log, facts: Facts, ...more: More) => void;

/**
 * Declares an event of the log whose level depends on its facts. Its line has the facts, and the words of its name as
 * message. `More`: what `level` and `watch` need besides the facts.
 */
export function event<Facts extends object, More extends unknown[] = []>(
  level: (facts: Facts, ...more: More) => Level,
  name: string,
  watch?: Watch<Facts, More>,
) {
  return (log: Log, facts: Facts, ...more: More): void => {
    watch?.(log, facts, ...more);
    log[level(facts, ...more)]({ event: name, ...(facts as object) }, name.replaceAll('-', ' '));
  };
}

function eventsAt(level: Level) {
  return <Facts extends object>(name: string, watch?: Watch<Facts, []>) =>
    event<Facts>(() => level, name, watch);
}

/** Each declares an event of one level. */
export const debug = eventsAt('debug');
export const info = eventsAt('info');
export const warn = eventsAt('warn');
export const error = eventsAt('error');
