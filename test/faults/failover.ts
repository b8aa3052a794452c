import { appendFile, cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { keysOf } from '../../src/redis/keys.ts';
import {
  type Account,
  accountOf,
  allReported,
  countOf,
  type DroppedFile,
  dropOrders,
} from '../support/account.ts';
import { openAuthority } from '../support/certificates.ts';
import { startDaemon } from '../support/daemon.ts';
import { freePort } from '../support/free-port.ts';
import {
  cutReplication,
  type GroupTls,
  LOGIN_VARIABLES,
  openGroupTls,
  type RedisGroup,
  startClusterGroup,
  startSentinelGroup,
} from '../support/redis-groups.ts';
import { makeTempFolder } from '../support/temp-folder.ts';
import { startTestRedis, type TestRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { openWorkplace } from '../support/workplace.ts';

/** The ways to run Redis that docs/operations/redis.md describes. */
export const WAYS = [
  'one server',
  'one server, TLS',
  'unix socket',
  'managed, without CONFIG',
  'Sentinel',
  'Sentinel, TLS',
  'Cluster',
  'Cluster, TLS',
] as const;
export type Way = (typeof WAYS)[number];

/** `killed`: with kill -9. `writes lost`: as well, and without the last writes that it had confirmed. */
export const LOSSES = ['killed', 'writes lost'] as const;
export type Loss = (typeof LOSSES)[number];

/** Orders whose writes will be lost, instead of a sixth: Sentinels promote no replica that was cut off for ten seconds. */
const LOST_WITH_SENTINEL = 50;

/** Two daemons work on a Redis, as the documented user. */
type Setup = AsyncDisposable & {
  yaml: string;
  env: Record<string, string>;
  /** From now on, confirmed writes will be lost. */
  prepareLoss(key: string): Promise<void>;
  /** The server of the orders ends; somebody takes its place. */
  kill(key: string, loss: Loss): Promise<void>;
};

const PACE =
  'settle: 2s, timeout: 1s, backoff: { initial: 50ms, max: 500ms }, probe: { initial: 100ms, max: 500ms }, concurrency: 8';

export type Failover = Account & { noticed: number; pause: number };

/** A row of the table of the suite. */
export type FailoverRow = { way: Way; loss: Loss } & Pick<
  Failover,
  'orders' | 'lost' | 'double' | 'noticed' | 'pause'
>;

/** The primary ends in the middle of the work. `pause`: seconds until the next order was stored. */
export async function failover(way: Way, loss: Loss, orders: number): Promise<Failover> {
  await using setup = await SETUPS[way]();
  await using place = await openWorkplace({
    redisYaml: setup.yaml,
    env: setup.env,
    pace: PACE,
    faults: { faults: [{ kind: 'delay', by: '10ms..60ms' }] },
  });
  const key = keysOf('staging').prefix;
  await using first = startDaemon(place);
  await using second = startDaemon(place);
  await Promise.all([first.ready(), second.ready()]);
  const stored = () => countOf(place.events, 'stored');
  const dropped: DroppedFile[] = [];
  await dropOrders(place, dropped, orders);
  if (loss === 'writes lost') {
    const lostWork = way.startsWith('Sentinel') ? LOST_WITH_SENTINEL : orders / 6;
    await until('the work that is kept', () => stored() > orders / 2 - lostWork);
    await setup.prepareLoss(key);
  }
  await until('half of the work', () => stored() > orders / 2);
  await setup.kill(key, loss);
  const killed = performance.now();
  const before = stored();
  // Calls that were in flight are stored without Redis.
  await until('delivery continues', () => stored() > before + 20);
  const pause = Math.round((performance.now() - killed) / 100) / 10;
  await allReported(place, dropped);
  const noticed = noticedIn(first.out() + second.out());
  const figures = { ...(await accountOf(place, dropped)), noticed, pause };
  const { lost, double } = figures;
  const row: FailoverRow = { way, loss, orders, lost, double, noticed, pause };
  await appendFile(inject('failoverRows'), `${JSON.stringify(row)}\n`);
  return figures;
}

/** How often some daemon logged that the ledger was rolled back. */
function noticedIn(out: string): number {
  return out.split('"event":"ledger-rolled-back"').length - 1;
}

const SETUPS: Record<Way, () => Promise<Setup>> = {
  'one server': () => openAlone({}, ({ port }) => `redis://127.0.0.1:${port}`),
  'one server, TLS': async () => {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await makeTempFolder());
    const authority = await openAuthority(folder);
    const { cert, key } = await authority.issue('redis', { names: ['127.0.0.1'] });
    const port = await freePort();
    const files = {
      'tls-cert-file': cert,
      'tls-key-file': key,
      'tls-ca-cert-file': authority.caFile,
    };
    const settings = { ...files, 'tls-port': String(port), 'tls-auth-clients': 'no' };
    const alone = stack.use(await openAlone(settings, () => `rediss://127.0.0.1:${port}`));
    const kept = stack.move();
    const yaml = alone.yaml.replace(' }', `, tls: { caFile: '${authority.caFile}' } }`);
    return { ...alone, yaml, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  },
  'unix socket': async () => {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await makeTempFolder());
    const socket = path.join(folder, 'redis.sock');
    const alone = stack.use(await openAlone({ unixsocket: socket }, () => `unix://${socket}`));
    const kept = stack.move();
    return { ...alone, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  },
  'managed, without CONFIG': () =>
    openAlone({ 'rename-command': ['CONFIG', ''] }, ({ port }) => `redis://127.0.0.1:${port}`),
  Sentinel: () => openGroup(startSentinelGroup),
  'Sentinel, TLS': () => openTlsGroup(startSentinelGroup),
  Cluster: () => openGroup(startClusterGroup),
  'Cluster, TLS': () => openTlsGroup(startClusterGroup),
};

/** One server, which starts again after a second; where writes are lost, with older files. */
async function openAlone(
  settings: Record<string, string | string[]>,
  addressOf: (redis: TestRedis) => string,
): Promise<Setup> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await startTestRedis({ settings }));
  const copy = `${redis.folder}-copy`;
  stack.defer(() => rm(copy, { recursive: true, force: true }));
  const kept = stack.move();
  return {
    yaml: `{ url: '${addressOf(redis)}' }`,
    env: LOGIN_VARIABLES,
    prepareLoss: () => cp(redis.folder, copy, { recursive: true }),
    async kill(_, loss) {
      await redis.kill();
      await delay(1_000);
      if (loss === 'writes lost') {
        await rm(redis.folder, { recursive: true });
        await cp(copy, redis.folder, { recursive: true });
      }
      await redis.restart();
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** All servers talk TLS to each other and to the daemons, and require a certificate from everybody. */
async function openTlsGroup(start: (tls: GroupTls) => Promise<RedisGroup>): Promise<Setup> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const tls = await openGroupTls(folder);
  const group = stack.use(await openGroup(() => start(tls)));
  const kept = stack.move();
  return { ...group, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function openGroup(start: () => Promise<RedisGroup>): Promise<Setup> {
  const group = await start();
  return {
    yaml: group.yaml,
    env: LOGIN_VARIABLES,
    prepareLoss: async (key) => cutReplication(await group.primary(key)),
    kill: async (key) => (await group.primary(key)).kill(),
    [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
  };
}
