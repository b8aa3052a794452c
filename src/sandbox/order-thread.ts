import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type ErrorFacts, PoSyncError, toError } from '../core/errors.ts';
import type { OrderTable } from './database.ts';
import type { RemoteTable } from './order-store.ts';

/** Which orders the thread stores; with `unique` each number is stored only once. */
export type TableOpening = {
  folder: string | undefined;
  environment: string;
  unique: boolean;
  reset?: boolean;
};

/** A call to a method of `OrderTable`. */
export type TableCall = { name: keyof OrderTable; given: unknown[] };

/** Answers arrive in the order of the calls, after a first answer that reports whether the file is open. */
export type TableAnswer =
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; error: Error }
  | { kind: 'refused'; code: string; message: string; remedy: string; facts: ErrorFacts };

export type OrderThread = RemoteTable & AsyncDisposable & { ended: Promise<Error> };

/**
 * Opens the order table of an environment in a worker thread, which ends after its last call when disposed.
 * Rejects with PoSyncError `sandbox-data-in-use` or `sandbox-data-unusable`. After the thread has ended, every call
 * rejects, and `ended` resolves with the reason.
 */
export async function openOrderThread(opening: TableOpening): Promise<OrderThread> {
  const thread = new Worker(new URL('./order-program.ts', import.meta.url), {
    workerData: opening,
  });
  const open: PromiseWithResolvers<unknown>[] = [];
  const ended = Promise.withResolvers<Error>();
  let dead: Error | undefined;

  function expect(): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>();
    open.push(answer);
    return answer.promise;
  }

  function die(error: Error): void {
    dead ??= error;
    ended.resolve(dead);
    for (const answer of open.splice(0)) answer.reject(dead);
  }

  async function call(name: keyof OrderTable, given: unknown[]): Promise<unknown> {
    if (dead !== undefined) throw dead;
    thread.postMessage({ name, given } satisfies TableCall);
    return expect();
  }

  thread.on('message', (answer: TableAnswer) => settle(answer, open.shift()));
  thread.on('error', (thrown) => die(toError(thrown)));
  thread.on('exit', () => die(new Error('The thread that stores the orders has ended.')));
  await expect();
  // TypeScript cannot derive the type of an answer from its call.
  const remote =
    (name: keyof OrderTable) =>
    (...given: unknown[]) =>
      call(name, given) as Promise<never>;
  return {
    insert: remote('insert'),
    range: remote('range'),
    capped: remote('capped'),
    page: remote('page'),
    find: remote('find'),
    ended: ended.promise,
    async [Symbol.asyncDispose]() {
      if (dead !== undefined) return;
      const exit = once(thread, 'exit');
      thread.postMessage('close');
      await exit;
    },
  };
}

function settle(answer: TableAnswer, to: PromiseWithResolvers<unknown> | undefined): void {
  switch (answer.kind) {
    case 'done':
      to?.resolve(answer.value);
      return;
    case 'failed':
      to?.reject(answer.error);
      return;
    case 'refused':
      to?.reject(new PoSyncError(answer.code, answer.message, answer));
      return;
  }
}
