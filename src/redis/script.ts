import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from './connect.ts';

/** A Lua script that is stored next to its caller. */
export type Script = { sha: string; text: string };

/**
 * Reads a script with the files it includes (`-- include NAME.lua`, next to it), each once. Call with
 * `new URL('./name.lua', import.meta.url)` when the caller is built.
 */
export function readScript(file: URL): Script {
  const text = readWithIncludes(file, new Set());
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

function readWithIncludes(file: URL, included: Set<string>): string {
  if (included.has(file.href)) return '';
  included.add(file.href);
  const text = readFileSync(file, 'utf8');
  return text.replace(/^-- include (\S+)$/gm, (_, name: string) => readWithIncludes(new URL(name, file), included));
}

/**
 * Runs a script atomically. Redis forgets scripts at a restart, so an unknown one is sent whole.
 * The answer is as Redis gives it; callers check its shape.
 */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(script.text, keys.length, ...keys, ...args);
  }
}
