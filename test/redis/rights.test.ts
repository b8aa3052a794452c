import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkRedis, checkRights } from '../../src/operate/doctor/check-redis.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { missingRights, requireRights } from '../../src/redis/rights.ts';
import { connectAsAdmin } from '../support/redis-groups.ts';
import { DOCUMENTED_USER, startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { openWorkplace } from '../support/workplace.ts';

const KEY = '{posync:staging:abc}';

let server: TestRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server[Symbol.asyncDispose]());

const urlOf = (user: string, password: string) =>
  `redis://${user}:${password}@127.0.0.1:${server.port}/0`;

/** Adds a user with these rights and gives its address. */
async function addUser(name: string, ...rights: string[]): Promise<string> {
  await using admin = connectAsAdmin(server);
  await admin.redis.call('ACL', 'SETUSER', name, 'on', '>pw', ...rights);
  return urlOf(name, 'pw');
}

async function missingOf(url: string): Promise<string[]> {
  const redis = await connectRedis(url);
  try {
    return await missingRights(redis, KEY);
  } finally {
    redis.disconnect();
  }
}

it('the documented user misses no right', async () => {
  expect(await missingOf(urlOf(DOCUMENTED_USER.username, DOCUMENTED_USER.password))).toEqual([]);
});

it('where a user may not run CONFIG, an append-only file and required replicas are no warning', async () => {
  const redis = await connectRedis(await addUser('docs', '~{posync:*', '+@all', '-config'));
  await using admin = connectAsAdmin(server);
  await admin.redis.config('SET', 'min-replicas-to-write', '1');
  const info = (await redis.info()).replace('connected_slaves:0', 'connected_slaves:1');
  await admin.redis.config('SET', 'min-replicas-to-write', '0');
  redis.info = async () => info;
  const found = await checkRedis(redis, 'this Redis');
  redis.disconnect();
  const shown = Object.fromEntries(
    found.map(({ check, state, message }) => [check, `${state}: ${message}`]),
  );
  expect(shown).toMatchObject({
    'Redis durability': expect.stringMatching(
      /^ok: .* appendfsync, which should be always, was not checked/,
    ),
    'Redis replication': 'ok: takes writes only while enough replicas are in contact',
  });
});

it('each command that a user may not run is named, also those that only scripts run', async () => {
  const url = await addUser(
    'few',
    '~{posync:*',
    '+@all',
    '-zadd',
    '-bzpopmin',
    '-rpoplpush',
    '-hset',
  );
  expect(await missingOf(url)).toEqual(['bzpopmin', 'hset', 'rpoplpush', 'zadd']);
  const redis = await connectRedis(url);
  await expect(requireRights(redis, KEY)).rejects.toMatchObject({
    code: 'redis-refused',
    message: `The user of Redis may not run BZPOPMIN, HSET, RPOPLPUSH, ZADD on ${KEY}.`,
    remedy: expect.stringContaining('docs/operations/redis.md'),
  });
  expect(await checkRights(redis, KEY)).toMatchObject([{ check: 'Redis rights', state: 'fail' }]);
  redis.disconnect();
});

it('start ends with 1 before it takes a file, because Redis would end scripts between two writes', async () => {
  const url = await addUser('half', '~{posync:*', '+@all', '-rpoplpush');
  await using place = await openWorkplace({ redis: url });
  await place.drop('orders.csv', 'purchaseOrderNumber,articleCode,quantity\nPO-1,A,1\n');
  const { code, err } = await place.run(['start', '--once']);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('may not run RPOPLPUSH') });
  expect(await readdir(path.join(place.folder, 'inbox'))).toContain('orders.csv');
  const doctor = await place.run(['doctor']);
  expect(doctor).toMatchObject({
    code: 1,
    out: expect.stringContaining('the user may not run RPOPLPUSH'),
  });
});
