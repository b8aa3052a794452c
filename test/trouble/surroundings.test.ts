import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../support/fake-clock.ts';
import { openOddApi } from '../support/odd-api.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { listen } from '../support/web-server.ts';
import { csv, numbered, openTroublePlace, times } from './trouble-place.ts';

/** Forwards connections to a port that may change; what the far end says may be held back for a while at first. */
async function openRelay(target: { port: number; hold?: number }) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(target.port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    near.pipe(far);
    if (target.hold === undefined) far.pipe(near);
    else setTimeout(() => far.pipe(near), target.hold);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  return {
    port: await listen(server),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.concurrent('the connection to the API', () => {
  it('a TLS handshake slower than two seconds delivers every order once', async () => {
    await using folder = await makeTempFolder();
    const [key, cert] = [path.join(folder.path, 'key.pem'), path.join(folder.path, 'cert.pem')];
    const request = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=127.0.0.1',
    ];
    await promisify(execFile)('openssl', [
      ...request,
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      cert,
    ]);
    await using api = await openOddApi(undefined, {
      key: await readFile(key, 'utf8'),
      cert: await readFile(cert, 'utf8'),
    });
    await using relay = await openRelay({ port: Number(new URL(api.url).port), hold: 2_600 });
    const url = `https://127.0.0.1:${relay.port}`;
    const pace =
      'settle: 1s, timeout: 10s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
    await using place = await openTroublePlace(api, {
      url,
      pace,
      env: { NODE_EXTRA_CA_CERTS: cert },
    });
    const numbers = numbered(10);
    await place.drop('orders.csv', csv(numbers));
    const outcomes = await place.settled(numbers);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
    expect(api.stored).toHaveLength(10);
  });

  it('a name server slower than two seconds delivers every order once, each on its first attempt', async () => {
    await using folder = await makeTempFolder();
    const preload = path.join(folder.path, 'slow-names.mjs');
    await writeFile(
      preload,
      `import dns from 'node:dns';
       const { lookup } = dns;
       dns.lookup = (name, ...rest) => setTimeout(() => lookup(name, ...rest), name === 'localhost' ? 2600 : 0);`,
    );
    await using api = await openOddApi();
    const url = api.url.replace('127.0.0.1', 'localhost');
    const pace =
      'settle: 1s, timeout: 10s, backoff: { initial: 100ms, max: 1s }, probe: { initial: 250ms, max: 2s }';
    await using place = await openTroublePlace(api, {
      url,
      pace,
      env: { NODE_OPTIONS: `--import=${preload}` },
    });
    const numbers = numbered(10);
    await place.drop('orders.csv', csv(numbers));
    const begin = performance.now();
    const outcomes = await place.settled(numbers);
    expect(performance.now() - begin).toBeGreaterThan(2_500);
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
    expect(api.calls.filter(({ endpoint }) => endpoint === 'create')).toHaveLength(10);
  });

  it.each<[string, (socket: Socket) => void, Record<string, string>?]>([
    ['is closed right after each answer', (socket) => socket.end()],
    ['is announced to close with each answer', () => undefined, { connection: 'close' }],
  ])('a connection that %s costs no order and hardly a pause', async (_, end, headers = {}) => {
    await using api = await openOddApi(({ endpoint }) =>
      endpoint === 'create' ? { headers } : undefined,
    );
    api.onAnswered = (socket) => end(socket);
    const pace = 'concurrency: 16, settle: 1s, timeout: 10s, probe: { initial: 2s, max: 2s }';
    await using place = await openTroublePlace(api, { pace });
    const numbers = numbered(200);
    await place.drop('orders.csv', csv(numbers));
    expect(new Set(Object.values(await place.settled(numbers)))).toEqual(new Set(['accepted']));
    expect(numbers.filter((number) => times(api, number) !== 1)).toEqual([]);
    // On a busy machine a few requests are written before the end arrives; five in a row are a pause, rightly.
    const pauses = place.daemon.out().match(/"event":"delivery-paused"/g) ?? [];
    expect(pauses.length).toBeLessThanOrEqual(3);
  });

  it('a canary that the list archives does not spoil later doubts', async () => {
    let archived = false;
    await using api = await openOddApi(({ endpoint, order, attempt }, { stored }) => {
      if (endpoint === 'create' && attempt === 1 && order?.purchaseOrderNumber.startsWith('LATE'))
        return { drop: true, store: true };
      if (endpoint !== 'list' || !archived) return undefined;
      const shown = stored.filter(({ purchaseOrderNumber }) => purchaseOrderNumber !== 'PO-1');
      return {
        status: 200,
        body: { status: 'success', data: { purchaseOrders: shown }, error: null },
      };
    });
    await using place = await openTroublePlace(api);
    for (const number of ['PO-1', 'PO-2', 'PO-3']) {
      await place.drop(`${number}.csv`, csv([number]));
      await place.settled([number]);
      const now = performance.now();
      await until('the next canary', () => performance.now() - now > 1_200);
    }
    const now = performance.now();
    await until('the canaries are old enough', () => performance.now() - now > 3_000);
    archived = true;
    await place.drop('late.csv', csv(['LATE-1', 'LATE-2']));
    expect(await place.settled(['LATE-1', 'LATE-2'])).toMatchObject({
      'LATE-1': 'accepted',
      'LATE-2': 'accepted',
    });
    expect(times(api, 'LATE-1')).toBe(1);
  });
});

describe.concurrent('Redis and the clock', () => {
  it('Redis fails over behind one address: work resumes on the new master', async () => {
    await using first = await startTestRedis();
    await using second = await startTestRedis();
    const [a, b] = [new Redis(first.url), new Redis(second.url)];
    try {
      await b.replicaof('127.0.0.1', first.port);
      const target = { port: first.port };
      await using relay = await openRelay(target);
      await using api = await openOddApi();
      await using place = await openTroublePlace(api, {
        redis: `redis://127.0.0.1:${relay.port}/0`,
      });
      await place.drop('before.csv', csv(numbered(20)));
      await place.settled(numbered(20));
      await until('the replica is level', async () => {
        // It has what was written before this key.
        await a.set('{posync:test}:level', '1');
        return (await a.wait(1, 1_000)) === 1;
      });
      target.port = second.port;
      await b.replicaof('NO', 'ONE');
      await a.replicaof('127.0.0.1', second.port);
      const later = numbered(20, 'LATER');
      await place.drop('after.csv', csv(later));
      const outcomes = await place.settled(later);
      expect(later.every((number) => outcomes[number] === 'accepted')).toBe(true);
      expect(api.stored).toHaveLength(40);
    } finally {
      a.disconnect();
      b.disconnect();
    }
  });

  it('a clock set back an hour delays no retry', async () => {
    await using folder = await makeTempFolder();
    const clock = await createFakeClock(folder.path);
    await using api = await openOddApi(({ endpoint, attempt }) =>
      endpoint === 'create' && attempt <= 2
        ? { status: 503, headers: { 'retry-after': '3' } }
        : undefined,
    );
    await using place = await openTroublePlace(api, { env: clock.env });
    await place.drop('orders.csv', csv(numbered(3)));
    await until('the first answer', () =>
      api.calls.some(({ endpoint, status }) => endpoint === 'create' && status === 503),
    );
    await clock.set(-3600);
    const outcomes = await place.settled(numbered(3));
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['accepted']));
  });
});
