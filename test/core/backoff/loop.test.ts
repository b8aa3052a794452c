import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLoop, startLoop } from '../../../src/core/backoff/loop.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { until } from '../../support/until.ts';

/** A clock that advances on `pass` only and records every sleep. */
function standingClock(at: number) {
  let now = at;
  const sleeps: number[] = [];
  let wake: (() => void) | undefined;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sinceBoot: () => now,
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
  it('loops with the same pause wake up together, at least half a pause apart', async () => {
    const { clock, sleeps, pass } = standingClock(1_300);
    const loop = startLoop(async () => undefined, {
      pause: 1_000,
      clock,
      onTrouble: () => undefined,
    });
    await until('it sleeps', () => sleeps.length === 1);
    pass();
    await until('it sleeps again', () => sleeps.length === 2);
    expect(sleeps).toEqual([700, 1_000]);
    await loop[Symbol.asyncDispose]();

    const late = standingClock(1_900);
    const other = startLoop(async () => undefined, {
      pause: 1_000,
      clock: late.clock,
      onTrouble: () => undefined,
    });
    await until('it sleeps', () => late.sleeps.length === 1);
    expect(late.sleeps).toEqual([1_100]);
    await other[Symbol.asyncDispose]();
  });

  it('a failed round is reported and the loop continues', async () => {
    const { clock, sleeps, pass } = standingClock(0);
    const troubles: string[] = [];
    const fail = () => Promise.reject(new Error('no luck'));
    const loop = startLoop(fail, {
      pause: 100,
      clock,
      onTrouble: ({ message }) => troubles.push(message),
    });
    await until('it sleeps', () => sleeps.length === 1);
    pass();
    await until('it sleeps again', () => sleeps.length === 2);
    expect(troubles).toEqual(['no luck', 'no luck']);
    await loop[Symbol.asyncDispose]();
  });

  it('disposing waits for the round in progress', async () => {
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

  it('a hint ends the pause, but never makes two rounds follow within 50 ms', async () => {
    const { clock, sleeps, pass } = standingClock(0);
    let rounds = 0;
    await using loop = createLoop(clock, async () => {
      rounds += 1;
      return 10_000;
    });
    loop.start();
    await until('it sleeps', () => sleeps.length === 1);
    loop.hint();
    await until('it keeps its distance', () => sleeps.length === 2);
    expect(rounds).toBe(1);
    expect(sleeps).toEqual([10_000, 50]);
    pass();
    await until('the next round', () => rounds === 2);
  });
});
