import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Log } from '../../../src/log/log.ts';
import { capturedLog } from '../../support/captured-log.ts';

type LogEvent = (log: Log, facts: unknown, circumstances: unknown) => void;

const ROOT = path.resolve(import.meta.dirname, '../../..');
const EVENTS = path.join(ROOT, 'src', 'log', 'events');

/** The names in a type's text, with the names of the file's own types resolved. */
function fieldsIn(type: string, aliases: ReadonlyMap<string, string>): string[] {
  const own = [...type.matchAll(/(\w+)\??:/g)].map(([, name = '']) => name);
  const outer = type.replace(/\{[^}]*\}/g, '');
  const named = [...outer.matchAll(/\b[A-Z]\w*/g)].flatMap(([name]) =>
    fieldsIn(aliases.get(name) ?? '', aliases),
  );
  return [...named, ...own];
}

/** The facts of each event, by the name of its function. */
function factsIn(source: string): Map<string, string[]> {
  const aliases = new Map(
    [...source.matchAll(/^(?:export )?type (\w+) = ([^;]*?(?:\{[^}]*\})?);$/gms)].map(
      ([, name = '', text = '']) => [name, text],
    ),
  );
  const functions = source.matchAll(
    /^export function (\w+)\(\s*log: Log,\s*(facts|\w+): (.*?)(?:,\s*(?:\{ \w+ \}|\w+): [^)]*|,\s*)?\): void/gms,
  );
  return new Map(
    [...functions].map(([, name = '', argument = '', type = '']) => [
      name,
      argument === 'facts' ? fieldsIn(type, aliases) : [argument],
    ]),
  );
}

type Event = { event: string; level: string; fields: string[]; says: string };

/** What the program logs, as its code has it. */
async function events(): Promise<Event[]> {
  const found: Event[] = [];
  for (const file of readdirSync(EVENTS)) {
    const facts = factsIn(readFileSync(path.join(EVENTS, file), 'utf8'));
    const module = (await import(path.join(EVENTS, file))) as Record<string, LogEvent>;
    for (const [name, logEvent] of Object.entries(module)) {
      const { log, lines } = capturedLog();
      logEvent(log, {}, {});
      const { event, level, msg } = lines[0] ?? {};
      const fields = facts.get(name) ?? (logEvent.length === 1 ? [] : ['?']);
      found.push({ event: String(event), level: String(level), says: String(msg), fields });
    }
  }
  return found;
}

/** The rows of the table in docs/logs.md. */
function documented(): Event[] {
  const page = readFileSync(path.join(ROOT, 'docs', 'logs.md'), 'utf8');
  return [...page.matchAll(/^\| `([a-z-]+)` \| ([a-z, ]+) \| (.*?) \| (.*?) \|$/gm)].map(
    ([, event = '', level = '', fields = '', says = '']) => ({
      event,
      level,
      fields: [...fields.matchAll(/`(\w+)`/g)].map(([, field = '']) => field),
      says,
    }),
  );
}

const all = await events();
const rows = documented();

it('docs/logs.md has each event once, and no other', () => {
  expect(rows.map(({ event }) => event).sort()).toEqual(all.map(({ event }) => event).sort());
});

it.each(all)('docs/logs.md has the fields and the level of $event', ({ event, level, fields }) => {
  const row = rows.find((one) => one.event === event);
  expect([...(row?.fields ?? [])].sort()).toEqual([...new Set(fields)].sort());
  expect(row?.level.split(', ')).toContain(level);
});
