/** A bounded number of orders in hand, chunk by chunk. */
export type FairSemaphore = {
  /** Runs the task when there is room for so many orders, or nothing else is in hand. */
  hold<T>(orders: number, task: () => Promise<T>): Promise<T>;
};

/**
 * Bounds how many orders are looked up before their turn to be sent: what is known of them would age and fill memory,
 * while another daemon might send them.
 */
export function createFairSemaphore(most: number): FairSemaphore {
  let inHand = 0;
  const waiting: { orders: number; enter: () => void }[] = [];

  async function enter(orders: number): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push({ orders, enter: resolve });
      letIn();
    });
  }

  function letIn(): void {
    for (let first = waiting[0]; first && fits(first.orders); first = waiting[0]) {
      waiting.shift();
      inHand += first.orders;
      first.enter();
    }
  }

  function fits(orders: number): boolean {
    return inHand === 0 || inHand + orders <= most;
  }

  return {
    async hold(orders, task) {
      await enter(orders);
      try {
        return await task();
      } finally {
        inHand -= orders;
        letIn();
      }
    },
  };
}
