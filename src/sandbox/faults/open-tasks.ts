/** What goes on in a sandbox apart from its calls, or longer than they are wanted. */
export type Tasks = {
  /** Runs a task after `ms`. One that fails is dropped: its caller is long gone. */
  later(ms: number, task: () => unknown): void;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
  /** Keeps the end of the sandbox waiting for a call that may sleep. */
  follow<T>(call: Promise<T>): Promise<T>;
  /** Wakes what sleeps, does what is still to be done, and ends when all of it is done. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Keeps tasks until they are due. */
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
