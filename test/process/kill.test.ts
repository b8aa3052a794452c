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
async function sending(redis: string, place: Workplace): Promise<string[]> {
  const states = await ledgerStates(redis, place.api.baseUrl);
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
  it('killed with kill -9 in the middle of 2,000 orders and started again creates each order once, in one report', async () => {
    await using place = await openWorkplace({ delivery: ', concurrency: 16', redis: 'private' });
    const first = place.spawn(['start']);
    await place.drop('orders.csv', csvOf(2000));
    await until('some orders', () => accepted(place) > 300 && accepted(place) < 1900);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(accepted(place)).toBeLessThan(2000);
    const second = place.spawn(['start']);
    await until('all orders', () => place.stored().size === 2000);
    await finished(place);
    expectOnce(place, 2000);
    const reports = await place.reportsNow();
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatchObject({
      state: 'finished',
      open: 0,
      counts: { records: 2000, orders: 2000, accepted: 2000 },
    });
    second.child.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  it('killed at full load leaves at most concurrency and the intents ahead in doubt, and sends none of them again', async () => {
    const redis = await openDatabase();
    await using place = await openWorkplace({
      delivery: ', concurrency: 16',
      redis,
      faults: { faults: [{ kind: 'delay', by: '100ms' }] },
    });
    await place.drop('orders.csv', csvOf(1000));
    const doubts: number[] = [];
    const before = new Set<string>();
    for (const share of [0.1, 0.25, 0.4, 0.55, 0.7]) {
      const daemon = place.spawn(['start']);
      await until('some orders', () => accepted(place) > share * 1000);
      // Those of an earlier daemon wait until their deadline.
      const own = async () => (await sending(redis, place)).filter((number) => !before.has(number));
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
    await until('all orders', () => place.stored().size === 1000);
    await finished(place);
    expectOnce(place, 1000);
    last.child.kill('SIGTERM');
    await last.ended;
  });

  it('killed while it reads a file, reads it again', async () => {
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'delay', by: '30ms' }] },
    });
    const first = place.spawn(['start']);
    await place.drop('orders.csv', csvOf(3000));
    await until('first orders', () => accepted(place) > 20);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = place.spawn(['start']);
    await until('progress', () => accepted(place) > 600);
    second.child.kill('SIGKILL');
    await second.ended;
    const third = place.spawn(['start']);
    await until('all orders', () => place.stored().size === 3000);
    await finished(place);
    expectOnce(place, 3000);
    expect(await place.reportsNow()).toMatchObject([{ counts: { orders: 3000, accepted: 3000 } }]);
    third.child.kill('SIGTERM');
    await third.ended;
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s finishes the calls in flight, hands the rest back and ends with 0',
    async (signal) => {
      await using place = await openWorkplace({
        faults: { faults: [{ kind: 'delay', by: '100ms' }] },
      });
      const first = place.spawn(['start']);
      await place.drop('orders.csv', csvOf(200));
      await until('first orders', () => accepted(place) > 10);
      first.child.kill(signal);
      expect(await first.ended).toMatchObject({ code: 0 });
      const received = place.events.filter(({ type }) => type === 'received').length;
      expect(received).toBeLessThan(200);
      expect(received).toBe(accepted(place));
      // Nothing is in doubt, so nothing waits for a settle: the rest goes at once.
      expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
      expectOnce(place, 200);
      expect(await place.reportsNow()).toMatchObject([{ counts: { accepted: 200 } }]);
    },
  );

  it('SIGUSR1 opens no debugger and changes nothing', async () => {
    await using place = await openWorkplace({
      faults: { faults: [{ kind: 'delay', by: '100ms' }] },
    });
    const running = place.spawn(['start']);
    await place.drop('orders.csv', csvOf(200));
    await until('first orders', () => accepted(place) > 10);
    running.child.kill('SIGUSR1');
    await until('all orders', () => place.stored().size === 200);
    running.child.kill('SIGTERM');
    const { code, err } = await running.ended;
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.not.stringContaining('Debugger listening'),
    });
    expectOnce(place, 200);
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
    await until('the stop', () => running.out().includes('po-sync stops'));
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

  it('serves health and readiness, and takes files that are dropped while it runs', async () => {
    await using place = await openWorkplace();
    const running = place.spawn(['start']);
    const port = await until('readiness', () => /"adminPort":(\d+)/.exec(running.out())?.[1]);
    const health = await fetch(`http://127.0.0.1:${port}/healthz`);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([health.status, ready.status]).toEqual([200, 200]);
    await place.drop('a.csv', csvOf(3));
    await place.drop('b.csv', csvOf(3, 10));
    await until(
      'both reports',
      async () =>
        (await place.reportsNow()).filter(({ state }) => state === 'finished').length === 2,
    );
    expectOnce(place, 6);
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  });
});
