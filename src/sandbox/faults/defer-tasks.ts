/** Tasks that outlive the call that gave them. */
export type DeferredTasks = {
  later(ms: number, task: () => Promise<unknown>): void;
  /** Does at once what is still waiting, and ends when all of it is done. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Keeps tasks until they are due. A task that fails is dropped: its caller is long gone. */
export function deferTasks(): DeferredTasks {
  const waiting = new Map<() => Promise<unknown>, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();

  function run(task: () => Promise<unknown>): void {
    clearTimeout(waiting.get(task));
    waiting.delete(task);
    const done = task()
      .catch(() => undefined)
      .finally(() => running.delete(done));
    running.add(done);
  }

  return {
    later(ms, task) {
      waiting.set(task, setTimeout(run, ms, task));
    },
    async [Symbol.asyncDispose]() {
      for (const task of waiting.keys()) run(task);
      await Promise.all(running);
    },
  };
}
