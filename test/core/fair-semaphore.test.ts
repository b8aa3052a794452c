import { describe, expect, it } from 'vitest';
import { createFairSemaphore } from '../../src/core/fair-semaphore.ts';

describe('orders in hand', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  function opened(most: number) {
    const inHand = createFairSemaphore(most);
    const running: number[] = [];
    const ends: (() => void)[] = [];
    const hold = (orders: number) =>
      inHand.hold(orders, async () => {
        running.push(orders);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    return { hold, running, end: () => ends.shift()?.() };
  }

  it('are bounded; whoever waits longest is next', async () => {
    const { hold, running, end } = opened(10);
    const all = Promise.all([4, 6, 5, 1].map(hold));
    await turn();
    expect(running).toEqual([4, 6]);
    end();
    await turn();
    expect(running).toEqual([4, 6]);
    end();
    await turn();
    expect(running).toEqual([4, 6, 5, 1]);
    end();
    end();
    await all;
  });

  it('may be more than that when nothing else is in hand', async () => {
    const { hold, running, end } = opened(10);
    const all = Promise.all([20, 20].map(hold));
    await turn();
    expect(running).toEqual([20]);
    end();
    await turn();
    expect(running).toEqual([20, 20]);
    end();
    await all;
  });

  it('make room also when a task fails', async () => {
    const inHand = createFairSemaphore(1);
    await expect(inHand.hold(1, () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
    expect(await inHand.hold(1, async () => 'next')).toBe('next');
  });
});
