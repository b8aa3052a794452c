import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createSemaphore, holdWithin } from '../../src/core/semaphore.ts';

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

  it('a task that waited too long never runs', async () => {
    const semaphore = createSemaphore(1);
    const first = Promise.withResolvers<void>();
    const held = semaphore.hold(() => first.promise);
    const ran: string[] = [];
    const task = (name: string) => async () => ran.push(name);
    expect(await holdWithin(5, semaphore, task('late'), systemClock)).toBe(undefined);
    first.resolve();
    await held;
    expect(await holdWithin(60_000, semaphore, task('soon'), systemClock)).toBe(1);
    expect(ran).toEqual(['soon']);
  });

  it('units are released when a task fails', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.hold(() => Promise.reject(new Error('no luck')))).rejects.toThrow(
      'no luck',
    );
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
