import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis, type Redis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';
import { openDatabase } from '../support/shared-redis.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace, type Workplace } from '../support/workplace.ts';

it('an inbox that daemons of another Redis use is refused; one whose Redis forgot everything is not', async () => {
  const redis = await openDatabase();
  await using place = await openWorkplace({ redis });
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  const marker = path.join(place.inbox, '.po-sync-environment');
  const text = await readFile(marker, 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    host: hostname(),
    data: path.join(place.folder, 'data'),
  });

  const client = await connectRedis(redis);
  await client.flushdb();
  await client.quit();
  expect(await place.run(['doctor'])).toMatchObject({ code: 0 });
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect(await readFile(marker, 'utf8')).toBe(text);

  const other = JSON.stringify({
    environment: 'staging',
    ledger: 'another',
    host: 'host-b',
    data: '/srv/data',
  });
  await writeFile(marker, other);
  expect(await place.run(['start', '--once'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('belongs to the ledger of /srv/data on host-b'),
  });
  expect(await place.run(['doctor'])).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^fail +inbox inbox +.* belongs to the ledger of \/srv\/data on host-b/m,
    ),
  });
});

it('an inbox that lost its marker may be another folder: status says so, and the next start warns', async () => {
  await using place = await openWorkplace();
  await place.drop('orders.csv', csvOf(2));
  expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
  expect((await place.run(['status'])).out).not.toContain('no marker');

  await rename(place.inbox, `${place.inbox}-share`);
  await mkdir(place.inbox);
  const status = await place.run(['--json', 'status']);
  expect(JSON.parse(status.out).sources).toMatchObject([{ name: 'inbox', state: 'no marker' }]);
  expect((await place.run(['status'])).out).toMatch(
    /no marker; may be another folder: mount the share/,
  );
  const { err } = await place.run(['start', '--once', '--json']);
  expect(err).toContain('"inbox-marked-again"');
  expect((await place.run(['start', '--once', '--json'])).err).not.toContain('inbox-marked-again');
});

it('an inbox that is created again while a daemon runs: log and status say that it needs a restart', async () => {
  await using place = await openWorkplace();
  const daemon = place.start(['start']);
  await place.drop('orders.csv', csvOf(1));
  const settled = async () => {
    const { out } = await place.run(['--json', 'status']);
    const { batches, sources } = JSON.parse(out) as {
      batches: unknown[];
      sources: { last?: unknown }[];
    };
    return batches.length === 0 && sources[0]?.last !== undefined;
  };
  // A batch in progress would need its file.
  await until('the end of the file', settled);
  await rename(place.inbox, `${place.inbox}-share`);
  await until('the loss', () => daemon.out().includes('does not exist'));
  await mkdir(place.inbox);
  await until('the new folder', () =>
    /"source-lost".*no longer has its environment marker/.test(daemon.out()),
  );
  expect((await place.run(['status'])).out).toMatch(/no marker; may be another folder/);
});

describe('the format of the ledger', () => {
  let place: Workplace;
  let client: Redis;
  let identity: string;

  beforeEach(async () => {
    const redis = await openDatabase();
    place = await openWorkplace({ redis });
    client = await connectRedis(redis);
    identity = keysOf('staging').identity;
  });
  afterEach(async () => {
    await client.quit();
    await place[Symbol.asyncDispose]();
  });

  const newer = {
    code: 1,
    err: expect.stringContaining('A newer version of po-sync writes this ledger'),
  };

  it('of a newer version ends the start with 1, before a file is taken', async () => {
    await client.hset(identity, 'format', 2);
    await place.drop('orders.csv', csvOf(2));
    expect(await place.run(['start', '--once'])).toMatchObject(newer);
    expect(place.stored().size).toBe(0);
    expect(await place.reportsNow()).toEqual([]);
    expect(await place.run(['doctor'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^fail +ledger +A newer/m),
    });
    expect(await client.hget(identity, 'format')).toBe('2');
  });

  it('ends a daemon that runs with 1 when a newer version raises it', async () => {
    const daemon = place.start(['start']);
    await until('a daemon is ready', () => daemon.out().includes('daemon ready'));
    await client.hset(identity, 'format', 2);
    expect(await daemon.ended).toMatchObject(newer);
  });

  it('is raised by what changes the ledger, not by what reads it', async () => {
    await client.hset(identity, 'format', 0);
    expect(await place.run(['status'])).toMatchObject({ code: 0 });
    expect(await client.hget(identity, 'format')).toBe('0');
    await place.run(['dead-letters', 'discard', '--all', '--yes']);
    expect(await client.hget(identity, 'format')).toBe('1');
    await client.hset(identity, 'format', 0);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(await client.hget(identity, 'format')).toBe('1');
  });
});
