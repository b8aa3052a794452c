import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis, type RedisOptions } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { openPrivateRedis } from '../../src/redis/private-server/private-server.ts';
import { findRedisServer } from '../../src/redis/private-server/server-process.ts';
import { killProcess } from '../support/kill-process.ts';
import { processesIn } from '../support/processes-in.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';

const program = fileURLToPath(new URL('./open-private-redis.program.ts', import.meta.url));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let data: string;

beforeEach(async () => {
  folder = await makeTempFolder();
  data = path.join(folder.path, 'data');
});

afterEach(async () => {
  for (const one of [data, path.join(folder.path, 'copy')]) {
    for (const pid of await processesIn(path.join(one, 'redis'))) killProcess(pid, 'SIGKILL');
    await until('no server is left', async () => (await servers(one)).length === 0);
  }
  await folder[Symbol.asyncDispose]();
});

const open = (more: Partial<Parameters<typeof openPrivateRedis>[0]> = {}) =>
  openPrivateRedis({ data, clock: systemClock, ...more });

const servers = (at = data) => processesIn(path.join(at, 'redis'));

/** A connection that outlives the server. */
function connect(
  url: string,
  more: Pick<RedisOptions, 'enableReadyCheck'> = {},
): Redis & AsyncDisposable {
  const client = new Redis(url, {
    ...more,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => undefined);
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.disconnect() });
}

async function killServers(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  for (const pid of await servers()) killProcess(pid, signal);
}

describe('a first start', () => {
  test('is configured to lose and evict nothing', async () => {
    await using redis = await open();
    await using client = connect(redis.url);

    expect(redis.adopted).toBe(false);
    expect(await client.config('GET', 'appendonly')).toContain('yes');
    expect(await client.config('GET', 'appendfsync')).toContain('always');
    expect(await client.config('GET', 'maxmemory-policy')).toContain('noeviction');
    expect(await client.config('GET', 'bind')).toContain('127.0.0.1');
  });

  test('listens on no port, only on a socket that other users cannot reach', async () => {
    await using redis = await open();
    await using client = connect(redis.url);

    expect(await client.config('GET', 'port')).toContain('0');
    expect((await stat(path.join(data, 'redis', 'redis.sock'))).mode & 0o777).toBe(0o700);
  });

  test('listens on a port of loopback where the path is too long for a socket', async () => {
    data = path.join(folder.path, 'd'.repeat(100));
    await using redis = await open();
    await using client = connect(redis.url);

    expect(await client.config('GET', 'bind')).toContain('127.0.0.1');
    expect(new URL(redis.url)).toMatchObject({
      hostname: '127.0.0.1',
      port: expect.stringMatching(/^\d{5}$/),
    });
    await using stranger = connect(`redis://127.0.0.1:${new URL(redis.url).port}`);
    await expect(stranger.get('x')).rejects.toThrow('NOAUTH');
  });

  test('requires the password, which no other user can read', async () => {
    await using redis = await open();
    const [socket, password = ''] = redis.url.split('?password=');
    await using client = connect(socket ?? '');

    await expect(client.get('x')).rejects.toThrow('NOAUTH');
    const modes = ['', 'server.json', 'redis.conf', 'redis.log'].map((name) =>
      stat(path.join(data, 'redis', name)),
    );
    expect((await Promise.all(modes)).map(({ mode }) => (mode & 0o777).toString(8))).toEqual([
      '700',
      '600',
      '600',
      '600',
    ]);
    const [pid] = await servers();
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);
  });

  test('without a server program names what to install', async () => {
    await expect(open({ find: async () => undefined })).rejects.toMatchObject({
      code: 'redis-missing',
      remedy: expect.stringContaining('apt-get install redis-tools'),
    });
  });

  test('reports the last log lines of a server that ends at once', async () => {
    const file = path.join(folder.path, 'broken-server');
    await writeFile(file, '#!/bin/sh\necho "no space left on device" >&2\nexit 1\n');
    await chmod(file, 0o755);
    const find = async () => ({ file, argv0: 'redis-server', version: '7.0.15' });
    await expect(open({ find })).rejects.toMatchObject({
      code: 'redis-start',
      message: expect.stringContaining('no space left on device'),
    });
  });

  test('reports a data folder that cannot be used', async () => {
    await writeFile(data, 'a file');
    await expect(open()).rejects.toMatchObject({ code: 'redis-folder' });
  });
});

describe('several users', () => {
  test('in separate processes share one server, and the last one stops it', async () => {
    const all = await Promise.all([visit(), visit(), visit()]);
    const told = await Promise.all(all.map((one) => one.told));
    expect(told.filter((one) => !one.adopted)).toHaveLength(1);
    expect(await servers()).toHaveLength(1);

    await Promise.all(all.map((one) => one.leave()));
    expect(await servers()).toHaveLength(0);
    await using redis = await open();
    await using client = connect(redis.url);
    expect(await client.get('visits')).toBe('3');
  });

  test('keep it running for one another', async () => {
    const first = await open();
    await using second = await open();
    await first[Symbol.asyncDispose]();

    await using client = connect(second.url);
    expect(await client.ping()).toBe('PONG');
  });

  test('keep it running for a client that is not ours', async () => {
    const redis = await open();
    await using client = connect(redis.url);
    await client.set('x', '1');
    await redis[Symbol.asyncDispose]();

    expect(await client.get('x')).toBe('1');
  });
});

