import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSemaphore, createTurns } from '../../src/core/semaphore.ts';

describe('a semaphore', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Tasks that end when asked to. */
  function openTasks(most: number) {
    const semaphore = createSemaphore(most);
    const running = new Set<string>();
    const ends = new Map<string, () => void>();
    const gives = new Map<string, () => void>();
    const hold = (name: string) =>
      semaphore.hold(async (release) => {
        running.add(name);
        gives.set(name, release);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        running.delete(name);
      });
    return {
      hold,
      running,
      end: (name: string) => ends.get(name)?.(),
      release: (name: string) => gives.get(name)?.(),
    };
  }

  it('runs as many tasks as it has units, then the one that waited longest', async () => {
    const { hold, running, end } = openTasks(2);
    const all = Promise.all(['a', 'b', 'c', 'd'].map(hold));
    await turn();
    expect([...running]).toEqual(['a', 'b']);
    end('b');
    await turn();
    expect([...running]).toEqual(['a', 'c']);
    end('a');
    await turn();
    end('c');
    end('d');
    await all;
  });

  it('units are released once, early or at the end', async () => {
    const { hold, running, end, release } = openTasks(1);
    const all = Promise.all(['a', 'b', 'c'].map(hold));
    await turn();
    release('a');
    release('a');
    await turn();
    expect([...running]).toEqual(['a', 'b']);
    end('a');
    await turn();
    expect([...running]).toEqual(['b']);
    end('b');
    await turn();
    end('c');
    await all;
  });

  it('units are released when a task fails', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.hold(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
    expect(await semaphore.hold(async () => 'next')).toBe('next');
  });

  describe('with weights', () => {
    function openWeights(capacity: number) {
      const semaphore = createSemaphore(capacity);
      const running: number[] = [];
      const ends: (() => void)[] = [];
      const hold = (weight: number) =>
        semaphore.hold(async () => {
          running.push(weight);
          await new Promise<void>((resolve) => ends.push(resolve));
        }, weight);
      return { hold, running, end: () => ends.shift()?.() };
    }

    it('a heavy task is not overtaken by a light one', async () => {
      const { hold, running, end } = openWeights(10);
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

    it('a task heavier than the capacity runs alone', async () => {
      const { hold, running, end } = openWeights(10);
      const all = Promise.all([20, 20].map(hold));
      await turn();
      expect(running).toEqual([20]);
      end();
      await turn();
      expect(running).toEqual([20, 20]);
      end();
      await all;
    });
  });
});

describe('turns', () => {
  const clock = {
    sleep: async (ms: number, signal?: AbortSignal) => void (await delay(ms, 0, { signal }).catch(() => 0)),
  };

  it('run the tasks of a name one after another, also after one that fails, and others meanwhile', async () => {
    const inTurn = createTurns(clock, 60_000);
    const seen: string[] = [];
    const task = (name: string, ms: number) => async () => {
      seen.push(`${name} begins`);
      await delay(ms);
      seen.push(`${name} ends`);
      if (name === 'a1') throw new Error('a1 fails');
    };
    const all = [inTurn('a', task('a1', 30)), inTurn('a', task('a2', 1)), inTurn('b', task('b1', 1))];
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(seen).toEqual(['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends']);
  });

  it('do not wait for a task longer than they have patience', async () => {
    const inTurn = createTurns(clock, 20);
    const never = inTurn('a', () => new Promise<void>(() => undefined));
    expect(await Promise.race([never, inTurn('a', async () => 'ran')])).toBe('ran');
  });
});
