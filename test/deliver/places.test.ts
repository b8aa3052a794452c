import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { createPlaces, type Turn } from '../../src/deliver/places.ts';

/** Places with a clock that moves only when told; each attempt ends when told. */
function openPlaces(concurrency: number, ahead: number) {
  let now = 0;
  const sleeps: { at: number; wake: () => void }[] = [];
  const stopping = new AbortController();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sinceBoot: () => now,
    sleep: (ms, signal) =>
      new Promise((wake) => {
        sleeps.push({ at: now + ms, wake });
        signal?.addEventListener('abort', () => wake());
      }),
  };
  const places = createPlaces({ concurrency, ahead, clock, stopping: stopping.signal });
  const turns = new Map<string, Turn | 'intent'>();
  const ends = new Map<string, () => void>();

  async function begin(...names: string[]): Promise<void> {
    for (const name of names) {
      void places.hold(async (place) => {
        turns.set(name, 'intent');
        turns.set(name, await place.take());
        await new Promise<void>((end) => ends.set(name, end));
      });
    }
    await turn();
  }

  return {
    begin,
    turns,
    stop: async () => {
      stopping.abort();
      await turn();
    },
    async end(...names: string[]): Promise<void> {
      for (const name of names) ends.get(name)?.();
      await turn();
    },
    async pass(ms: number): Promise<void> {
      for (const until = now + ms; now < until; ) {
        now += 50;
        for (const { at, wake } of sleeps) if (at <= now) wake();
        await turn();
      }
    },
  };
}

describe('the places of calls', () => {
  it('are as many as calls may be in flight, and no intent is prepared before one became free', async () => {
    const { begin, turns } = openPlaces(2, 1);
    await begin('a', 'b', 'c', 'd');
    expect([...turns]).toEqual([
      ['a', 'at once'],
      ['b', 'at once'],
    ]);
  });

  it('have a bounded number of intents ahead, of which the oldest takes the next place', async () => {
    const { begin, end, turns } = openPlaces(4, 2);
    await begin('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
    await end('a', 'b');
    expect(Object.fromEntries(turns)).toMatchObject({ e: 'at once', f: 'at once', g: 'intent', h: 'intent' });
    expect(turns.has('i')).toBe(false);
    await end('c');
    expect(Object.fromEntries(turns)).toMatchObject({ g: 'waited', h: 'intent', i: 'intent' });
  });

  it('keep no intent waiting for longer than a second', async () => {
    const { begin, end, pass, turns } = openPlaces(2, 2);
    await begin('a', 'b', 'c', 'd');
    await end('a');
    expect(turns.get('d')).toBe('intent');
    await pass(700);
    expect(turns.get('d')).toBe('intent');
    await pass(800);
    expect(turns.get('d')).toBe('late');
  });

  it('have no intents ahead while no place became free in the last second', async () => {
    const { begin, end, pass, turns } = openPlaces(2, 2);
    await begin('a', 'b', 'c', 'd');
    await end('a');
    await pass(1_500);
    await end('d');
    await begin('e', 'f');
    expect([turns.has('e'), turns.has('f')]).toEqual([false, false]);
  });

  it('end every wait when the process stops', async () => {
    const { begin, end, stop, turns } = openPlaces(2, 1);
    await begin('a', 'b', 'c', 'd');
    await end('a');
    await stop();
    expect(turns.get('d')).toBe('stopped');
    await begin('e');
    await end('b', 'c', 'd');
    expect(turns.get('e')).toBe('stopped');
  });
});
