import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectRedis } from '../../src/redis/connect.ts';
import { freePort } from '../support/free-port.ts';
import { LOGIN_SECRETS, startClusterGroup, startSentinelGroup } from '../support/redis-groups.ts';

const probe = '{posync:test}:probe';
const credentials = LOGIN_SECRETS;

describe('a primary that others know', () => {
  it('is found through Sentinels, and its successor after it is killed', async () => {
    await using group = await startSentinelGroup();
    const { sentinels, master } = parse(group.yaml);
    const redis = await connectRedis({ address: { sentinels, master }, credentials }, { probe });
    await redis.set(probe, 'before');
    const first = await group.primary(probe);
    await redis.wait(2, 5_000);
    await first.kill();
    expect(await redis.set(probe, 'after')).toBe('OK');
    expect((await group.primary(probe)).port).not.toBe(first.port);
    expect(await redis.get(probe)).toBe('after');
    await redis.quit();
  });

  it('is found in a cluster, and its successor after it is killed; a node alone is refused', async () => {
    await using group = await startClusterGroup();
    const { cluster } = parse(group.yaml);
    const redis = await connectRedis({ address: { cluster }, credentials }, { probe });
    const first = await group.primary(probe);
    await redis.set(probe, 'before');
    await first.kill();
    expect(await redis.set(probe, 'after')).toBe('OK');
    const next = await group.primary(probe);
    expect(next.port).not.toBe(first.port);
    // Its neighbor knows the primary, but does not have the key.
    const other = group.servers.find((server) => server !== first && server !== next);
    await expect(connectRedis(other?.url ?? '', { probe })).rejects.toMatchObject({
      code: 'redis-is-cluster',
      remedy: expect.stringContaining('redis.cluster'),
    });
    await redis.quit();
  });

  it('that no Sentinel knows ends the start with redis-unreachable, and so does no Sentinel', async () => {
    await using group = await startSentinelGroup();
    const { sentinels } = parse(group.yaml);
    await expect(connectRedis({ address: { sentinels, master: 'other' } }, { within: 400 })).rejects.toMatchObject({
      message: expect.stringContaining('no primary named other'),
      remedy: 'Set redis.master to the name in `sentinel monitor`.',
    });
    const gone = { sentinels: [`127.0.0.1:${await freePort()}`], master: 'orders' };
    await expect(connectRedis({ address: gone }, { within: 400 })).rejects.toMatchObject({
      code: 'redis-unreachable',
      remedy: 'Start Redis or correct redis.sentinels.',
    });
  });
});
