import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { openOddApi } from '../support/odd-api.ts';
import { until } from '../support/until.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

describe.concurrent('a stop while Redis is not reachable', () => {
  it.each([
    ['SIGTERM', 'is killed'],
    ['SIGHUP', 'accepts connections but does not answer'],
  ] as const)(
    '%s ends a busy daemon with 0 when Redis %s, and loses nothing',
    async (signal, away) => {
      await using api = await openOddApi(({ endpoint }) =>
        endpoint === 'create' ? { after: 50 } : undefined,
      );
      await using place = await openTroublePlace(api, { asProcess: true });
      const numbers = numbered(300);
      await place.drop('orders.csv', csv(numbers));
      await until('some orders', () => api.stored.length > 20);
      if (away === 'is killed') await place.redis?.kill();
      else place.redis?.freeze();
      place.daemon.child.kill(signal);
      expect(await place.daemon.ended).toMatchObject({ code: 0 });
      await place.redis?.restart();
      await place.restart();
      const outcomes = await place.settled(numbers);
      expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
      expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
    },
  );

  it.each(['SIGTERM'] as const)(
    '%s ends an idle daemon with 0 when Redis is killed',
    async (signal) => {
      await using api = await openOddApi();
      await using place = await openTroublePlace(api, { asProcess: true });
      await until('the daemon', () => place.daemon.out().includes('"event":"daemon-ready"'));
      await place.redis?.kill();
      place.daemon.child.kill(signal);
      expect(await place.daemon.ended).toMatchObject({ code: 0, signal: null });
      await place.redis?.restart();
    },
  );

  it('a daemon that was itself frozen for six seconds while it stops keeps its Redis to the end, and stores the outcome', async () => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { after: 13_000 } : undefined,
    );
    await using place = await openTroublePlace(api, {
      asProcess: true,
      pace: 'settle: 1s, timeout: 30s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }',
    });
    await place.drop('orders.csv', csv(['ORD-1']));
    await until('the call', () => api.calls.some(({ endpoint }) => endpoint === 'create'));
    const { child, ended, out } = place.daemon;
    child.kill('SIGTERM');
    await until('the stop', () => out().includes('"event":"daemon-stopping"'));
    child.kill('SIGSTOP');
    // Longer than Redis may stay away; the daemon cannot ask it meanwhile.
    await delay(6_000);
    child.kill('SIGCONT');
    expect(await ended).toMatchObject({ code: 0 });
    expect(out()).not.toContain('Connection is closed');
    await place.restart();
    expect(await place.settled(['ORD-1'])).toEqual({ 'ORD-1': 'accepted' });
    expect(times(api, 'ORD-1')).toBe(1);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s ends a start with 0 that waits for Redis',
    async (signal) => {
      await using silent = await openSilentServer();
      await using api = await openOddApi();
      for (const port of [await freePort(), silent.port]) {
        const place = await openTroublePlace(
          { url: api.url },
          { redis: `redis://127.0.0.1:${port}/0`, asProcess: true },
        );
        await using _ = place;
        await until('the start', () => place.daemon.out().includes('"event":"daemon-starting"'));
        place.daemon.child.kill(signal);
        // One that waits for Redis to the end ends with 1.
        expect(await place.daemon.ended).toMatchObject({ code: 0, signal: null });
      }
    },
  );
});

/** Accepts connections and never answers. */
async function openSilentServer() {
  const server = createServer((socket) => void socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
