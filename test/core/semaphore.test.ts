import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../src/core/semaphore.ts';

describe('permits', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Tasks that note their begin and end when told to. */
  function openTasks(most: number) {
    const semaphore = createSemaphore(most);
    const running = new Set<string>();
    const ends = new Map<string, () => void>();
    const gives = new Map<string, () => void>();
    const hold = (name: string) =>
      semaphore.hold(async (giveBack) => {
        running.add(name);
        gives.set(name, giveBack);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        running.delete(name);
      });
    return {
      hold,
      running,
      end: (name: string) => ends.get(name)?.(),
      giveBack: (name: string) => gives.get(name)?.(),
    };
  }

  it('let so many run at once, and then whoever waits longest', async () => {
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

  it('are given back once, early or at the end', async () => {
    const { hold, running, end, giveBack } = openTasks(1);
    const all = Promise.all(['a', 'b', 'c'].map(hold));
    await turn();
    giveBack('a');
    giveBack('a');
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

  it('come back when a task fails', async () => {
    const semaphore = createSemaphore(1);
    await expect(semaphore.hold(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
    expect(await semaphore.hold(async () => 'next')).toBe('next');
  });
});
