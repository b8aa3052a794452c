import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { startLoop } from '../../src/core/loop.ts';
import { until } from '../support/until.ts';

/** Time that stands until it is told to go on; tells how long each sleeper wants to sleep. */
function standingClock(at: number) {
  let now = at;
  const sleeps: number[] = [];
  let wake: (() => void) | undefined;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        sleeps.push(ms);
        wake = () => {
          now += ms;
          resolve();
        };
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  return { clock, sleeps, pass: () => wake?.() };
}

describe('a loop', () => {
  it('keeps to the beat that all loops of its pause share, and never rushes', async () => {
    const { clock, sleeps, pass } = standingClock(1_300);
    const loop = startLoop(async () => undefined, { pause: 1_000, clock, onTrouble: () => undefined });
    await until('it sleeps', () => sleeps.length === 1);
    pass();
    await until('it sleeps again', () => sleeps.length === 2);
    expect(sleeps).toEqual([700, 1_000]);
    await loop[Symbol.asyncDispose]();

    const late = standingClock(1_900);
    const other = startLoop(async () => undefined, { pause: 1_000, clock: late.clock, onTrouble: () => undefined });
    await until('it sleeps', () => late.sleeps.length === 1);
    expect(late.sleeps).toEqual([1_100]);
    await other[Symbol.asyncDispose]();
  });

  it('goes on after a round that failed, and tells it', async () => {
    const { clock, sleeps, pass } = standingClock(0);
    const troubles: string[] = [];
    const fail = () => Promise.reject(new Error('no luck'));
    const loop = startLoop(fail, { pause: 100, clock, onTrouble: ({ message }) => troubles.push(message) });
    await until('it sleeps', () => sleeps.length === 1);
    pass();
    await until('it sleeps again', () => sleeps.length === 2);
    expect(troubles).toEqual(['no luck', 'no luck']);
    await loop[Symbol.asyncDispose]();
  });

  it('ends after the round under way', async () => {
    const { clock } = standingClock(0);
    let ended = false;
    const work = async () => {
      await delay(20);
      ended = true;
    };
    const loop = startLoop(work, { pause: 100, clock, onTrouble: () => undefined });
    await loop[Symbol.asyncDispose]();
    expect(ended).toBe(true);
  });
});
