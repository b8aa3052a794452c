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
  const known = scripts.get(file.href);
  if (known !== undefined) return known;
  const text = readWithIncludes(file, new Set());
  const script = { text, sha: createHash('sha1').update(text).digest('hex') };
  scripts.set(file.href, script);
  return script;
}

/** Each is read once in a process. */
const scripts = new Map<string, Script>();

function readWithIncludes(file: URL, included: Set<string>): string {
  if (included.has(file.href)) return '';
  included.add(file.href);
  const text = readFileSync(file, 'utf8');
  return text.replace(/^-- include (\S+)$/gm, (_, name: string) =>
    readWithIncludes(new URL(name, file), included),
  );
}

/**
 * Runs a script atomically. Redis forgets scripts at a restart, so the text of an unknown script is sent.
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

/** How requests are grouped. */
type JoinedOptions = {
  /** Maximum number of requests in a group. */
  most: number;
  /** Groups in progress at the same time: with two, one is on its way while Redis works on the other. */
  lanes: number;
};

/**
 * Groups requests that arrive while calls are in progress: a single request is sent at once, many share one round trip.
 * `call` answers a group in its order; when it fails, every request of the group fails.
 */
export function joinedCalls<Request, Answer>(
  call: (group: readonly Request[]) => Promise<readonly Answer[]>,
  { most, lanes }: JoinedOptions,
): (request: Request) => Promise<Answer> {
  let waiting: Waiting<Request, Answer>[] = [];
  let inProgress = 0;

  /** Sends group after group until no request waits. Never rejects. */
  async function run(): Promise<void> {
    inProgress += 1;
    // Requests of the same tick join this group.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.length <= most ? waiting : waiting.slice(0, most);
      waiting = group === waiting ? [] : waiting.slice(most);
      await settle(group);
    }
    inProgress -= 1;
  }

  async function settle(group: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const answers = await call(group.map(({ request }) => request));
      if (answers.length !== group.length)
        throw new Error(`${group.length} requests got ${answers.length} answers`);
      group.forEach(({ resolve }, i) => {
        resolve(answers[i] as Answer);
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      if (inProgress < lanes) void run();
    });
}

type Waiting<Request, Answer> = {
  request: Request;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
