import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { createPlaces, type Place, type Turn } from '../../src/deliver/places.ts';
import { runs } from '../support/runs.ts';

/** Places with a clock that moves only on request; each attempt ends on request. */
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
  let troubles = 0;
  const places = createPlaces({
    concurrency,
    ahead,
    clock,
    stopping: stopping.signal,
    troubles: () => troubles,
  });
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

  /** Times at which attempts began that pass the opening first, in the order in which they asked. */
  const beganAt: number[] = [];
  const entered: Place[] = [];
  const enter = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      void places.hold(async (place) => {
        await place.enter();
        beganAt.push(now);
        entered.push(place);
        await new Promise<void>((end) => ends.set(`entered ${entered.length}`, end));
      });
    }
    return turn();
  };

  return {
    begin,
    turns,
    enter,
    beganAt,
    /** The API answers the oldest attempt in flight, and it ends. */
    async answer(isAnswered: boolean): Promise<void> {
      const place = entered.shift();
      if (isAnswered) place?.answered();
      place?.release();
      await turn();
    },
    inFlight: () => entered.length,
    trouble: () => {
      troubles += 1;
    },
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
    expect(Object.fromEntries(turns)).toMatchObject({
      e: 'at once',
      f: 'at once',
      g: 'intent',
      h: 'intent',
    });
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

describe('the ramp-up of delivery', () => {
  it('lets one call begin every quarter of a second until one is answered', async () => {
    const { enter, pass, beganAt } = openPlaces(64, 16);
    await enter(100);
    await pass(2_000);
    expect(beganAt).toEqual([0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750, 2_000]);
  });

  it('then lets as many be in flight as were answered, and starts again after trouble', async () => {
    const { enter, pass, answer, inFlight, trouble, beganAt } = openPlaces(64, 16);
    await enter(1_000);
    await answer(true);
    expect(inFlight()).toBe(1);
    await answer(true);
    expect(inFlight()).toBe(2);
    await answer(true);
    await answer(true);
    expect(inFlight()).toBe(4);
    trouble();
    const before = beganAt.length;
    for (let i = 0; i < 4; i += 1) await answer(false);
    expect(beganAt.length).toBe(before);
    await pass(1_000);
    expect(beganAt.length).toBe(before + 4);
  });

  it('never lets more than five unanswered calls begin in a second, in whatever order calls end', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.integer({ min: 1, max: 12 }).map((n) => n * 50),
      }),
      fc.constant({ kind: 'fail' as const }),
      fc.constant({ kind: 'trouble' as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { enter, pass, answer, trouble, beganAt, stop } = openPlaces(64, 16);
        await enter(200);
        for (const one of steps) {
          if (one.kind === 'pass') await pass(one.ms);
          else if (one.kind === 'fail') await answer(false);
          else trouble();
        }
        const busiest = Math.max(
          ...beganAt.map((from) => beganAt.filter((at) => at >= from && at < from + 1_000).length),
        );
        expect(busiest).toBeLessThanOrEqual(5);
        await stop();
      }),
      { numRuns: runs(100) },
    );
  });

  it('ends once as many calls as may be in flight were answered', async () => {
    const { enter, answer, inFlight } = openPlaces(8, 2);
    await enter(100);
    for (let i = 0; i < 8; i += 1) await answer(true);
    expect(inFlight()).toBeGreaterThanOrEqual(8);
  });
});
