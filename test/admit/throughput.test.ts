import { describe, expect, it } from 'vitest';
import { measureThroughput } from '../../src/admit/throughput.ts';

describe('throughput', () => {
  function opened() {
    let now = 0;
    const throughput = measureThroughput({
      now: () => now,
      monotonic: () => now,
      sinceBoot: () => now,
      sleep: async () => undefined,
    });
    /** A number of outcomes a second, for a number of seconds. */
    function go(perSecond: number, seconds: number): number {
      for (let i = 0; i < perSecond * seconds; i += 1) {
        now += 1000 / perSecond;
        throughput.count();
      }
      return throughput.fewSeconds();
    }
    return { throughput, go, rest: (ms: number) => (now += ms) };
  }

  it('allows a hundred waiting orders before the pace is known', () => {
    expect(opened().throughput.fewSeconds()).toBe(100);
  });

  it('allows four seconds of work to wait once the pace of a quarter of a second is known', () => {
    const { go } = opened();
    expect(go(2_000, 0.3)).toBeCloseTo(8_000, -2);
  });

  it('is bounded', () => {
    const { go } = opened();
    expect(go(50_000, 1)).toBe(20_000);
    expect(opened().go(1, 10)).toBe(100);
  });

  it('forgets an earlier pace within seconds', () => {
    const { go, rest, throughput } = opened();
    go(2_000, 1);
    rest(1_000);
    expect(throughput.fewSeconds()).toBeGreaterThan(4_000);
    rest(20_000);
    expect(throughput.fewSeconds()).toBe(100);
  });

  it('counts what other daemons deliver: three changes of the ledger are an order', async () => {
    let now = 0;
    let changes = 50_000;
    const clock = {
      now: () => now,
      monotonic: () => now,
      sinceBoot: () => now,
      sleep: async () => undefined,
    };
    const throughput = measureThroughput(clock, async () => changes);
    await throughput.tick();
    expect(throughput.fewSeconds()).toBe(100);
    for (let i = 0; i < 8; i += 1) {
      now += 250;
      changes += 750;
      await throughput.tick();
    }
    expect(throughput.fewSeconds()).toBeCloseTo(4_000, -2);
  });
});
