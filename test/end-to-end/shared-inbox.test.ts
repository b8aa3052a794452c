import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { connectRedis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

it('an inbox that daemons of another Redis use is refused; one whose Redis forgot everything is not', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis });
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  const marker = path.join(place.inbox, '.po-sync-ledger');
  const text = await readFile(marker, 'utf8');
  expect(JSON.parse(text)).toMatchObject({ host: hostname(), data: path.join(place.folder, 'data') });

  const client = await connectRedis(redis);
  await client.flushdb();
  await client.quit();
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(await readFile(marker, 'utf8')).toBe(text);

  const other = JSON.stringify({ ledger: 'another', host: 'host-b', data: '/srv/data' });
  await writeFile(marker, other);
  expect(await place.run(['start', '--once'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('belongs to the ledger of /srv/data on host-b'),
  });
});

it('a ledger of a newer version ends an older daemon with 1, before it takes a file', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis });
  const client = await connectRedis(redis);
  await client.hset(keysOf('staging', place.api.baseUrl).identity, 'format', 2);
  await client.quit();
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('A newer version of po-sync writes this ledger'),
  });
  expect(place.stored().size).toBe(0);
  expect(await place.reportsNow()).toEqual([]);
});
