import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectRedis } from '../../src/redis/connect.ts';
import { freePort } from '../support/free-port.ts';
import {
  connectAsAdmin,
  LOGIN_SECRETS,
  startClusterGroup,
  startSentinel,
  startSentinelGroup,
} from '../support/redis-groups.ts';
import { startTestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

const probe = '{posync:test}:probe';
const credentials = LOGIN_SECRETS;
/** Milliseconds. A start that must fail names the reason only where somebody has answered by then. */
const ANSWERS_WITHIN = 20_000;

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
    if (other === undefined) throw new Error('the cluster has no third server');
    await using neighbor = connectAsAdmin(other);
    await until('it knows the successor', async () => {
      const answer = await neighbor.redis.exists(probe).catch(String);
      return String(answer).includes('MOVED') && String(answer).endsWith(`:${next.port}`);
    });
    await expect(connectRedis(other.url, { probe })).rejects.toMatchObject({
      code: 'redis-is-cluster',
      remedy: expect.stringContaining('redis.cluster'),
    });
    await redis.quit();
  });

  it('that no Sentinel knows ends the start with redis-unreachable, and so does no Sentinel', async () => {
    await using group = await startSentinelGroup();
    const { sentinels } = parse(group.yaml);
    await expect(
      connectRedis({ address: { sentinels, master: 'other' } }, { within: ANSWERS_WITHIN }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('no primary named other'),
      remedy: 'Set redis.master to the name in `sentinel monitor`.',
    });
    const gone = { sentinels: [`127.0.0.1:${await freePort()}`], master: 'orders' };
    await expect(connectRedis({ address: gone }, { within: ANSWERS_WITHIN })).rejects.toMatchObject(
      {
        code: 'redis-unreachable',
        remedy: expect.stringContaining('correct redis.sentinels'),
      },
    );
  });
});

describe('of Sentinels that disagree', () => {
  /** Each Sentinel names another server. Answers the number of the server that is found. */
  async function found(
    ...sentinels: { server: number; epoch: number; isGone?: boolean }[]
  ): Promise<number> {
    await using stack = new AsyncDisposableStack();
    const servers = [stack.use(await startTestRedis()), stack.use(await startTestRedis())];
    const nodes: string[] = [];
    for (const { server, epoch, isGone } of sentinels) {
      const settings = { 'sentinel config-epoch orders': epoch };
      const one = stack.use(await startSentinel(servers[server]?.port ?? 0, settings));
      nodes.push(`127.0.0.1:${isGone ? await freePort() : one.shared}`);
    }
    const address = { sentinels: nodes, master: 'orders' };
    const redis = await connectRedis({ address, credentials }, { probe, within: ANSWERS_WITHIN });
    const [, port] = /^tcp_port:(\d+)/m.exec(await redis.info()) ?? [];
    await redis.quit();
    return servers.findIndex((server) => server.port === Number(port));
  }

  it('the one that knows the last failover counts, then the most', async () => {
    const [old, promoted] = [
      { server: 0, epoch: 1 },
      { server: 1, epoch: 2 },
    ];
    expect(await found(old, old, promoted)).toBe(1);
    expect(await found(promoted, promoted, old)).toBe(1);
    const [minority, majority] = [
      { server: 0, epoch: 0 },
      { server: 1, epoch: 0 },
    ];
    expect(await found(minority, majority, majority)).toBe(1);
  });

  it('a minority is not believed: this host may be cut off together with a primary that was replaced', async () => {
    const one = { server: 0, epoch: 1 };
    const gone = { ...one, isGone: true };
    expect(await found(one, gone, one)).toBe(0);
    await expect(found(one, gone, gone)).rejects.toMatchObject({
      code: 'redis-unreachable',
      message: expect.stringContaining('only 1 of 3 Sentinels answers'),
    });
  });
});
