import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { startDaemon } from '../support/daemon.ts';
import { processesIn } from '../support/processes-in.ts';
import { startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';

const PACE =
  'settle: 1s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }, concurrency: 8';

/** A workplace on a separate Redis, with a slow API, so that calls are always in flight. */
async function openPlace(redis: TestRedis): Promise<Workplace> {
  return openWorkplace({
    redis: redis.url,
    pace: PACE,
    faults: { faults: [{ kind: 'delay', by: '10ms..60ms' }] },
  });
}

/** Redis is killed and started again under two daemons at work. */
export async function redisKills(
  times: number,
): Promise<Account & { kills: number; peakMb: number }> {
  await using redis = await startTestRedis();
  await using place = await openPlace(redis);
  await using first = startDaemon(place);
  await using second = startDaemon(place);
  await Promise.all([first.ready(), second.ready()]);
  const dropped: DroppedFile[] = [];
  for (let n = 0; n < times; n += 1) {
    await dropOrders(place, dropped, 100 + Math.floor(Math.random() * 200));
    await delay(Math.random() * 2000);
    await redis.kill();
    await delay(Math.random() * 1500);
    await redis.restart();
  }
  await allReported(place, dropped);
  const peakMb = Math.max(await first.peakMb(), await second.peakMb());
  return { ...(await accountOf(place, dropped)), kills: times, peakMb };
}

/** The private Redis is killed, and every other time a daemon with it; the daemons start it again themselves. */
export async function privateRedisKills(
  times: number,
): Promise<Account & { kills: number; daemonsKilled: number }> {
  await using place = await openWorkplace({
    pace: PACE,
    redis: 'private',
    faults: { faults: [{ kind: 'delay', by: '10ms..60ms' }] },
  });
  await using first = startDaemon(place);
  await first.ready();
  await using second = startDaemon(place);
  await second.ready();
  const server = path.join(place.folder, 'data', 'redis');
  const dropped: DroppedFile[] = [];
  for (let n = 0; n < times; n += 1) {
    await dropOrders(place, dropped, 100 + Math.floor(Math.random() * 200));
    await delay(500 + Math.random() * 1500);
    const pid = await until('the private Redis', async () => (await processesIn(server))[0]);
    process.kill(pid, 'SIGKILL');
    if (n % 2 === 1) await (n % 4 === 1 ? first : second).restart();
  }
  await allReported(place, dropped);
  return {
    ...(await accountOf(place, dropped)),
    kills: times,
    daemonsKilled: Math.floor(times / 2),
  };
}

/** Everything in Redis is deleted in the middle of the work of two daemons, so many times. */
export async function flushes(
  times: number,
  orders: number,
): Promise<Account & { flushes: number; noticed: number }> {
  await using redis = await startTestRedis();
  await using place = await openPlace(redis);
  await using first = startDaemon(place);
  await using second = startDaemon(place);
  await Promise.all([first.ready(), second.ready()]);
  await using hand = openHand(redis.url);
  const dropped: DroppedFile[] = [];
  for (let n = 0; n < times; n += 1) {
    const before = countOf(place.events, 'stored');
    await dropOrders(place, dropped, orders);
    const mark = before + Math.round(orders * (0.2 + Math.random() * 0.6));
    await until('the middle of the work', () => countOf(place.events, 'stored') > mark);
    await hand.redis.flushall();
    await Promise.all([allReported(place, dropped), releaseUntilReported(place, dropped)]);
  }
  return {
    ...(await accountOf(place, dropped)),
    flushes: times,
    noticed: noticedIn(first.out() + second.out()),
  };
}

/** A person releases the files that wait because the ledger was lost, until all have a report. */
async function releaseUntilReported(
  place: Workplace,
  dropped: readonly DroppedFile[],
): Promise<void> {
  await until('all reports', async () => {
    const { batches } = (await place.json('batches', 'list')) as {
      batches: { batch: string; state: string }[];
    };
    for (const { batch, state } of batches)
      if (state === 'waiting') await place.run(['batches', 'release', batch, '--yes']);
    return (await place.reportsNow()).length >= dropped.length;
  });
}

/**
 * Redis is stopped and its files are replaced by a copy from earlier in the same work. `daemon`: whether it keeps
 * running, or was killed before and starts afterwards.
 */
export async function oldFileRestored(
  daemon: 'lives' | 'dead',
  orders: number,
): Promise<Account & { noticed: number }> {
  await using redis = await startTestRedis();
  await using place = await openPlace(redis);
  await using one = startDaemon(place);
  await one.ready();
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  await until('a third of the work', () => countOf(place.events, 'stored') > orders / 3);
  const copy = `${redis.folder}-copy`;
  await cp(redis.folder, copy, { recursive: true });
  await until('two thirds of the work', () => countOf(place.events, 'stored') > (orders * 2) / 3);
  if (daemon === 'dead') await one.kill('SIGKILL');
  await redis.kill('SIGTERM');
  await rm(redis.folder, { recursive: true });
  await cp(copy, redis.folder, { recursive: true });
  await rm(copy, { recursive: true });
  await redis.restart();
  if (daemon === 'dead') await one.restart();
  await allReported(place, dropped);
  return { ...(await accountOf(place, dropped)), noticed: noticedIn(one.out()) };
}

/** All jobs of BullMQ are deleted in the middle of the work, so many times. */
export async function queueObliterated(
  times: number,
  orders: number,
): Promise<Account & { deleted: number }> {
  await using redis = await startTestRedis();
  await using place = await openPlace(redis);
  await using one = startDaemon(place);
  await one.ready();
  await using hand = openHand(redis.url);
  const dropped: DroppedFile[] = [];
  let deleted = 0;
  for (let n = 0; n < times; n += 1) {
    const before = countOf(place.events, 'stored');
    await dropOrders(place, dropped, orders);
    await until('a start', () => countOf(place.events, 'stored') > before + orders / 5);
    const keys = await hand.redis.keys('*:orders:*');
    deleted += await hand.redis.del(...keys);
  }
  await allReported(place, dropped);
  return { ...(await accountOf(place, dropped)), deleted };
}

/** How often a daemon reported that the ledger was rolled back. */
function noticedIn(out: string): number {
  return out.split('"event":"ledger-rolled-back"').length - 1;
}

function openHand(url: string): { redis: Redis; [Symbol.asyncDispose](): Promise<void> } {
  const redis = new Redis(url);
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() };
}
