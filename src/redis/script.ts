import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from './connect.ts';

/** A Lua script that lies beside its caller. */
export type Script = { sha: string; text: string };

/** Reads a script; call with `new URL('./name.lua', import.meta.url)` when the caller is built. */
export function readScript(file: URL): Script {
  const text = readFileSync(file, 'utf8');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
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
