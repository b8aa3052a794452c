import { prettyFactory } from 'pino-pretty';

/** Facts that are shown elsewhere in the line or not at all. */
const FRAME = ['level', 'time', 'event', 'msg'];

/** Converts a JSON log line into one for people: `07:15:00.120 INFO  file claimed  file=orders.csv batch=…`. */
export function prettyLine({ colour }: { colour: boolean }): (line: string) => string {
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
    .map(([name, value]) => `  ${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`)
    .join('');
}

/** Quotes a value that contains blanks. */
function quoted(text: string): string {
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
