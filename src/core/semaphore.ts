/** A bounded number of rights; whoever waits longest is next. */
export type Semaphore = {
  /** Runs the task while holding one right; the task may give it back before its end. */
  hold<T>(task: (giveBack: () => void) => Promise<T>): Promise<T>;
};

/** At most `most` tasks at once: the calls in flight of a daemon. */
export function createSemaphore(most: number): Semaphore {
  let free = most;
  const waiting: (() => void)[] = [];

  async function acquire(): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function release(): void {
    const heir = waiting.shift();
    if (heir) heir();
    else free += 1;
  }

  return {
    async hold(task) {
      await acquire();
      let isHeld = true;
      const giveBack = () => {
        if (isHeld) release();
        isHeld = false;
      };
      try {
        return await task(giveBack);
      } finally {
        giveBack();
      }
    },
  };
}
