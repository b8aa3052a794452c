import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { explainRedisError, watchSteadiness } from '../../src/redis/connection-end.ts';
import { connectAsAdmin, LOGIN_SECRETS } from '../support/redis-groups.ts';
import { takeOver } from '../support/redis-way.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

let server: TestRedis;
let admin: Redis;

beforeAll(async () => {
  server = await startTestRedis();
  admin = await connectRedis(server.adminUrl, { plain: true });
});

afterAll(async () => {
  await admin.quit();
  await server[Symbol.asyncDispose]();
});

const probe = '{posync:test}:probe';
const key = '{posync:test}:key';

describe('a Redis that becomes a replica', () => {
  it('makes a write wait until it is a primary again, and is reported once', async () => {
    const troubles: string[] = [];
    const redis = await connectRedis(server.url, {
      probe,
      onTrouble: ({ message }) => troubles.push(message),
    });
    await admin.replicaof('127.0.0.1', 1);
    const written = redis.eval("return redis.call('SET', KEYS[1], 'kept')", 1, key);
    await until('the refusal was seen', () => troubles.length > 0);
    await admin.replicaof('NO', 'ONE');
    expect(await written).toBe('OK');
    expect(await redis.get(key)).toBe('kept');
    expect(troubles).toEqual([expect.stringContaining('READONLY')]);
    await redis.quit();
  });

  it('ends the start with redis-read-only', async () => {
    await admin.replicaof('127.0.0.1', 1);
    try {
      await expect(connectRedis(server.url, { probe, within: 4_000 })).rejects.toMatchObject({
        code: 'redis-read-only',
        remedy: expect.stringContaining('Set redis.url to the primary'),
      });
    } finally {
      await admin.replicaof('NO', 'ONE');
    }
  });
});

it('a user who may not write ends the start with redis-refused, and no part of the password is shown', async () => {
  await admin.call(
    'ACL',
    'SETUSER',
    'reader',
    'on',
    '>p@ss@word',
    '~*',
    '+@read',
    '+@connection',
    '+info',
  );
  const url = server.adminUrl.replace('//', '//reader:p@ss@word@');
  const refused = await connectRedis(url, { probe }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'redis-refused',
    message: expect.stringContaining('NOPERM'),
  });
  expect(String(refused)).not.toContain('ss@word');
});

it('a command ends soon where nothing listens, at a port and at a socket', async () => {
  await using folder = await makeTempFolder();
  const patience = { within: 3_600_000, refusedWithin: 100 };
  const missing = { address: { url: `unix://${path.join(folder.path, 'none.sock')}` } };
  for (const [place, reason] of [
    ['redis://127.0.0.1:1/0', 'ECONNREFUSED'],
    [missing, 'ENOENT'],
  ] as const) {
    await expect(connectRedis(place, patience)).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining(reason),
      // Nobody should remove redis.url in an outage: po-sync would begin another ledger.
      remedy: expect.stringMatching(/^Start Redis.* or correct redis\.url\.$/),
    });
  }
});

it('a Redis that accepts a connection and says nothing is reported as silent', async () => {
  await using own = await startTestRedis();
  own.freeze();
  await expect(connectRedis(own.url, { within: 5_000 })).rejects.toMatchObject({
    message: expect.stringContaining('does not answer: no answer'),
  });
  own.thaw();
});

it('a private Redis that does not answer is shown without its password, and nobody is asked to start it', async () => {
  await using folder = await makeTempFolder();
  const socket = path.join(folder.path, 'redis.sock');
  await expect(
    connectRedis(`${socket}?password=sesame-7`, { within: 5_000 }),
  ).rejects.toMatchObject({
    message: `Redis at ${socket} does not answer: connect ENOENT ${socket}.`,
    remedy: expect.stringMatching(/^It is the private Redis: a daemon starts it again/),
  });
});

