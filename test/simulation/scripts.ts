import { globSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readScript } from '../../src/redis/script.ts';
import type { Command } from './commands.ts';
import { compileLua, type LuaScript } from './lua.ts';
import { Table } from './lua-library.ts';
import type { Store } from './store.ts';

const SRC = path.resolve(import.meta.dirname, '../../src');

/** Every script of src by its file, as Redis knows and runs it. */
export const SCRIPTS = new Map(
  globSync('**/*.lua', { cwd: SRC }).map((file) => [
    file,
    readScript(pathToFileURL(path.join(SRC, file))),
  ]),
);
const TEXTS = new Map([...SCRIPTS.values()].map(({ sha, text }) => [sha, text]));
const compiled = new Map<string, LuaScript>();

/** Of a script that src has in a file. */
export function textOf(sha: string): string {
  const text = TEXTS.get(sha);
  if (text === undefined) throw new Error('a script that is in no file of src');
  return text;
}

/** Runs a script on the simulated Redis. */
export function runOn(
  store: Store,
  commands: Readonly<Record<string, Command>>,
  text: string,
  keys: readonly string[],
  args: readonly string[],
): unknown {
  const script = compiled.get(text) ?? compileLua(text);
  compiled.set(text, script);
  const call = (name: unknown, ...rest: readonly unknown[]): unknown[] => {
    const command = commands[String(name).toLowerCase()];
    if (command === undefined) throw new Error(`the simulated Redis has no ${String(name)}`);
    return [given(command(store, rest.map(String)))];
  };
  return answered(script(call, new Table([...keys]), new Table([...args])));
}

/** What a script gets from a command: false for nothing. */
function given(answer: unknown): unknown {
  if (answer === null || answer === undefined) return false;
  if (Array.isArray(answer)) return new Table(answer.map(given));
  return typeof answer === 'object' ? new Table(Object.entries(answer).flat()) : answer;
}

/** What Redis answers with the result of a script. */
function answered(result: unknown): unknown {
  if (result instanceof Table) return result.list.map(answered);
  if (result === undefined || result === false) return null;
  return typeof result === 'number' ? Math.trunc(result) : result === true ? 1 : result;
}