describe('kill -9', () => {
  test('of the server: it comes back at the same address with all it confirmed', async () => {
    await using redis = await open();
    await using client = connect(redis.url);
    for (let round = 1; round <= 3; round++) {
      expect(await client.incr('round')).toBe(round);
      await killServers();
    }
    expect(await client.get('round')).toBe('3');
    expect(await servers()).toHaveLength(1);
  });

  test('of its user: the next one adopts the server', async () => {
    const user = await visit();
    const { url } = await user.told;
    await user.kill();

    await using redis = await open();
    expect(redis).toMatchObject({ adopted: true, url });
  });

  test('of both: the next start has the data', async () => {
    const user = await visit();
    await user.told;
    await user.kill();
    await killServers();
    await until('the server is gone', async () => (await servers()).length === 0);

    await using redis = await open();
    await using client = connect(redis.url);
    expect(redis.adopted).toBe(false);
    expect(await client.get('visits')).toBe('1');
  });

  test('of users at any moment of their start never leaves two servers on one folder', async () => {
    for (let round = 0; round < 8; round++) {
      const users = await Promise.all([visit(), visit()]);
      await delay(100 + round * 15);
      await Promise.all(users.map((user) => user.kill()));
      await until('at most one is left', async () => (await servers()).length <= 1);
    }
    await using redis = await open();
    await using client = connect(redis.url);
    expect(await client.ping()).toBe('PONG');
    expect(await servers()).toHaveLength(1);
  });
});

describe('what the last start left behind', () => {
  test('is not trusted when another program has its port', async () => {
    data = path.join(folder.path, 'd'.repeat(100));
    const before = await open();
    {
      await using client = connect(before.url);
      await client.set('kept', 'yes');
    }
    await before[Symbol.asyncDispose]();
    const stranger = createServer((_, answer) => answer.end()).listen(
      Number(new URL(before.url).port),
      '127.0.0.1',
    );
    await once(stranger, 'listening');
    try {
      await using redis = await open();
      await using client = connect(redis.url);
      expect(redis.url).not.toBe(before.url);
      expect(await client.get('kept')).toBe('yes');
    } finally {
      stranger.close();
    }
  });

  test('is not trusted when its process id belongs to another program', async () => {
    await (await open())[Symbol.asyncDispose]();
    await editState({ pid: process.pid });
    await using redis = await open();
    expect(redis.adopted).toBe(false);
  });

  test('is not trusted when it cannot be read', async () => {
    await (await open())[Symbol.asyncDispose]();
    await writeFile(path.join(data, 'redis', 'server.json'), '{"port":');
    await using redis = await open();
    expect(redis.adopted).toBe(false);
  });

  test.each(['data', 'd'.repeat(100)])(
    'does not lead a copy of a folder to the server of the original: %s',
    async (name) => {
      data = path.join(folder.path, name);
      await using original = await open();
      const copy = path.join(folder.path, 'copy');
      await mkdir(copy);
      await cp(data, copy, { recursive: true, filter: (file) => !file.endsWith('.sock') });
      await using redis = await open({ data: copy });
      expect(redis.url).not.toBe(original.url);
      expect(redis.adopted).toBe(false);
    },
  );

  test('is waited for while it loads', async () => {
    const before = await open();
    await using writer = connect(before.url);
    await writer.eval("for i = 1, 20000 do redis.call('SET', i, 'an order') end", 0);
    await killServers();
    writer.disconnect();
    await before[Symbol.asyncDispose]();
    await killServers();
    await until('the server is gone', async () => (await servers()).length === 0);

    await using redis = await open({ find: findSlowServer });
    await using client = connect(redis.url, { enableReadyCheck: false });
    expect(await client.dbsize()).toBe(20_000);
  });

  test('is never joined by a second server while the first is frozen', async () => {
    const user = await visit();
    await user.told;
    await killServers('SIGSTOP');
    await expect(open({ clock: hurried(systemClock) })).rejects.toMatchObject({
      code: 'redis-frozen',
    });
    expect(await servers()).toHaveLength(1);
    await killServers('SIGCONT');
    await user.leave();
  });
});

/** A server that takes seconds to load 20,000 keys, however fast the machine is. */
async function findSlowServer() {
  const { file = '', version = '' } = (await findRedisServer()) ?? {};
  const slow = path.join(folder.path, 'slow-server');
  const named = path.join(folder.path, 'redis-server');
  // By its name: it may be a file that is a server only under that one.
  const script = `ln -sf "$(command -v ${file})" "${named}"\nexec "${named}" "$@" --key-load-delay 200\n`;
  await writeFile(slow, `#!/bin/sh\n${script}`, { mode: 0o755 });
  return { file: slow, argv0: 'redis-server', version };
}

/** A clock on which ten seconds pass in a tenth of one. */
function hurried(clock: Clock): Clock {
  return { ...clock, monotonic: () => clock.monotonic() * 100 };
}

async function editState(changes: object): Promise<void> {
  const file = path.join(data, 'redis', 'server.json');
  await writeFile(
    file,
    JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...changes }),
  );
}

/** Another process that uses the private Redis of `data`. */
async function visit() {
  const user = spawn(process.execPath, [program, data], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(user, 'spawn');
  return {
    told: firstLine(user),
    async leave() {
      user.stdin.end();
      await ended(user);
    },
    async kill() {
      user.kill('SIGKILL');
      await ended(user);
    },
  };
}

async function firstLine(user: ChildProcess): Promise<{ adopted: boolean; url: string }> {
  let text = '';
  for await (const bytes of user.stdout ?? []) {
    text += bytes;
    if (text.includes('\n')) break;
  }
  return JSON.parse(text || '{}');
}

async function ended(user: ChildProcess): Promise<void> {
  if (user.exitCode === null && user.signalCode === null) await once(user, 'exit');
}