it('a Redis that loads its data is waited for, and named', async () => {
  await using own = await startTestRedis({ settings: { 'key-load-delay': 600 } });
  const before = await connectRedis(own.url);
  await Promise.all(Array.from({ length: 15_000 }, (_, i) => before.set(`${key}:${i}`, '1')));
  before.disconnect();
  await own.kill();
  const loaded = own.restart();
  await until('a server that listens', async () => {
    const socket = createConnection(own.port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').catch(() => undefined);
    socket.destroy();
    return isOpen;
  });
  const troubles: string[] = [];
  const onTrouble = ({ message }: Error) => troubles.push(message);
  const patient = connectRedis(own.url, { within: 600_000, onTrouble });
  await expect(connectRedis(own.url, { within: 4_000 })).rejects.toMatchObject({
    code: 'redis-unreachable',
    message: expect.stringMatching(/does not answer: LOADING Redis is loading its data\.$/),
    remedy: expect.stringContaining('while it loads'),
  });
  const redis = await patient;
  await loaded;
  expect(await redis.exists(`${key}:14999`)).toBe(1);
  expect(troubles).not.toEqual([]);
  expect(new Set(troubles)).toEqual(new Set(['LOADING Redis is loading its data']));
  redis.disconnect();
});

it('a command waits for a server that is there and does not answer yet', async () => {
  await using own = await startTestRedis();
  own.freeze();
  const opened = connectRedis(own.url, { within: 3_600_000, refusedWithin: 1 });
  const early = await Promise.race([opened.catch(() => 'refused'), delay(300, 'waits')]);
  own.thaw();
  expect(early).toBe('waits');
  const redis = await opened;
  expect(await redis.ping()).toBe('PONG');
  await redis.quit();
});

describe('a command that loses its connection or is refused', () => {
  const errorOf = (asked: Promise<unknown>) => asked.then(() => undefined, explainRedisError);

  it('ends with redis-unreachable when Redis stays away', async () => {
    await using own = await startTestRedis();
    const redis = await connectRedis(own.url, { probe, lostWithin: 300 });
    await own.kill();
    expect(await errorOf(redis.get(key))).toMatchObject({ code: 'redis-unreachable' });
    expect(redis.status).toBe('end');
  });

  it('ends with redis-refused and a remedy when its user lacks a right', async () => {
    await admin.call('ACL', 'SETUSER', 'partly', 'on', '>pw', '~*', '+@all', '-hscan');
    const redis = await connectRedis(server.adminUrl.replace('//', '//partly:pw@'), { probe });
    const error = await errorOf(redis.hscan(key, '0'));
    await redis.quit();
    expect(error).toMatchObject({
      code: 'redis-refused',
      message: expect.stringContaining('hscan'),
    });
    expect(error).toMatchObject({ remedy: expect.stringContaining('docs/operations/redis.md') });
  });

  it('ends with redis-unreachable when Redis stays a replica', async () => {
    await using own = await startTestRedis();
    const redis = await connectRedis(own.url, { probe, lostWithin: 600 });
    await using other = Object.assign(await connectRedis(own.adminUrl, { plain: true }), {
      [Symbol.asyncDispose]: async () => other.disconnect(),
    });
    await other.replicaof('127.0.0.1', 1);
    expect(await errorOf(redis.set(key, '1'))).toMatchObject({ code: 'redis-unreachable' });
  });

  it('works again when Redis comes back in time', async () => {
    await using own = await startTestRedis();
    const redis = await connectRedis(own.url, { probe, lostWithin: 60_000 });
    const closed = new Promise((resolve) => redis.once('close', resolve));
    await own.kill();
    await closed;
    const asked = redis.ping();
    await own.restart();
    expect(await asked).toBe('PONG');
    await redis.quit();
  });
});

describe('a connection', () => {
  /** What `watchSteadiness` says of a connection that a test loses, by the clock of the test. */
  async function openWatched() {
    const redis = await connectRedis(server.url, { probe });
    let now = 1_000_000;
    let recognized = 0;
    const watched = {
      on: redis.on.bind(redis),
      info: async () => {
        const info = await redis.info();
        recognized += 1;
        return info;
      },
    };
    const steadiness = watchSteadiness(watched as never, { monotonic: () => now });
    await until('the first run', () => recognized === 1);
    return {
      ...steadiness,
      pass(ms: number): void {
        now += ms;
      },
      /** Resolves when it is lost. */
      async lose(): Promise<void> {
        const closed = once(redis, 'close');
        await admin.client('KILL', 'ID', await redis.client('ID'));
        await closed;
      },
      /** Resolves when it is back and the run of the server is known. */
      back: (times: number) => until('the run', () => recognized === times),
      [Symbol.asyncDispose]: async () => void (await redis.quit()),
    };
  }

  it('is steady until it is lost, and again as soon as it is back at the same run of Redis', async () => {
    await using line = await openWatched();
    expect(line.isSteady()).toBe(true);
    await line.lose();
    expect(line.isSteady()).toBe(false);
    line.pass(3_600_000);
    expect(line.isSteady()).toBe(false);
    await line.back(2);
    expect(line.isSteady()).toBe(true);
  });

  it('is steady 5 s after it is back where Redis restarted or another server took over, however often it is lost since', async () => {
    await using line = await openWatched();
    await takeOver(admin);
    await line.lose();
    await line.back(2);
    line.pass(2_000);
    await line.lose();
    await line.back(3);
    expect(line.isSteady()).toBe(false);
    line.pass(2_999);
    expect(line.isSteady()).toBe(false);
    line.pass(1);
    expect(line.isSteady()).toBe(true);
  });
});

it('a unix socket works, with the database of its address', async () => {
  await using folder = await makeTempFolder();
  const socket = path.join(folder.path, 'r.sock');
  await using own = await startTestRedis({ settings: { unixsocket: socket } });
  const redis = await connectRedis(
    { address: { url: `unix://${socket}?db=3` }, credentials: LOGIN_SECRETS },
    { probe },
  );
  await redis.set(probe, 'here');
  await using other = connectAsAdmin(own);
  await other.redis.select(3);
  expect(await other.redis.get(probe)).toBe('here');
  await redis.quit();
});

it.each(['WRONGPASS', 'ERR', 'NOAUTH'])(
  'a Redis that repeats the password in %s is quoted without it',
  async (code) => {
    const password = 'canary/redis+pass=1';
    // Answers every command with an error that repeats what it read, as proxies do.
    const chatty = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes) =>
        socket.write(`-${code} ${bytes.toString().replaceAll(/[\r\n]+/g, ' ')}\r\n`),
      );
    }).listen(0, '127.0.0.1');
    await once(chatty, 'listening');
    const address = chatty.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const troubles: string[] = [];
    const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}/0`;
    const onTrouble = (error: Error) => void troubles.push(error.message);
    const refused = await connectRedis(url, { onTrouble, within: 5_000 }).catch(
      (error: unknown) => error,
    );
    chatty.close();
    expect(String(refused)).toContain('[redacted]');
    expect([String(refused), ...troubles].join(' ')).not.toContain('canary');
  },
);
