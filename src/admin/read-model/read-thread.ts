import { Worker } from 'node:worker_threads';
import { toError } from '../../core/errors.ts';
import type { ReadAnswer, ReadCall, Reads } from './read-program.ts';

/** The functions of the thread; each answers when its turn comes. */
type Remote = {
  [Name in keyof Reads]: (
    ...given: Parameters<Reads[Name]>
  ) => Promise<Awaited<ReturnType<Reads[Name]>>>;
};

export type ReadThread = Remote & AsyncDisposable & { readonly isDead: boolean };

/** Memory of the thread, in MB: dead letters beyond it end the thread, never the daemon. */
const MEMORY = 1024;

/** Starts the thread that reads reports and searches dead letters. After it has ended, every call rejects. */
export function openReadThread(): ReadThread {
  const thread = startThread();
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let dead: Error | undefined;
  let calls = 0;
  thread.unref();

  function die(error: Error): void {
    dead ??= error;
    for (const { reject } of open.values()) reject(dead);
    open.clear();
  }

  function remote(name: keyof Reads) {
    return async (...given: unknown[]): Promise<never> => {
      if (dead !== undefined) throw dead;
      const id = ++calls;
      const answer = Promise.withResolvers<unknown>();
      open.set(id, answer);
      thread.postMessage({ id, name, given } satisfies ReadCall);
      // TypeScript cannot derive the type of an answer from its call.
      return answer.promise as Promise<never>;
    };
  }

  thread.on('message', (answer: ReadAnswer) => {
    const waiting = open.get(answer.id);
    open.delete(answer.id);
    if ('error' in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.value);
  });
  thread.on('error', (thrown) => die(toError(thrown)));
  thread.on('exit', () => die(new Error('The thread that reads reports has ended.')));
  return {
    put: remote('put'),
    remove: remote('remove'),
    page: remote('page'),
    summary: remote('summary'),
    numberOf: remote('numberOf'),
    load: remote('load'),
    find: remote('find'),
    orders: remote('orders'),
    get isDead() {
      return dead !== undefined;
    },
    async [Symbol.asyncDispose]() {
      await thread.terminate();
    },
  };
}

function startThread(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY };
  return new Worker(new URL('./read-program.ts', import.meta.url), { resourceLimits });
}
