import { describe, expect, it } from 'vitest';
import { freezes } from './freezes.ts';
import { kills } from './kills.ts';
import { listForbidden } from './list-forbidden.ts';
import { randomFaults } from './random-faults.ts';
import {
  flushes,
  oldFileRestored,
  privateRedisKills,
  queueObliterated,
  redisKills,
} from './redis-trouble.ts';

/** Runs one and prints what it measured, for docs/guarantees.md. */
async function measured<T>(name: string, run: Promise<T>): Promise<T> {
  const began = performance.now();
  const figures = await run;
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(`${name}: ${JSON.stringify(figures)} in ${seconds} s\n`);
  return figures;
}

const ALL_THERE = { lost: 0, double: 0, givenUp: 0, untidy: [] };

describe('the API', () => {
  it('failing 3 of 10 calls in every way loses none of 10,000 orders, creates none twice, and fails none', async () => {
    const figures = await measured('every kind of fault', randomFaults(10_000));
    expect(figures).toMatchObject({ ...ALL_THERE, orders: 10_000 });
    expect(figures.struck / figures.calls).toBeGreaterThan(0.25);
    expect(figures.peakMb).toBeLessThan(200);
  });

  it('that forbids its list while connections drop doubles nothing and leaves the rest to a person', async () => {
    const figures = await measured('list forbidden', listForbidden(2_000));
    expect(figures).toMatchObject({ lost: 0, double: 0, untidy: [] });
    expect(figures.inDoubt).toBeGreaterThan(200);
    expect(figures).toMatchObject({ inDoubt: figures.struck, givenUp: figures.struck });
    expect(figures.accepted + figures.inDoubt).toBe(2_000);
  });
});

describe('kill -9', () => {
  it('of one of two daemons, 100 times, loses and doubles nothing, each file with one report', async () => {
    const figures = await measured('daemons killed', kills(100));
    expect(figures).toMatchObject({ ...ALL_THERE, kills: 100, files: 100 });
    expect(figures.peakMb).toBeLessThan(200);
  });

  it('of Redis, 20 times, loses and doubles nothing', async () => {
    expect(await measured('Redis killed', redisKills(20))).toMatchObject({
      ...ALL_THERE,
      kills: 20,
    });
  });

  it('of the private Redis, 20 times, and of a daemon with it, loses and doubles nothing', async () => {
    const figures = await measured('private Redis killed', privateRedisKills(20));
    expect(figures).toMatchObject({ ...ALL_THERE, kills: 20, daemonsKilled: 10 });
  });
});

describe('Redis', () => {
  it('flushed in the middle of the work, 10 times, is noticed each time and doubles nothing', async () => {
    const figures = await measured('FLUSHALL', flushes(10, 600));
    expect(figures).toMatchObject(ALL_THERE);
    expect(figures.noticed).toBe(10);
  });

  it.each(['lives', 'dead'] as const)(
    'restored from an old file is noticed and doubles nothing (daemon: %s)',
    async (daemon) => {
      const figures = await measured(
        `old file restored, daemon ${daemon}`,
        oldFileRestored(daemon, 900),
      );
      expect(figures).toMatchObject({ ...ALL_THERE, noticed: 1 });
    },
  );

  it('without its queue in the middle of the work, 5 times, loses nothing', async () => {
    const figures = await measured('queue obliterated', queueObliterated(5, 600));
    expect(figures).toMatchObject(ALL_THERE);
    expect(figures.deleted).toBeGreaterThan(20);
  });
});

describe('SIGSTOP', () => {
  it('past every lock, followed by SIGCONT, sends no order twice', async () => {
    const figures = await measured('daemons frozen', freezes(10, 20));
    expect(figures).toMatchObject({ ...ALL_THERE, freezes: 30 });
  });
});
