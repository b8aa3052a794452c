import { describe, expect, it } from 'vitest';
import { intentsAhead } from '../../src/ledger/entry.ts';
import { ledgerStates } from '../support/ledger-states.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Running, type Workplace } from '../support/workplace.ts';

function accepted(place: Workplace): number {
  return place.events.filter(({ type }) => type === 'stored').length;
}

async function finished(place: Workplace): Promise<void> {
  await until('one finished report', async () => {
    const states = (await place.reportsNow()).map(({ state }) => state);
    return states.length > 0 && states.every((state) => state === 'finished');
  });
}

function expectOnce(place: Workplace, orders: number): void {
  const stored = place.stored();
  expect(stored.size).toBe(orders);
  expect([...stored].filter(([, times]) => times !== 1)).toEqual([]);
}

/** The orders that the ledger says are being sent. */
async function sending(redis: string): Promise<string[]> {
  const states = await ledgerStates(redis);
  return [...states].flatMap(([number, state]) => (state === 'sending' ? [number] : []));
}

/** Stops the daemon to look; it stays stopped where `check` holds. */
async function whileStopped({ child }: Running, check: () => Promise<boolean>): Promise<boolean> {
  child.kill('SIGSTOP');
  const holds = await check();
  if (!holds) child.kill('SIGCONT');
  return holds;
}

describe('the daemon', () => {
  it('killed at full load leaves at most concurrency and the intents ahead in doubt, and sends none of them again', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({
      delivery: ', concurrency: 16',
      redis,
      faults: { faults: [{ kind: 'delay', by: '100ms' }] },
    });
    await place.drop('orders.csv', csvOf(500));
    const doubts: number[] = [];
    const before = new Set<string>();
    for (const share of [0.1, 0.5]) {
      const daemon = place.spawn(['start']);
      await until('some orders', () => accepted(place) > share * 500);
      // Those of an earlier daemon wait until their deadline.
      const own = async () => (await sending(redis)).filter((number) => !before.has(number));
      // Intents are prepared, so at times there are more than the calls in flight.
      if (share === 0.1)
        await until(
          'intents ahead',
          async () => await whileStopped(daemon, async () => (await own()).length > 16),
        );
      daemon.child.kill('SIGKILL');
      await daemon.ended;
      const now = await own();
      doubts.push(now.length);
      for (const number of now) before.add(number);
    }
    expect(Math.max(...doubts)).toBeLessThanOrEqual(16 + intentsAhead(16));
    expect(Math.max(...doubts)).toBeGreaterThan(16);
    const last = place.spawn(['start']);
    await until('all orders', () => place.stored().size === 500);
    await finished(place);
    expectOnce(place, 500);
    last.child.kill('SIGTERM');
    await last.ended;
  });

  it('SIGHUP finishes the calls in flight, hands the rest back and ends with 0; SIGUSR1 opens no debugger', async () => {
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'delay', by: '100ms' }] },
    });
    const first = place.spawn(['start']);
    await place.drop('orders.csv', csvOf(200));
    await until('first orders', () => accepted(place) > 10);
    first.child.kill('SIGUSR1');
    await until('more orders', () => accepted(place) > 20);
    first.child.kill('SIGHUP');
    const { code, out, err } = await first.ended;
    expect([code, err]).toEqual([0, expect.not.stringContaining('Debugger listening')]);
    for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
    const received = place.events.filter(({ type }) => type === 'received').length;
    expect(received).toBeLessThan(200);
    expect(received).toBe(accepted(place));
    // Nothing is in doubt, so nothing waits for a settle: the rest goes at once.
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expectOnce(place, 200);
    expect(await place.reportsNow()).toMatchObject([{ counts: { accepted: 200 } }]);
  });

  it('a second signal forces the end', async () => {
    // The calls are still in flight when the second signal comes.
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'delay', by: '8s' }] },
      pace: 'settle: 1s, timeout: 10s',
    });
    const running = place.spawn(['start']);
    await place.drop('orders.csv', csvOf(20));
    await until('calls', () => place.events.some(({ type }) => type === 'received'));
    running.child.kill('SIGINT');
    await until('the stop', () => running.out().includes('daemon stopping'));
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
  });

  it('--once that is interrupted ends with 143', async () => {
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'delay', by: '200ms' }] },
    });
    const running = place.spawn(['start', '--once']);
    await place.drop('orders.csv', csvOf(100));
    await until('calls', () => place.events.some(({ type }) => type === 'received'));
    running.child.kill('SIGTERM');
    const { code } = await running.ended;
    expect(code).toBe(143);
  });
});
