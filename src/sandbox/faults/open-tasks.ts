/** Work in a sandbox that is delayed or outlives its call. */
export type Tasks = {
  /** Runs a task after `ms` and ignores its failure, because its caller has already gone. */
  later(ms: number, task: () => unknown): void;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
  /** Makes disposal wait for a call that may sleep. */
  follow<T>(call: Promise<T>): Promise<T>;
  /** Wakes all sleepers, runs all pending tasks, and resolves when they have ended. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Opens an empty set of tasks. */
export function openTasks(): Tasks {
  const waiting = new Map<() => unknown, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();

  function run(task: () => unknown): void {
    clearTimeout(waiting.get(task));
    waiting.delete(task);
    void follow((async () => task())());
  }

  function follow<T>(call: Promise<T>): Promise<T> {
    const forget = () => void running.delete(done);
    const done: Promise<void> = call.then(forget, forget);
    running.add(done);
    return call;
  }

  function later(ms: number, task: () => unknown): void {
    waiting.set(task, setTimeout(run, ms, task));
  }

  return {
    later,
    follow,
    sleep: (ms) => new Promise((resolve) => later(ms, resolve)),
    async [Symbol.asyncDispose]() {
      while (waiting.size + running.size > 0) {
        for (const task of waiting.keys()) run(task);
        await Promise.all(running);
      }
    },
  };
}
