import { describe, expect, it } from 'vitest';
import { joinedCalls } from '../../src/redis/script.ts';

describe('joined calls', () => {
  /** Calls that end on request; each doubles its numbers. */
  function opened(most = 10, lanes = 1) {
    const groups: number[][] = [];
    const ends: (() => void)[] = [];
    const ask = joinedCalls<number, number>(
      async (group) => {
        groups.push([...group]);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (group.includes(13)) throw new Error('unlucky');
        return group.map((one) => one * 2);
      },
      { most, lanes },
    );
    return { groups, ask, end: () => ends.shift()?.() };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('a single request is sent at once', async () => {
    const { groups, ask, end } = opened();
    const one = ask(1);
    await turn();
    expect(groups).toEqual([[1]]);
    end();
    expect(await one).toBe(2);
  });

  it('share the trip with all of the same moment, and with what came while one was under way', async () => {
    const { groups, ask, end } = opened();
    const first = [ask(1), ask(2)];
    await turn();
    const second = [ask(3), ask(4), ask(5)];
    await turn();
    expect(groups).toEqual([[1, 2]]);
    end();
    expect(await Promise.all(first)).toEqual([2, 4]);
    await turn();
    expect(groups).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    end();
    expect(await Promise.all(second)).toEqual([6, 8, 10]);
  });

  it('are bounded', async () => {
    const { groups, ask, end } = opened(2);
    const all = Promise.all([1, 2, 3].map(ask));
    await turn();
    end();
    await turn();
    end();
    expect(await all).toEqual([2, 4, 6]);
    expect(groups).toEqual([[1, 2], [3]]);
  });

  it('have as many groups under way as there are lanes', async () => {
    const { groups, ask, end } = opened(10, 2);
    const all = [ask(1)];
    await turn();
    all.push(ask(2));
    await turn();
    all.push(ask(3));
    await turn();
    expect(groups).toEqual([[1], [2]]);
    end();
    await turn();
    expect(groups).toEqual([[1], [2], [3]]);
    end();
    end();
    expect(await Promise.all(all)).toEqual([2, 4, 6]);
  });

  it('fail together, and the next ones continue', async () => {
    const { ask, end } = opened();
    const bad = Promise.allSettled([ask(1), ask(13)]);
    await turn();
    const good = ask(2);
    end();
    expect((await bad).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turn();
    end();
    expect(await good).toBe(4);
  });

  it('refuse answers that do not fit', async () => {
    const ask = joinedCalls<number, number>(async () => [], { most: 10, lanes: 1 });
    await expect(ask(1)).rejects.toThrow('1 requests got 0 answers');
  });
});
